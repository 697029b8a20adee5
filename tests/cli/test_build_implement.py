import gzip
import io
import json
import os
import tarfile

import pytest
from tests import warm
from tests.curation.test_implement import EXAMPLE


@pytest.fixture
def strop(tmp_path):
    def call(*words):
        return warm.strop(*words, cwd=tmp_path)

    return call


def tasks_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_hostile_tree_is_read_with_every_reason_counted(strop, tmp_path):
    tree = tmp_path / "tree"
    (tree / "a" / ".venv").mkdir(parents=True)
    (tree / "a" / "env").mkdir()
    (tree / "a" / "env" / "pyvenv.cfg").touch()
    for path in ("a/m.py", "a/.venv/x.py", "a/env/x.py", "elsewhere.py"):
        (tree / path).write_text(EXAMPLE)
    (tree / "elsewhere.py").rename(tmp_path / "elsewhere.py")
    (tree / "link.py").symlink_to(tmp_path / "elsewhere.py")
    (tree / "loop").symlink_to(tree)
    os.mkfifo(tree / "pipe.py")
    (tree / "latin.py").write_bytes(b"x = '\xe9'\n")
    (tree / "long.py").write_text("x = 1\n" * 10_000)
    (tree / "broken.py").write_text("def f(:\n")
    (tree / "new\nline.py").write_text(EXAMPLE)
    done = strop("build", "implement", "tree", "-o", "out.jsonl", "--filters", "none")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert manifest["skipped"] == {
        "bad path": 1, "not a regular file": 1, "not UTF-8": 1, "symbolic link": 2, "syntax error": 1, "too long": 1
    }  # fmt: skip
    assert [task["source"] for task in tasks_in(tmp_path / "out.jsonl")] == [
        "tree/a/m.py#Stack.area", "tree/a/m.py#Stack.pop"
    ]  # fmt: skip
    assert "2 implementation tasks" in done.stdout and "2 symbolic link" in done.stdout
    first = (tmp_path / "out.jsonl").read_bytes()
    assert strop("build", "implement", "tree", "-o", "out.jsonl", "--filters", "none").returncode == 0
    assert (tmp_path / "out.jsonl").read_bytes() == first
    shown = strop(
        "tasks", "show", tasks_in(tmp_path / "out.jsonl")[0]["id"], "-s", "out.jsonl", "--style", "chat"
    )
    assert "# MASKED: area function (lines 13-18)" in shown.stdout, shown.stderr


def member(name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, io.BytesIO(data)


def test_an_sdist_and_rows_give_the_tasks_of_their_files(strop, tmp_path):
    with tarfile.open(tmp_path / "pkg-1.tar.gz", "w:gz") as packed:
        for info, data in (
            member("pkg-1/pkg/m.py", EXAMPLE.encode()),
            member("pkg-1/pkg/link.py", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
            member("../up.py", EXAMPLE.encode()),
            member("/root.py", EXAMPLE.encode()),
            member("pkg-1/setup.cfg", b"[x]"),
        ):
            packed.addfile(info, data)
    assert strop("build", "implement", "pkg-1.tar.gz", "-o", "a.jsonl", "--filters", "none").returncode == 0
    task, _ = tasks_in(tmp_path / "a.jsonl")
    assert task["source"] == "pkg-1/pkg/m.py#Stack.area"
    skipped = json.loads((tmp_path / "a.jsonl.manifest.json").read_text())["skipped"]
    assert skipped == {"bad path": 2, "symbolic link": 1}
    rows = [
        {"content": EXAMPLE, "path": "x/m.py", "lang": "Python", "licenses": ["MIT"]},
        {"content": EXAMPLE, "path": "../m.py", "lang": "Python"},
        {"content": "func main() {}", "path": "m.go", "lang": "GO"},
        {"text": 1},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert (
        strop(
            "build", "implement", "rows.jsonl", "-o", "b.jsonl", "--filters", "none", "--format", "infill"
        ).returncode
        == 0
    )
    task, _ = tasks_in(tmp_path / "b.jsonl")
    assert list(task["check"]["files"]) == ["x/m.py"] and task["metadata"]["licenses"] == ["MIT"]
    skipped = json.loads((tmp_path / "b.jsonl.manifest.json").read_text())["skipped"]
    assert skipped == {"another language": 1, "bad path": 1, "no text in column 'content'": 1}


def test_an_archive_that_would_fill_the_memory_or_is_torn_is_cut_off(strop, tmp_path):
    good, data = member("a/m.py", EXAMPLE.encode())
    bomb = tarfile.TarInfo("a")
    bomb.type, bomb.size = tarfile.XHDTYPE, 1 << 40
    whole = good.tobuf() + data.getvalue().ljust(-(-len(EXAMPLE) // 512) * 512, b"\0")
    for name, text in (
        ("bomb", gzip.compress(whole + bomb.tobuf())),
        ("torn", gzip.compress(whole * 2)[:-300]),
    ):
        (tmp_path / f"{name}.tar.gz").write_bytes(text)
        done = strop("build", "implement", f"{name}.tar.gz", "-o", f"{name}.jsonl", "--filters", "none")
        if name == "bomb":
            assert done.returncode == 0, done.stderr
            skipped = json.loads((tmp_path / "bomb.jsonl.manifest.json").read_text())["skipped"]
            assert skipped == {"archive damaged: cut off": 1}
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["m.py", "-o", "out.txt"], "ends in .jsonl"),
        (["m.py", "-o", "/dev/null/out.jsonl"], "/dev/null is not a folder"),
        (["m.py", "-o", "out.jsonl", "--filters", "sqll"], "did you mean 'sql'"),
        (["m.py", "-o", "out.jsonl", "--max-file-chars", "9"], "1 too long"),
        (["nowhere", "-o", "out.jsonl"], "cannot read 'nowhere' as Python sources"),
        (["nowhere.tar.gz", "-o", "out.jsonl"], "no such file"),
    ],
)
def test_mistakes_are_said_in_one_line_and_leave_nothing(strop, tmp_path, words, cause):
    (tmp_path / "m.py").write_text(EXAMPLE)
    done = strop("build", "implement", *words)
    assert done.returncode == 2 and cause in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["m.py"]
