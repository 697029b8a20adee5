"""Harbor task folders: what a task has of them, our own come back whole, and the rest is refused by name."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from strop.tasks.formats import write_format
from strop.tasks.sources import iter_tasks, load_tasks
from strop_tasks.formats import harbor_folder
from strop_tasks.formats.harbor import HARBOR as ADAPTER
from strop_verify.core.checks import TerminalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

SETTINGS = '[metadata]\ndifficulty = "hard"\ncategory = "games"\n[environment]\ndocker_image = "a/b:1"\n'


def make(folder: Path, files: dict[str, bytes | str], executable: tuple[str, ...] = ()) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(0o755 if name in executable else 0o644)
    return folder


def example(root: Path) -> Path:
    files: dict[str, bytes | str] = {
        "task.toml": SETTINGS,
        "instruction.md": "\ufeffPlay.\r\nWell.",
        "environment/Dockerfile": "FROM debian:12\n",
        "environment/board.png": b"\x89PNG\r\n\x1a\n\0\xff",
        "environment/empty": b"",
        "solution/solve.sh": "#!/bin/bash\necho e4\n",
        "tests/test.sh": "#!/bin/bash\nexit 1\n",
        "tests/test_outputs.py": "def test_a(): ...\n",
        "tests/data.bin": b"\0\1\xfe",
        ".hidden/ü.txt": "x",
    }
    make(root / "set" / "chess", files, ("solution/solve.sh", "tests/data.bin"))
    (root / "set" / "chess" / "environment" / "nothing" / "here").mkdir(parents=True)
    make(root / "set" / "deeper" / "go", {
        "task.toml": "", "instruction.md": "Go.", "tests/test.sh": "exit 0\n", "steps.md": "x",
    })  # fmt: skip
    return root / "set"


def read(path: Path) -> list[Task]:
    return [Task.model_validate_json(t.model_dump_json()) for t in iter_tasks(f"harbor:{path}")]


def write(tasks: list[Task], place: Path) -> None:
    write_format(ADAPTER, tasks, place)


def test_tasks_of_ours_come_back_whole(tmp_path: Path) -> None:
    tasks = [task for task in load_tasks("python-functions", limit=3)]
    write(tasks, tmp_path / "set")
    again = {task.id: task for task in read(tmp_path / "set")}
    assert again == {task.id: task.model_copy(update={"split": again[task.id].split}) for task in tasks}
    assert os.access(tmp_path / "set" / tasks[0].id / "tests" / "test.sh", os.X_OK)


def test_folders_of_others_are_not_written(tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.raises(UserError, match="no task that the format 'harbor' holds"):
        write_format(ADAPTER, read(example(tmp_path)), tmp_path / "again", said.append)
    assert len(said) == 2 and not (tmp_path / "again").exists()


def test_what_a_task_shows(tmp_path: Path) -> None:
    chess, _ = read(example(tmp_path))
    assert isinstance(chess.check, TerminalCheck)
    assert (chess.family, chess.language, chess.level, chess.topic) == ("terminal", "bash", 3, "games")
    assert (chess.check.image, chess.check.artifacts) == ("a/b:1", [])
    assert chess.reference == "#!/bin/bash\necho e4\n" and set(chess.check.files) == {
        "environment/Dockerfile",
        "environment/empty",
        "tests/test.sh",
        "tests/test_outputs.py",
    }
    assert set(chess.check.binary) == {"environment/board.png", "tests/data.bin"}


def test_a_reference_brings_what_lies_beside_the_script(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        "task.toml": "",
        "instruction.md": "x",
        "tests/test.sh": "x",
        "solution/solve.sh": 'cat "$(dirname "$0")/a b/data"; "$(dirname "$0")/run.sh"\n',
        "solution/a b/data": b"\0\xff\n",
        "solution/run.sh": "#!/bin/sh\necho ran\n",
    }
    make(tmp_path / "one", files, ("solution/run.sh",))
    (task,) = read(tmp_path)
    inside = task.reference.replace("/solution", f"{tmp_path}/solution")
    (tmp_path / "solution").mkdir()
    (tmp_path / "solution/solve.sh").write_text(inside)
    done = subprocess.run(
        ["bash", tmp_path / "solution/solve.sh"], capture_output=True, cwd=tmp_path, check=True
    )
    assert done.stdout == b"\0\xff\nran\n"


def test_what_cannot_be_carried_is_named_and_the_rest_goes_through(tmp_path: Path) -> None:
    root = example(tmp_path)
    for name in ("a-link", "b-pipe", "c-toml", "d-mute", "e-loose"):
        settings = "[" if name == "c-toml" else ""
        make(root / name, {"task.toml": settings, "instruction.md": "x", "tests/test.sh": "x"})
    (root / "a-link" / "passwd").symlink_to("/etc/passwd")
    os.mkfifo(root / "b-pipe" / "pipe")
    (root / "d-mute" / "instruction.md").unlink()
    (root / "e-loose" / "tests" / "test.sh").unlink()
    (root / "z-outside").symlink_to("/etc")
    lines: list[str] = []
    assert [task.id for task in iter_tasks(f"harbor:{root}", on_bad=lines.append)] == ["chess", "go"]
    for line, wanted in zip(
        lines,
        (
            "a-link/passwd: a link",
            "b-pipe/pipe: not a regular",
            "task.toml: ",
            "no instruction.md",
            "no tests/test.sh",
        ),
        strict=True,
    ):
        assert wanted in line and "\n" not in line


def test_too_large_tasks_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "big", {"task.toml": "", "instruction.md": "x", "tests/test.sh": "x", "data": "y" * 100})
    monkeypatch.setattr(harbor_folder, "MAX_TASK", 50)
    with pytest.raises(UserError, match=r"big/(instruction\.md|data|tests/test\.sh): the task has more than"):
        read(tmp_path)


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "a/../../evil", "", ".", "a//b", "./a", "a/", "..", "a\0b"]
)
def test_writing_leaves_no_folder(tmp_path: Path, name: str) -> None:
    row = ADAPTER.sample()[0]
    row["files"][name] = {"text": "evil"}
    with pytest.raises(UserError, match="is not a relative file path"):
        list(ADAPTER.read(row, "x:1"))
    with pytest.raises(UserError):
        harbor_folder.write_folder([row], tmp_path / "out")
    with pytest.raises(UserError):
        harbor_folder.write_folder([{"name": name or "../x", "files": {}}], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_taken_stays(tmp_path: Path) -> None:
    root = example(tmp_path)
    tasks = load_tasks("python-functions", limit=2)
    with pytest.raises(UserError, match="it exists and is not an empty folder"):
        write(tasks, root)
    with pytest.raises(UserError, match="two tasks have this name"):
        write([tasks[0], tasks[0]], tmp_path / "twice")
    with pytest.raises(UserError, match="cannot write"):
        write(tasks, tmp_path / "no" / "such")
    (tmp_path / "empty").mkdir()
    write(tasks, tmp_path / "empty")
    assert len(read(root)) == 2 and sorted(p.name for p in tmp_path.iterdir()) == ["empty", "set"]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ({"base64": "!"}, "file 'data'"),
        ({"base64": 3}, "file 'data'"),
        ({"size": 3}, "neither 'text' nor 'base64'"),
        ("x", "neither 'text' nor 'base64'"),
    ],
)
def test_bad_rows_are_one_line(file: Any, message: str) -> None:
    row = {"name": "a", "files": {"task.toml": {"text": ""}, "instruction.md": {"text": "x"}, "data": file}}
    with pytest.raises(UserError, match=r"^x:1: .*") as caught:
        list(ADAPTER.read(row, "x:1"))
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "further", "what"),
    [
        ("", "steps/one/instruction.md", "several steps"),
        ("", "environment/docker-compose.yaml", "docker-compose.yaml"),
        ("", "tests/Dockerfile", "an image of its own for the tests"),
        ("[environment]\ngpus = 1", "x", "a GPU or TPU"),
        ("[environment]\nhealthcheck = {command = 'true'}", "x", "services beside the task"),
        ("[environment]\nos = 'windows'", "x", "the system 'windows'"),
        ("[environment]\nnetwork_mode = 'allowlist'", "x", "a network"),
        ("[verifier]\ncollect = ['x']", "x", "commands that collect artifacts"),
        ("[verifier.env]\nKEY = '${KEY}'", "x", "a variable of the host"),
    ],
)
def test_what_no_jail_has_is_left_out_by_name(settings: str, further: str, what: str, tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {"task.toml": settings, "instruction.md": "x", "tests/test.sh": "x"}
    make(tmp_path / "odd", {**files, further: ""})
    make(tmp_path / "plain", {**files, "task.toml": ""})
    lines: list[str] = []
    assert [task.id for task in iter_tasks(f"harbor:{tmp_path}", on_bad=lines.append)] == ["plain"]
    assert lines == [f"{tmp_path / 'odd'}: it needs {what}, which jails do not have: left out"]
