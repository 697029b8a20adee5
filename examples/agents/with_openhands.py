"""An agent of the OpenHands SDK (pip install openhands-sdk openhands-tools; Python 3.12 or later) with its terminal.

strop harness check "VENV/bin/python examples/agents/with_openhands.py {task}"
"""

import os
import sys

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.tools.terminal import TerminalTool

llm = LLM(model=f"openai/{os.environ['STROP_MODEL']}", base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
conversation = Conversation(agent=Agent(llm=llm, tools=[Tool(name=TerminalTool.name)]), workspace=os.getcwd())
conversation.send_message(sys.argv[1])
conversation.run()
