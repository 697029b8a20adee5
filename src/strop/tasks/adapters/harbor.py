"""Harbor task folders, the format of Terminal-Bench 2: a folder a task, for an agent in a container.

Layout (harborframework.com/docs/tasks): `task.toml`, `instruction.md`, `environment/` with a Dockerfile, `tests/` with
`test.sh`, which is copied into the container afterwards, and `solution/` with `solve.sh`; tasks of several steps have
`steps/NAME/` with an instruction and tests each. The folder's name is the task's id. A row is such a folder: `name` and
`files`, {path: {"text" or "base64", "executable"}}, see `harbor_folder`.

1. Every file comes along, binary ones as base64, so that writing gives the folder back byte for byte with its
   executable bits and empty folders. Other bits, owners and times are not kept.
2. `reference` is `solution/solve.sh`, `check.files` what is below `tests/`, `check.image` the `docker_image` of
   task.toml, else the text of the Dockerfile. Tasks are carried, not played: their verdict is *error*.
"""

import json
from collections.abc import Iterator
from typing import Any

from strop.core.checks import WorkspaceCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import Adapter, harbor_folder
from strop.tasks.adapters.fields import has, mapping, refuse_unreadable, text
from strop.tasks.adapters.harbor_export import TASK, task_folder
from strop.tasks.adapters.harbor_folder import INSTRUCTION, SETTINGS
from strop.tasks.bounded import check_value, parse_toml
from strop.tasks.rows import Row

_SOLUTION, _TEST, _DOCKER = "solution/solve.sh", "tests/test.sh", "environment/Dockerfile"
_VERSION = 'version = "1.0"\n'
_LEVELS = {"easy": 1, "medium": 2, "hard": 3}


def _read(row: Row, where: str) -> Iterator[Task]:
    refuse_unreadable(row, where)
    name, files = text(row, "name", where), harbor_folder.files_of(row, where)
    if TASK in files:
        yield Task.model_validate_json(_text(files, TASK))
        return
    settings = parse_toml(_text(files, SETTINGS), f"{where}: {SETTINGS}")
    statement = _statement(files)
    if not statement:
        raise UserError(
            f"{where}: no {INSTRUCTION}: a task folder of Harbor has one, or one in each of its steps"
        )
    tests = {path: _text(files, path) for path in sorted(files) if _is_test(path) and "text" in files[path]}
    about, place = settings.get("metadata", {}), settings.get("environment", {})
    image = place.get("docker_image") if isinstance(place, dict) else None
    level = about.get("difficulty") if isinstance(about, dict) else None
    category = about.get("category") if isinstance(about, dict) else None
    yield Task(
        id=name,
        family="terminal",
        language="bash",
        statement=statement,
        reference=_text(files, _SOLUTION),
        check=WorkspaceCheck(
            image=image if isinstance(image, str) else _text(files, _DOCKER),
            files=tests,
            argv=["bash", f"/{_TEST}"],
        ),
        topic=category if isinstance(category, str) else "",
        level=_LEVELS.get(level, 0) if isinstance(level, str) else 0,
        source=name,
        metadata={"original": _kept(row, files, {*tests, _SOLUTION})},
    )


def _kept(row: Row, files: dict[str, dict[str, Any]], held: set[str]) -> dict[str, Any]:
    """The row with the texts left out that the task holds itself."""
    if list(filter(_is_instruction, files)) == [INSTRUCTION]:
        held = {*held, INSTRUCTION}
    slim = {
        path: {key: value for key, value in file.items() if key != "text" or path not in held}
        for path, file in files.items()
    }
    return {**{key: value for key, value in row.items() if key != "name"}, "files": slim}


def _statement(files: dict[str, dict[str, Any]]) -> str:
    if INSTRUCTION in files:
        return _text(files, INSTRUCTION)
    return "\n\n".join(_text(files, path) for path in sorted(files) if _is_instruction(path))


def _is_instruction(path: str) -> bool:
    return path == INSTRUCTION or (path.startswith("steps/") and path.endswith(f"/{INSTRUCTION}"))


def _is_test(path: str) -> bool:
    return path.startswith("tests/") or (path.startswith("steps/") and path.split("/")[2:3] == ["tests"])


def _text(files: dict[str, dict[str, Any]], path: str) -> str:
    return str(files.get(path, {}).get("text", ""))


def _write(task: Task) -> dict[str, Any]:
    check = task.check.maybe(WorkspaceCheck)
    kept: Any = task.metadata.get("original", {})
    if task.family != "terminal" or check is None or not isinstance(kept, dict):
        return task_folder(task)
    texts = {_SOLUTION: task.reference, **check.files}
    files = {path: dict(file) for path, file in mapping(kept, "files", task.id, {}).items()}
    if INSTRUCTION in files or not files:
        texts[INSTRUCTION] = task.statement
    for path, content in texts.items():
        known = files.get(path)
        if known is None and content:
            files[path] = {"text": content, **({"executable": True} if path.endswith(".sh") else {})}
        elif known is not None and "base64" not in known:
            known["text"] = content
    if not kept:
        files |= _new_files(check.image)
    row = {**kept, "name": task.id, "files": files}
    check_value(row, f"task {task.id!r}")
    return row


def _new_files(image: str) -> dict[str, dict[str, Any]]:
    """Settings, and an environment, of a task that was no task folder before."""
    if "\n" in image:
        return {SETTINGS: {"text": _VERSION}, _DOCKER: {"text": image}}
    place = f"\n[environment]\ndocker_image = {json.dumps(image)}\n" if image else ""
    return {SETTINGS: {"text": _VERSION + place}}


HARBOR = Adapter(
    name="harbor",
    about="Harbor task folders (Terminal-Bench 2), as records",
    read=_read,
    fits=lambda row: (
        has(row, name=str, files=dict) and (SETTINGS in row["files"] or INSTRUCTION in row["files"])
    ),
    write=_write,
    as_json=("files",),
    folder=harbor_folder.read_folder,
    write_folder=lambda tasks, path: harbor_folder.write_folder(map(_write, tasks), path),
)
