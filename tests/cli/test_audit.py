"""`strop audit` as it is typed: outputs, exit codes, mistakes, and being killed in the middle."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import warm

from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.task import Task

KILLED = """import os, sys, threading, time
journal, least, how = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
del sys.argv[1:4]
def kill():
    while not (os.path.exists(journal) and open(journal, "rb").read().count(b"\\n") >= least):
        time.sleep(0.001)
    os.kill(os.getpid(), how)
threading.Thread(target=kill, daemon=True).start()
from strop.cli import main
main()
"""
"""The command line, which gets a signal when a file has so many lines, however busy the machine is."""


def line(number: int, *, good: bool = True, spin: int = 0) -> str:
    body = f"    for _ in range({spin}):\n        pass\n" if spin else ""
    reference = f"def f(x):\n{body}    return x * {number + 2} + 1\n"
    cases = [Case(args=[x], expected=x * (number + 2) + (1 if good else 0), shown=x < 2) for x in range(7)]
    check = CasesCheck(entry_point="f", cases=cases)
    return Task(
        id=f"t{number}", statement=f"Line {number}.", reference=reference, check=check
    ).model_dump_json()


def strop(*args: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return warm.strop("audit", *args, cwd=folder)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [line(0), line(1, good=False), line(2)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.soak(30)
def test_audits_kept_tasks_and_exit_code(folder):
    done = strop("tasks.jsonl", "-o", "audits.jsonl", "--keep", "fit.jsonl", folder=folder)
    assert done.returncode == 1, done.stderr
    assert "t1\t-\treference-fails\t" in done.stdout and "3 tasks audited: 2 fit" in done.stdout
    audits = [json.loads(text) for text in (folder / "audits.jsonl").read_text().splitlines()]
    assert [(a["task_id"], a["ok"]) for a in audits] == [("t0", True), ("t1", False), ("t2", True)]
    kept = [Task.model_validate_json(text).id for text in (folder / "fit.jsonl").read_text().splitlines()]
    assert kept == ["t0", "t2"] and names(folder) == ["audits.jsonl", "fit.jsonl", "tasks.jsonl"]
    again = strop("tasks.jsonl", "--fail-on", "never", "--ignore", "slow", folder=folder)
    assert again.returncode == 0 and "reference-fails" in again.stdout
    assert strop("fit.jsonl", folder=folder).returncode == 0


def test_a_bad_row_is_one_line_and_the_rest_goes_through(folder):
    with (folder / "tasks.jsonl").open("a") as file:
        file.write('{"half": \n' + line(3) + "\n")
    done = strop("tasks.jsonl", "--runs", "1", "--mutants", "0", folder=folder)
    assert (
        done.returncode == 1 and "4 tasks audited: 3 fit" in done.stdout and "1 rows could not" in done.stdout
    )
    assert [text for text in done.stderr.splitlines() if "tasks.jsonl:4" in text]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["missing.jsonl"], "missing.jsonl"),
        (["tasks.jsonl", "--ignore", "flakey"], "did you mean 'flaky'"),
        (["tasks.jsonl", "-o", "/dev/null/such.jsonl"], "cannot write"),
        (["tasks.jsonl", "-o", "x.jsonl", "--keep", "x.jsonl"], "different files"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(folder, args, said):
    done = strop(*args, folder=folder)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert names(folder) == ["tasks.jsonl"]


def test_a_set_without_tasks_is_a_mistake_too(folder):
    (folder / "tasks.jsonl").write_text("")
    done = strop("tasks.jsonl", "--keep", "fit.jsonl", "-o", "audits.jsonl", folder=folder)
    assert done.returncode == 2 and "'tasks.jsonl' is empty" in done.stderr and not done.stdout
    assert not (folder / "fit.jsonl").exists() and not (folder / "audits.jsonl").exists()


@pytest.mark.soak(20)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_at_any_moment_and_started_again_it_ends_with_the_same_bytes(folder, how):
    # The later ones are slow, so that it can't end between the line waited for and the signal.
    rows = [line(n, good=n % 5 != 0, spin=20_000 if n < 20 else 60_000) for n in range(40)]
    (folder / "tasks.jsonl").write_text("\n".join(rows) + "\n")
    command = [
        "tasks.jsonl",
        "--keep",
        "fit.jsonl",
        "-o",
        "audits.jsonl",
        "--fail-on",
        "never",
        "--mutants",
        "2",
    ]
    assert strop(*command, folder=folder).returncode == 0
    whole = [(folder / name).read_bytes() for name in ("audits.jsonl", "fit.jsonl")]
    for name in ("audits.jsonl", "fit.jsonl"):
        (folder / name).unlink()
    journal = folder / "audits.jsonl.journal"
    for least in (3, 12):
        words = [sys.executable, "-c", KILLED, journal, least + 1, how.value, "audit", *command]
        process = subprocess.run(
            [*map(str, words)], cwd=folder, stderr=subprocess.PIPE, text=True, timeout=300, check=False
        )
        assert process.returncode == (130 if how == signal.SIGINT else -9), process.stderr
        assert not (folder / "audits.jsonl").exists() and not (folder / "fit.jsonl").exists()
        assert how == signal.SIGKILL or "run the same command again to resume" in process.stderr
    assert strop(*command, folder=folder).returncode == 0
    assert [(folder / name).read_bytes() for name in ("audits.jsonl", "fit.jsonl")] == whole
    assert names(folder) == ["audits.jsonl", "fit.jsonl", "tasks.jsonl"]
