"""An agent in twenty lines: asks for the solution, saves it, runs it, and tells the model what went wrong.

strop train demo "tasks.environment={type: harness, command: 'python examples/agents/openai_agent.py {task}'}"
"""

import pathlib
import re
import subprocess
import sys

from openai import OpenAI

client = OpenAI()  # the address of the play's own endpoint is in the environment
file = pathlib.Path("solution.py")
asked = f"{sys.argv[1]}\n\nsolution.py:\n{file.read_text()}\nAnswer with the whole file in one fenced block."
messages = [{"role": "user", "content": asked}]
for _ in range(3):
    said = client.chat.completions.create(model="policy", messages=messages).choices[0].message.content
    if code := re.search(r"```(?:python)?\n(.*?)```", said or "", re.DOTALL):
        file.write_text(code[1])
    ran = subprocess.run([sys.executable, "solution.py"], capture_output=True, text=True, timeout=20)
    if code and ran.returncode == 0:
        break
    fault = ran.stderr[-500:] if code else "There is no fenced block in your answer."
    messages += [{"role": "assistant", "content": said}, {"role": "user", "content": fault}]
