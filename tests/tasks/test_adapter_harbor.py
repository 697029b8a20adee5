"""Harbor task folders: read and written again byte for byte, and what cannot be carried is refused by name."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.core.checks import TerminalCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.sources import iter_tasks
from strop_formats import harbor_folder
from strop_formats.harbor import HARBOR as ADAPTER

SETTINGS = '[metadata]\ndifficulty = "hard"\ncategory = "games"\n[environment]\ndocker_image = "a/b:1"\n'


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Contents and executable bits of files, and folders."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        mode = path.stat().st_mode
        found[name] = (b"", -1) if path.is_dir() else (path.read_bytes(), stat.S_IMODE(mode) & 0o111)
    return found


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


def test_folders_come_back_byte_for_byte(tmp_path: Path) -> None:
    root = example(tmp_path)
    tasks = read(root)
    assert [task.id for task in tasks] == ["chess", "go"]
    assert ADAPTER.write_folder is not None
    ADAPTER.write_folder(tasks, tmp_path / "again")
    assert tree(tmp_path / "again" / "chess") == tree(root / "chess")
    assert tree(tmp_path / "again" / "go") == tree(root / "deeper" / "go")
    assert [task.id for task in read(root / "chess")] == ["chess"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again", "set"]


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


def test_samples_come_back_and_new_tasks_become_folders(tmp_path: Path) -> None:
    assert ADAPTER.write_folder is not None
    for row in ADAPTER.sample():
        (task,) = ADAPTER.read(row, "x:1")
        assert ADAPTER.write(task) == row and ADAPTER.fits(row)
    check = TerminalCheck(image="debian:12", files={"tests/test.sh": "exit 0\n"})
    new = Task(id="new", family="terminal", statement="Do.", reference="true\n", check=check)
    ADAPTER.write_folder([new], tmp_path / "out")
    (again,) = read(tmp_path / "out")
    assert (again.statement, again.reference) == ("Do.", "true\n")
    assert isinstance(again.check, TerminalCheck) and again.check.image == "debian:12"
    assert os.access(tmp_path / "out" / "new" / "tests" / "test.sh", os.X_OK)
    changed = task.model_copy(update={"statement": "Other."})
    assert ADAPTER.write(changed)["files"].keys() >= {"task.toml"}


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
            "b-pipe/pipe: no regular",
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
    assert ADAPTER.write_folder is not None
    row = ADAPTER.sample()[0]
    row["files"][name] = {"text": "evil"}
    with pytest.raises(UserError, match="is no relative path"):
        list(ADAPTER.read(row, "x:1"))
    (task,) = ADAPTER.read(ADAPTER.sample()[0], "x:1")
    with pytest.raises(UserError):
        ADAPTER.write_folder([task, task.model_copy(update={"id": name or "../x"})], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_taken_stays(tmp_path: Path) -> None:
    root = example(tmp_path)
    before = tree(root)
    tasks = read(root)
    assert ADAPTER.write_folder is not None
    with pytest.raises(UserError, match="exists already and is not an empty folder"):
        ADAPTER.write_folder(tasks, root)
    with pytest.raises(UserError, match="two tasks of that name"):
        ADAPTER.write_folder([tasks[0], tasks[0]], tmp_path / "twice")
    with pytest.raises(UserError, match="cannot write"):
        ADAPTER.write_folder(tasks, tmp_path / "no" / "such")
    (tmp_path / "empty").mkdir()
    ADAPTER.write_folder(tasks, tmp_path / "empty")
    assert tree(root) == before and sorted(p.name for p in tmp_path.iterdir()) == ["empty", "set"]


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
    assert lines == [f"{tmp_path / 'odd'}: it needs {what}, which no jail has: left out"]


_NAMES = st.sampled_from(
    ["tests/a.sh", "tests/b", "solution/solve.sh", "environment/Dockerfile", "x y/é", "z"]
)


@given(st.dictionaries(_NAMES, st.tuples(st.binary(max_size=12), st.booleans())))
def test_any_files_come_back(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, tuple[bytes, bool]]
) -> None:
    root = tmp_path_factory.mktemp("harbor")
    contents: dict[str, bytes | str] = {name: content for name, (content, _) in files.items()}
    marked = tuple(name for name, (_, executable) in files.items() if executable)
    make(
        root / "one" / "task",
        {"tests/test.sh": "", **contents, "task.toml": "", "instruction.md": "Do."},
        marked,
    )
    assert ADAPTER.write_folder is not None
    ADAPTER.write_folder(read(root / "one"), root / "two")
    assert tree(root / "two") == tree(root / "one")
