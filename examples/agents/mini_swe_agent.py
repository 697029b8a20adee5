"""Runs mini-swe-agent (pip install mini-swe-agent) unmodified in the trainer's process: agent, model class and prompt
variables are the package's; its commands run in the play's jail. It is imported once instead of once per play.

strop train agent-0.5b examples/agents/mini_swe_agent.yaml
"""

import os
from typing import Any

os.environ |= {"MSWEA_SILENT_STARTUP": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # nothing is fetched
os.environ["MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT"] = "1"

import litellm
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

litellm.suppress_debug_info = True
SYSTEM = "You mend code in a repository with shell commands, one in each answer."
INSTANCE = (
    "{{task}}\n\nThe repository is the current folder. To end: echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
)


class PlayFolder(LocalEnvironment):
    """mini-swe-agent's local environment in a play's folder."""

    def __init__(self, folder: Any) -> None:
        super().__init__()
        self._folder = folder

    def execute(self, action: dict, cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        """See `LocalEnvironment.execute`."""
        ran = self._folder.run(["sh", "-c", f"exec 2>&1\n{action.get('command', '')}"])
        output = {"output": ran.output + ran.errors, "returncode": ran.status, "exception_info": ran.expired}
        self._check_finished(output)
        return output


def play(base_url: str, task: Any, workspace: Any) -> None:
    """Plays a task with mini-swe-agent."""
    model = LitellmModel(
        model_name="openai/policy",
        model_kwargs={"api_base": base_url, "api_key": "none"},
        cost_tracking="ignore_errors",
    )
    agent = DefaultAgent(model, PlayFolder(workspace), system_template=SYSTEM, instance_template=INSTANCE)
    agent.run(task.statement)
