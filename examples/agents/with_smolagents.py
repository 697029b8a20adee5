"""An agent of smolagents (pip install "smolagents[openai]") with a shell: each of its turns must be a tool call.

strop harness check "VENV/bin/python examples/agents/with_smolagents.py {task}"
"""

import os
import subprocess
import sys

from smolagents import OpenAIModel, ToolCallingAgent, tool


@tool
def shell(command: str) -> str:
    """Runs a command in the task's folder.

    Args:
        command: the command, for sh
    """
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    return (ran.stdout + ran.stderr)[-4000:] or f"status {ran.returncode}"


model = OpenAIModel(os.environ["STROP_MODEL"], api_base=os.environ["OPENAI_BASE_URL"], api_key="none")
print(ToolCallingAgent(tools=[shell], model=model, max_steps=20).run(sys.argv[1]))
