"""An agent of Pydantic AI (pip install "pydantic-ai-slim[openai]") with a shell; openai-chat: uses chat completions.

strop harness check "VENV/bin/python examples/agents/with_pydantic_ai.py {task}"
"""

import os
import subprocess
import sys

from pydantic_ai import Agent

agent = Agent(
    f"openai-chat:{os.environ['STROP_MODEL']}",
    instructions="You mend and write code in the folder that you are in, by the tool shell.",
)


@agent.tool_plain
def shell(command: str) -> str:
    """Runs a command in the task's folder."""
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    return (ran.stdout + ran.stderr)[-4000:] or f"status {ran.returncode}"


print(agent.run_sync(sys.argv[1]).output)
