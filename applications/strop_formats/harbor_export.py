"""Strop's own tasks as Harbor task folders: asked for in `instruction.md`, judged by Strop's verifier.

The answer is one file below /app. The tests run in a box of their own (`environment_mode = "separate"`), into which
that file alone is carried, without a network; there `tests/judge.py` asks the verifier, whose jail works inside a
container and inside Strop's jail alike. Where the grader fails it writes no reward, which Harbor reports as an error,
never as a zero. `tests/strop-task.json` is the task itself, so that reading the folder gives it back whole.
"""

import json
import re
from typing import Any

from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.prompts import render, solution

TASK = "tests/strop-task.json"
_ENDINGS = {
    "python": "py", "rust": "rs", "javascript": "js", "typescript": "ts", "bash": "sh", "ruby": "rb", "csharp": "cs",
    "kotlin": "kt", "perl": "pl", "haskell": "hs", "julia": "jl",
}  # fmt: skip
_IMAGES = {"python": "python:3-slim-bookworm", "rust": "rust:1-slim-bookworm"}
_PACKAGES = {
    "rust": "python3 python3-pip", "c": "python3 python3-pip gcc", "cpp": "python3 python3-pip g++",
    "javascript": "python3 python3-pip nodejs", "java": "python3 python3-pip default-jdk-headless",
}  # fmt: skip
_LEVELS = ("easy", "easy", "easy", "medium", "hard", "hard")
_JUDGE = '''\
"""Writes the reward of the answer, by Strop's verifier; none where the grader failed, which is an error and no zero."""

import json
import os
import sys
from pathlib import Path

sys.path[:0] = filter(None, [os.environ.get("STROP_SOURCE")])
import strop  # noqa: E402
from strop.tasks.answers import answer_in  # noqa: E402

MOST = 4 << 20
answer = Path({answer!r})
text = ""
if answer.is_file() and answer.stat().st_size <= MOST:
    text = answer.read_bytes().decode(errors="surrogateescape")
task = strop.Task.model_validate_json(Path(__file__).with_name("strop-task.json").read_text())
with strop.open_verifier(workers=1) as verifier:
    verdict = verifier.submit(task, answer_in(text, task)).result()
print(verdict.outcome.value, verdict.detail)
if not verdict.scored:
    sys.exit("the answer could not be judged, so there is no reward")
Path("/logs/verifier/reward.json").write_text(json.dumps({{"reward": float(verdict.passed)}}))
'''
_TEST = """\
#!/bin/bash
# -I: what lies in the work directory or in HOME is not imported.
exec "${STROP_PYTHON:-python3}" -I /tests/judge.py
"""


def task_folder(task: Task) -> dict[str, Any]:
    """The row of a folder (`strop_formats.harbor_folder`). Raises UserError for a task that no file answers."""
    check = task.check.effective()
    no_file = check.rewards_alone or check.kind == "terminal" or not check.toolchains
    if no_file or {"patch", "calls"} & {task.check.answer, check.answer}:
        raise UserError(
            f"task {task.id!r}: an answer to a check of kind {check.kind} is no single file: left out"
        )
    prompt = render(task, "chat")
    asked = "\n\n".join(message.content for message in prompt.messages) or prompt.text
    text = task.check.answer in ("edit", "label", "places")
    ending = "txt" if text else _ENDINGS.get(task.language, task.language)
    place = f"/app/{'answer' if text else 'solution'}.{ending}"
    bare = "" if text else ", with or without the fence"
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", task.id).strip("-._") or "task"
    files = {
        "instruction.md": f"{asked.rstrip()}\n\nWrite your answer to the file `{place}`{bare}."
        " Nothing else is looked at.\n",
        "task.toml": _settings(task, name, place),
        "environment/Dockerfile": _dockerfile(task.language),
        "tests/test.sh": _TEST,
        "tests/judge.py": _JUDGE.format(answer=place),
        TASK: task.model_dump_json(),
    }
    if task.reference.strip():
        files["solution/answer"] = solution(task, prompt) if text else task.reference
        files["solution/solve.sh"] = f'#!/bin/bash\ncp "$(dirname "$0")/answer" {place}\n'
    return {
        "name": name,
        "files": {
            path: {"text": text, **({"executable": True} if path.endswith(".sh") else {})}
            for path, text in files.items()
        },
    }


def _settings(task: Task, name: str, place: str) -> str:
    quoted = json.dumps
    return f"""\
schema_version = "1.4"
artifacts = [{quoted(place)}]

[task]
name = {quoted(f"strop/{name}")}
keywords = {quoted(["strop", task.language, task.family])}

[metadata]
difficulty = {quoted(_LEVELS[task.level])}
category = {quoted(task.topic or task.family)}
source = {quoted(task.source)}

[agent]
timeout_sec = 900.0

[verifier]
timeout_sec = 600.0
environment_mode = "separate"

[environment]
network_mode = "no-network"
workdir = "/app"
memory_mb = 2048
storage_mb = 1024
"""


def _dockerfile(language: str) -> str:
    packages = _PACKAGES.get(language, "" if language == "python" else "python3 python3-pip")
    install = (
        f"RUN apt-get update && apt-get install -y --no-install-recommends {packages}\n" if packages else ""
    )
    flags = "--no-cache-dir" + (" --break-system-packages" if packages else "")
    return (
        f"FROM {_IMAGES.get(language, 'debian:bookworm-slim')}\n{install}"
        f'RUN pip install {flags} "strop[suites]"\nWORKDIR /app\n'
    )
