"""An agent of the OpenHands SDK (pip install openhands-sdk openhands-tools; Python 3.12 or later) with its file editor.

Its terminal tool needs a pseudo terminal, which the jail lacks.

strop harness check "VENV/bin/python examples/agents/with_openhands.py {task}"
"""

import os
import sys

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.tools.file_editor import FileEditorTool

asked = f"{sys.argv[1]} Files are in {os.getcwd()}."
llm = LLM(model=f"openai/{os.environ['STROP_MODEL']}", base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
agent = Agent(llm=llm, tools=[Tool(name=FileEditorTool.name)])
conversation = Conversation(agent=agent, workspace=os.getcwd())
conversation.send_message(asked)
conversation.run()
