"""Inspect's agent react (pip install inspect-ai openai) with its own shell tool.

strop harness check "VENV/bin/python examples/agents/with_inspect.py {task}"
"""

import os
import subprocess
import sys

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.tool import tool


@tool
def shell():
    """Returns the shell tool."""

    async def execute(command: str) -> str:
        """Runs a command in the task's folder.

        Args:
            command: the command, for sh
        """
        ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
        return (ran.stdout + ran.stderr)[-4000:] or f"status {ran.returncode}"

    return execute


os.environ |= {"STROP_BASE_URL": os.environ["OPENAI_BASE_URL"], "STROP_API_KEY": "none"}
task = Task(dataset=[Sample(input=sys.argv[1])], solver=react(tools=[shell()]), message_limit=60)
(log,) = eval(task, model="openai-api/strop/policy", log_dir=".logs", display="plain")
print(log.status)
