"""`strop harness check`: what works of an agent, and what is missing by its name."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from tests.warm import strop

pytestmark = pytest.mark.jail
ASK = """
import json, os, sys, urllib.error, urllib.request
BASE = os.environ["OPENAI_BASE_URL"]
messages = [{"role": "user", "content": sys.argv[1]}]
def ask(path="/chat/completions", **more):
    data = json.dumps({"messages": messages, **more}).encode()
    try:
        return json.load(urllib.request.urlopen(BASE + path, data))["choices"][0]["message"]
    except urllib.error.HTTPError as error:
        sys.exit(f"refused: {error}")
"""
SHELL = """
tool = {"name": "NAME", "parameters": {"type": "object", "properties": {PROPERTIES}, "required": [REQUIRED]}}
for _ in range(5):
    said = ask(tools=[{"type": "function", "function": tool}])
    messages.append(said)
    if not said.get("tool_calls"):
        break
    for call in said["tool_calls"]:
        given = json.loads(call["function"]["arguments"])
        CARRY
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
"""


def checked(folder: Path, code: str, *more: str, command: str = "python agent.py {task}") -> tuple[int, str]:
    """(exit code, what it says) of a script."""
    (folder / "agent.py").write_text(code)
    done = strop("harness", "check", command, *more, cwd=folder)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def agent(name: str, properties: str, carry: str) -> str:
    required = ", ".join(re.findall(r'("\w+"): \{"type"', properties))
    changes = {"NAME": name, "PROPERTIES": properties, "REQUIRED": required, "CARRY": carry}
    code = SHELL
    for word, text in changes.items():
        code = code.replace(word, text)
    return ASK + code


AGENTS = {
    "a shell": agent(
        "bash",
        '"command": {"type": "string"}',
        'import subprocess; subprocess.run(given["command"], shell=True)',
    ),
    "a list of words": agent(
        "shell",
        '"command": {"type": "array", "items": {"type": "string"}}',
        'import subprocess; subprocess.run(given["command"])',
    ),
    "an editor": agent(
        "str_replace_editor",
        '"command": {"type": "string", "enum": ["view", "create"]}, "path": {"type": "string"}, '
        '"file_text": {"type": "string"}',
        'assert given["command"] == "create"; open(given["path"], "w").write(given["file_text"])',
    ),
    "an editor of texts": agent(
        "edit",
        '"command": {"type": "string", "enum": ["create", "str_replace"]}, "path": {"type": "string"}, '
        '"old_str": {"type": "string"}, "new_str": {"type": "string"}',
        'assert given["command"] == "str_replace"; text = open(given["path"]).read(); '
        'open(given["path"], "w").write(text.replace(given["old_str"], given["new_str"]))',
    ),
    "Python": agent("python", '"code": {"type": "string"}', 'exec(given["code"])'),
    "a fence": ASK
    + 'messages[0]["content"] += "\\nWrite commands as\\n```mine_bash\\nls\\n```"\n'
    + 'import re, subprocess\ncommand = re.search(r"```mine_bash\\n(.*?)```", ask()["content"], re.S)[1]\n'
    + "subprocess.run(command, shell=True)",
    "the whole file": ASK
    + 'import re\nopen("solution.py", "w").write(re.search(r"```python\\n(.*?)```", ask()["content"], re.S)[1])',
}


@pytest.mark.parametrize("kind", AGENTS)
def test_agents_of_many_kinds_work(kind: str, tmp_path: Path) -> None:
    code, said = checked(tmp_path, AGENTS[kind])
    assert code == 0 and "ok       files: as in the policy's answer" in said and "missing" not in said, said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit('set ACME_API_KEY first')", "variables={ACME_API_KEY: none}"),
        ("raise SystemExit('No API key found')", "no API key was read"),
        (
            "import urllib.request as u\nu.urlopen('http://127.0.0.1:11434/v1/models')",
            "it connects to another endpoint",
        ),
        ("raise OSError('cannot reach https://api.example.com/v1')", "it connects to https://api.example.com/v1"),
        ("import no_such_package", "package no_such_package is not in the jail"),
        ("open('/opt/settings.toml')", "/opt/settings.toml is not in the jail"),
        ("print('bye')", "none came, and it ended"),
        (ASK + "BASE = BASE.removesuffix('/v1')\nask()", "there is nothing here; its base URL must end in /v1"),
        (ASK + "ask(response_format={'type': 'json_object'})", "response_format"),
        (ASK + "ask()", "nothing was changed in the folder"),
        (agent("bash", '"command": {"type": "string"}', "pass"), "nothing was changed in the folder"),
        (
            ASK + "tools=[{'type': 'function', 'function': {'name': 'f', 'parameters': {}}}]\n"
            "ask(tools=tools)\nmessages.append({'role': 'user', 'content': 'what?'})\nask(tools=tools)",
            "results of calls returned: 0",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_missing_is_said(code: str, said: str, tmp_path: Path) -> None:
    status, shown = checked(tmp_path, code)
    assert status == 1 and any(line.startswith("missing") for line in shown.splitlines()), shown
    assert said in shown, shown


def test_one_that_never_asks_is_told_of_when_its_set_up_ends(tmp_path: Path) -> None:
    code = "import time\nprint('waiting for you', flush=True)\ntime.sleep(600)"
    status, shown = checked(tmp_path, code, "play.setup_seconds=3")
    assert status == 1 and "none came in 3 s" in shown and "waiting for you" in shown, shown


def test_a_program_that_is_not_there_and_one_whose_interpreter_is_not_in_the_jail(tmp_path: Path) -> None:
    status, shown = checked(tmp_path, "", command="no-such-agent {task}")
    assert status == 1 and "there is no program 'no-such-agent'" in shown
    (tmp_path / "bin").mkdir()
    python, program = tmp_path / "bin" / "python-of-mine", tmp_path / "agent"
    shutil.copy(Path(sys.executable).resolve(), python)
    program.write_text(f"#!{python}\nprint(1)\n")
    program.chmod(0o755)
    status, shown = checked(tmp_path, "", command=f"{program} {{task}}")
    assert status == 1 and f"is its interpreter {python} in tasks.environment.reads?" in shown, shown


def test_a_program_of_a_virtual_environment_brings_its_python(tmp_path: Path) -> None:
    import venv

    venv.create(tmp_path / "own", with_pip=False, symlinks=True)
    site = next((tmp_path / "own" / "lib").glob("python*/site-packages"))
    (site / "of_mine.py").write_text(AGENTS["a shell"])
    program = tmp_path / "own" / "bin" / "agent"
    program.write_text(f"#!{tmp_path}/own/bin/python\nimport of_mine\n")
    program.chmod(0o755)
    status, shown = checked(tmp_path, "", command=f"{program} {{task}}")
    assert status == 0, shown


def test_a_recipe_is_checked_and_others_are_refused(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENTS["a shell"])
    (tmp_path / "r.yaml").write_text(
        "tasks:\n  environment: {type: harness, command: 'python agent.py {task}'}\n"
    )
    done = strop("harness", "check", "r.yaml", "tasks.environment.turns=1", cwd=tmp_path)
    assert done.returncode == 0 and "kept asking after its last turn" in done.stdout, (
        done.stdout + done.stderr
    )
    (tmp_path / "r.yaml").write_text("tasks: {environment: workspace}\n")
    done = strop("harness", "check", "r.yaml", cwd=tmp_path)
    assert done.returncode == 2 and "only the environment harness has agents" in done.stderr
