"""`strop curate` as it is typed: what it prints, what it refuses, and what is left when it is killed at any moment."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests import warm

from .helpers import lines, program, results, write

COMMAND = [sys.executable, "-c", "from strop.cli import main; main()", "curate"]
DEADLINE = 300.0


def curate(*arguments: Any, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return warm.strop("curate", *arguments, timeout=DEADLINE, cwd=cwd)


def fault(*arguments: Any) -> str:
    """What is said of a mistake: one line, exit code 2, nothing else."""
    done = curate(*arguments)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr.strip()


def pipeline(folder: Path, text: str, name: str = "p.yaml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "t.jsonl", (program(f"t{n}", add=n + 1, tests=3 + n % 5) for n in range(30)))


def test_a_table_files_and_a_second_run(tmp_path: Path, source: Path) -> None:
    file = pipeline(
        tmp_path, f"source: {source}\nsteps:\n  - min-tests: {{at_least: 5}}\n  - verify\n  - shuffle\n"
    )
    done = curate(file, "-o", tmp_path / "out", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert "12 fewer than 5 tests" in done.stdout
    assert "tasks.jsonl 18" in done.stdout
    assert "verify: 18 of 18 kept" in done.stderr
    assert len(lines(tmp_path / "out" / "tasks.jsonl")) == 18
    assert sorted(p.name for p in (tmp_path / "out").iterdir() if not p.name.startswith(".")) == [
        "changes.jsonl", "dropped.jsonl", "manifest.json", "tasks.jsonl",
    ]  # fmt: skip
    before = results(tmp_path / "out")
    again = curate(file, "-o", tmp_path / "out")
    assert again.returncode == 0 and "is finished" in again.stderr
    assert results(tmp_path / "out") == before
    said = fault(file, "-o", tmp_path / "out", "--seed", 7)
    assert "pipeline.seed was 0, now 7" in said and "--overwrite" in said
    (tmp_path / "out" / "mine.txt").write_text("keep me")
    assert curate(file, "-o", tmp_path / "out", "--seed", 7, "--overwrite").returncode == 0
    assert results(tmp_path / "out")["tasks.jsonl"] != before["tasks.jsonl"]
    assert (tmp_path / "out" / "mine.txt").read_text() == "keep me"


def test_a_source_that_changed_is_another_curation(tmp_path: Path, source: Path) -> None:
    file = pipeline(tmp_path, f"source: {source}\nsteps: [shuffle]\n")
    assert curate(file, "-o", tmp_path / "out").returncode == 0
    write(source, [program("other")])
    assert "t.jsonl was" in fault(file, "-o", tmp_path / "out")


def test_foreign_folders_stay_as_they_are(tmp_path: Path, source: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("work of years")
    file = pipeline(tmp_path, f"source: {source}\n")
    assert "holds thesis.tex but nothing of `strop curate`" in fault(
        file, "-o", tmp_path / "mine", "--overwrite"
    )
    assert os.listdir(tmp_path / "mine") == ["thesis.tex"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("source: t\nsteps: [dedup]\n", "p.yaml:2 steps.0: unknown step 'dedup'; did you mean dedupe?"),
        ("source: t\nsteps: [min_test]\n", "did you mean min-tests?"),
        ("source: t\nsteps:\n  - min-tests: {atleast: 5}\n", "unknown key; did you mean at_least?"),
        ("source: t\nsteps:\n  - min-tests: {at_least: five}\n", "steps.0.min-tests.at_least: expected a whole number"),
        ("source: t\nsteps:\n  - min-tests: {at_least: '5'}\n", "write 5 without quotes"),
        ("source: t\nsteps:\n  - min-tests: {at_least: 0}\n", "must be greater than or equal to 1, got 0"),
        ("source: t\nsteps:\n  - min-tests:\n    at_least: 5\n", "indent settings two spaces more than the name"),
        ("source: t\nsteps: shuffle\n", "expected a list"),
        ("source: t\nstep: [shuffle]\n", "unknown key; did you mean steps?"),
        ("steps: [shuffle]\n", "a pipeline needs a source"),
        ("source: t\nseed: yes\n", "expected a whole number"),
        ("source: t\nsteps:\n  - split: {parts: {train: 0.5}}\n", "the shares add up to 0.5"),
        ("source: t\nsteps:\n  - split: {parts: {tasks: 1}}\n", "'tasks' is not a name for a part"),
        ("source: t\nsteps:\n  - sample: {n: 5, share: 0.5}\n", "give either n"),
        ("source: t\nsteps:\n  - difficulty: {low: 0.2}\n", "give either scores: FILE or policy"),
        ("source: t\nsteps:\n  - difficulty: {policy: {engine: openai, modle: x}}\n", "did you mean model?"),
        ("source: t\nsteps:\n  - difficulty: {policy: {engine: vlm}}\n", "did you mean vllm?"),
        ("source: [t\n", "not valid YAML"),
        ("- source\n", "is a mapping of sections, not list"),
        ("source: {source: t, limt: 3}\n", "did you mean limit?"),
        ("source: t\nsteps:\n  - difficulty: {scores: nothing.jsonl}\n", "nothing.jsonl; name an existing file"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(tmp_path: Path, text: str, said: str) -> None:
    from strop_tasks.curation.pipeline.read import read_pipeline
    from strop_verify.core.errors import StropError

    with pytest.raises(StropError) as error:
        for _, step in read_pipeline(pipeline(tmp_path, text)).steps:
            step.check()
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_all_faults_at_once_and_where(tmp_path: Path) -> None:
    file = pipeline(tmp_path, "source: t\nsteps:\n  - shufle\n  - sample: {n: x}\nsede: 1\n")
    said = fault(file, "-o", tmp_path / "out").splitlines()
    assert len(said) == 3
    assert all(line.startswith(f"error: {file}:") for line in said)
    assert not (tmp_path / "out").exists()


def test_what_is_missing_is_said(tmp_path: Path, source: Path) -> None:
    assert "no such file" in fault(tmp_path / "no.yaml", "-o", tmp_path / "out")
    file = pipeline(tmp_path, f"source: {tmp_path}/no.jsonl\n")
    assert "no.jsonl" in fault(file, "-o", tmp_path / "out")
    assert "add --output FOLDER" in fault(file)
    file = pipeline(tmp_path, f"source: {source}\nsteps:\n  - min-tests: {{at_least: 99}}\n")
    assert "no task is left after the step min-tests (30 fewer than 99 tests)" in fault(
        file, "-o", tmp_path / "o2"
    )


def test_dry_run_and_list_of_steps(tmp_path: Path, source: Path) -> None:
    file = pipeline(tmp_path, f"source: {source}\nsteps: [verify]\n")
    shown = curate(file, "--dry-run", "--seed", 3)
    assert shown.returncode == 0
    again = pipeline(tmp_path, shown.stdout, "again.yaml")
    assert curate(again, "--dry-run").stdout == shown.stdout
    assert "seed: 3" in shown.stdout and "runs: 1" in shown.stdout
    listed = curate("--steps")
    assert listed.returncode == 0
    for name in ("verify", "filter-tests", "difficulty", "split", "shuffle", "sample", "min-tests", "audit"):
        assert f"\n{name}: " in "\n" + listed.stdout


def test_terminal_codes_in_data_are_not_sent_on(tmp_path: Path) -> None:
    bad = tmp_path / "t.jsonl"
    bad.write_text(json.dumps({"id": "\x1b[31m", "statement": "s"}) + "\n", encoding="utf-8")
    said = fault(pipeline(tmp_path, f"source: {bad}\n"), "-o", tmp_path / "out")
    assert "\x1b" not in said and "no task is left" in said


def written(folder: Path) -> int:
    """Bytes of its work so far; the folder may go away meanwhile."""
    sizes = 0
    for inner, _, files in os.walk(folder / ".work"):
        for name in files:
            with contextlib.suppress(OSError):
                sizes += os.stat(os.path.join(inner, name)).st_size
    return sizes


@pytest.mark.soak(9)
def test_killed_anywhere_and_run_again(tmp_path: Path, source: Path) -> None:
    """Killed with its whole group at many moments, then run to the end: the bytes of an unbroken run."""
    steps = "[min-tests: {at_least: 4}, verify: {runs: 3}, filter-tests: {at_most: 3}, shuffle, sample: {share: 0.9}]"
    file = pipeline(tmp_path, f"source: {source}\nsteps: {steps}\n")
    assert curate(file, "-o", tmp_path / "whole", "--workers", 1).returncode == 0
    kills = 0
    for number in range(8):
        run = subprocess.Popen(
            [*COMMAND, str(file), "-o", str(tmp_path / "torn"), "--workers", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        # When it has written so many bytes more; the first is far from its end.
        enough = written(tmp_path / "torn") + random.Random(number).randrange(1, 8_000 if number else 2)
        while run.poll() is None and written(tmp_path / "torn") < enough:
            time.sleep(0.005)
        if run.poll() is not None:
            break
        kills += 1
        os.killpg(run.pid, signal.SIGKILL if number else signal.SIGINT)
        status = run.wait(DEADLINE)
        assert number or status == 130
    assert kills
    assert curate(file, "-o", tmp_path / "torn", "--workers", 1).returncode == 0
    assert results(tmp_path / "torn") == results(tmp_path / "whole")
    assert not (tmp_path / "torn" / ".work").exists()
