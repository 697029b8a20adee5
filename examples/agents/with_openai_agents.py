"""An agent of the OpenAI Agents SDK (pip install openai-agents) with a shell; it uses the Responses API.

strop harness check "VENV/bin/python examples/agents/with_openai_agents.py {task}"
"""

import os
import subprocess
import sys

from agents import Agent, Runner, function_tool, set_tracing_disabled


@function_tool
def shell(command: str) -> str:
    """Runs a command in the task's folder."""
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    return (ran.stdout + ran.stderr)[-4000:] or f"status {ran.returncode}"


set_tracing_disabled(True)  # otherwise it sends traces to OpenAI
agent = Agent(
    name="mender",
    instructions="You mend and write code in the folder that you are in, by the tool shell.",
    tools=[shell],
    model=os.environ["STROP_MODEL"],
)
print(Runner.run_sync(agent, sys.argv[1], max_turns=20).final_output)
