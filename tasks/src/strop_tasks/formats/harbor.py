"""Harbor task folders, the format of Terminal-Bench 2: one folder per task, for an agent in a container.

Layout (harborframework.com/docs/tasks): `task.toml`, `instruction.md`, `environment/` with a Dockerfile, `tests/` with
`test.sh`, which is copied into the container afterwards, and `solution/` with `solve.sh`. The folder's name is the
task's id. A row is such a folder: `name` and `files`, {path: {"text" or "base64", "executable"}}, see `harbor_folder`.

1. `reference` is `solution/solve.sh`, preceded by lines that write the files beside it; the check holds the files below
   `tests/` and `environment/`, binary ones in base64. Tasks that a jail cannot run are left out: those with several
   steps, other services or a GPU.
2. A task that Strop exported is read back unchanged.

Tasks of other formats are written as such folders: `instruction.md` holds the prompt, and Strop's verifier judges the
answer. The answer is one file below /app. The tests run in a separate container without a network (`environment_mode =
"separate"`), into which only that file is copied. There `tests/judge.py` calls the verifier, whose jail works inside a
container and inside Strop's jail. If the grader fails, it writes no reward, which Harbor reports as an error, never as
0. `tests/strop-task.json` is the task itself, so reading the folder restores it.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import PurePosixPath
from shlex import quote
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.prompts import render, solution
from strop.tasks.row_limits import parse_json, parse_toml
from strop.tasks.rows import Row, own_task
from strop_tasks.formats import harbor_folder
from strop_tasks.formats.fields import has, refuse_unreadable, text
from strop_tasks.formats.harbor_folder import INSTRUCTION, SETTINGS
from strop_verify.core.checks import TerminalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

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
_WORDS = ("easy", "easy", "easy", "medium", "hard", "hard")
_JUDGE = '''\
"""Writes the answer's reward by Strop's verifier; none if the grader failed, which is an error, not a zero."""

import json
import os
import sys
from pathlib import Path

sys.path[:0] = filter(None, os.environ.get("STROP_SOURCE", "").split(os.pathsep))
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
# -I: files in the work directory or HOME are not imported.
exec "${STROP_PYTHON:-python3}" -I /tests/judge.py
"""


def task_folder(task: Task) -> dict[str, Any]:
    """The row of a folder (`strop_tasks.formats.harbor_folder`). Raises UserError for a task that a single file
    cannot answer."""
    check = task.check.effective()
    no_file = check.rewards_alone or check.kind == "terminal" or not check.toolchains
    if no_file or {"patch", "calls"} & {task.check.answer, check.answer}:
        raise UserError(
            f"task {task.id!r}: an answer to a check of kind {check.kind} is not a single file: left out"
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
        " Nothing else is read.\n",
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
difficulty = {quoted(_WORDS[task.level])}
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


_SOLVE, _TEST_SH = "solution/solve.sh", "tests/test.sh"
_ARTIFACTS = "/logs/artifacts"
_LEVELS = {"easy": 1, "medium": 2, "hard": 3}


def _read(row: Row, where: str) -> Iterator[Task]:
    refuse_unreadable(row, where)
    name, files = text(row, "name", where), harbor_folder.files_of(row, where)
    if TASK in files:
        line = parse_json(_text(files, TASK), f"{where}: {TASK}")
        yield own_task(line if isinstance(line, dict) else {}, f"{where}: {TASK}")
        return
    settings = parse_toml(_text(files, SETTINGS), f"{where}: {SETTINGS}")
    if why := _unplayable(files, settings):
        raise UserError(f"{where}: it needs {why}, which jails do not have: left out")
    statement = _text(files, INSTRUCTION)
    for path, there in ((INSTRUCTION, statement), (_TEST_SH, _TEST_SH in files)):
        if not there:
            raise UserError(f"{where}: no {path}: a task folder of Harbor has one")
    about = _table(settings, "metadata")
    level, category = about.get("difficulty"), about.get("category")
    yield Task(
        id=name,
        family="terminal",
        language="bash",
        statement=statement,
        reference=_reference(files),
        check=_check(files, settings),
        topic=category if isinstance(category, str) else "",
        level=_LEVELS.get(level, 0) if isinstance(level, str) else 0,
        source=name,
    )


def _reference(files: dict[str, dict[str, Any]]) -> str:
    """The solution as an answer, which is one script: first come lines that write its other files to /solution."""
    solve = _text(files, _SOLVE)
    lines = []
    for path, file in files.items():
        if path.startswith("solution/") and path != _SOLVE and solve:
            data = (
                str(file["base64"]) if "text" not in file else b64encode(str(file["text"]).encode()).decode()
            )
            place, folder = quote(f"/{path}"), quote(str(PurePosixPath("/", path).parent))
            lines.append(f"mkdir -p {folder} && base64 -d > {place} <<'END'\n{data}\nEND\n")
            lines += [f"chmod +x {place}\n"] if file.get("executable") else []
    return "".join([*lines, solve])


def _check(files: dict[str, dict[str, Any]], settings: dict[str, Any]) -> TerminalCheck:
    place, verifier, agent = (_table(settings, name) for name in ("environment", "verifier", "agent"))
    held = {path: file for path, file in files.items() if path.startswith(("tests/", "environment/"))}
    separate = verifier.get("environment_mode") == "separate" or "environment" in verifier
    listed = settings.get("artifacts") if isinstance(settings.get("artifacts"), list) else []
    named = [one.get("source", "") if isinstance(one, dict) else one for one in listed or ()]
    carried = [path for path in named if path and isinstance(path, str)]
    image, workdir = place.get("docker_image"), place.get("workdir")
    return TerminalCheck(
        image=image if isinstance(image, str) else "",
        workdir=workdir if isinstance(workdir, str) else "",
        environment=_variables(place),
        test_environment=_variables(verifier),
        files={path: str(file["text"]) for path, file in held.items() if "text" in file},
        binary={path: str(file["base64"]) for path, file in held.items() if "text" not in file},
        programs=[path for path, file in held.items() if file.get("executable")],
        artifacts=[*carried, _ARTIFACTS] if separate else [],
        seconds=_seconds(agent, 900.0),
        test_seconds=_seconds(verifier, 600.0),
    )


def _unplayable(files: dict[str, dict[str, Any]], settings: dict[str, Any]) -> str:
    """The feature that a jail cannot provide, or ""."""
    place, verifier = _table(settings, "environment"), _table(settings, "verifier")
    system = place.get("os", "linux")
    variables = [*_variables(place).values(), *_variables(verifier).values()]
    own_image = _table(verifier, "environment").get("docker_image")
    needs = {
        "several steps": settings.get("steps") or any(path.startswith("steps/") for path in files),
        "docker-compose.yaml": any(path.endswith("docker-compose.yaml") for path in files),
        "a GPU or TPU": place.get("gpus") or place.get("tpu"),
        "services beside the task": place.get("mcp_servers") or place.get("healthcheck"),
        f"the system {system!r:.20}": system != "linux",
        "a network": place.get("network_mode") == "allowlist",
        "an image of its own for the tests": "tests/Dockerfile" in files or own_image,
        "commands that collect artifacts": verifier.get("collect"),
        "a variable of the host": any("${" in value for value in variables),
    }
    return next((what for what, needed in needs.items() if needed), "")


def _table(settings: dict[str, Any], name: str) -> dict[str, Any]:
    found = settings.get(name, {})
    return found if isinstance(found, dict) else {}


def _variables(table: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in _table(table, "env").items()}


def _seconds(table: dict[str, Any], usual: float) -> float:
    given = table.get("timeout_sec")
    return float(given) if isinstance(given, int | float) and given > 0 else usual


def _text(files: dict[str, dict[str, Any]], path: str) -> str:
    return str(files.get(path, {}).get("text", ""))


HARBOR = Adapter(
    name="harbor",
    about="Harbor task folders (Terminal-Bench 2), as records",
    read=_read,
    fits=lambda row: (
        has(row, name=str, files=dict) and (SETTINGS in row["files"] or INSTRUCTION in row["files"])
    ),
    write=task_folder,
    as_json=("files",),
    folder=harbor_folder.read_folder,
    write_folder=harbor_folder.write_folder,
)
