"""`strop build bugs --undo`: fixes of a history undone on today's tree."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import warm
from tests.curation.test_retrieval import Made

from strop.tasks import load_tasks
from strop_tasks.curation.bugs import LAYOUT
from strop_tasks.curation.bugs.undone_fixes import undone_fixes
from strop_tasks.curation.engine.tally import Tally
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.verdict import Outcome

PYPROJECT = '[project]\nname = "sums"\nversion = "1.2"\n'
FIRST = '''"""Sums."""


def total(prices):
    found = 0
    for price in prices:
        found += price
    return found


def mean(prices):
    return total(prices) // len(prices)


def largest(prices):
    best = 0
    for price in prices:
        if price > best:
            best = price
    return best


def shown(price):
    return str(price) + " EUR"
'''
SKIPS = FIRST.replace("        found += price\n", "        if price > 0:\n            found += price\n")
EMPTY = SKIPS.replace(
    "    return total(prices) // len(prices)", "    return total(prices) / len(prices) if prices else 0"
)
LOST = EMPTY.replace("    best = 0\n", "    best = prices[0]\n")
SAID = LOST.replace("    return str(price)", "    # as in a shop\n    return str(price)")
TODAY = SAID.replace(
    """    best = prices[0]
    for price in prices:
        if price > best:
            best = price
    return best
""",
    "    return max(prices)\n",
)
TESTS = """import pytest

from sums import largest, mean, shown, total


@pytest.mark.parametrize("prices, wanted", [([1, 2], 3), ([-1, 2], 2), ([], 0)])
def test_total(prices, wanted):
    assert total(prices) == wanted


def test_mean():
    assert mean([1, 2]) == 1.5


def test_mean_of_nothing():
    assert mean([]) == 0


def test_largest():
    assert largest([-3, -1]) == -1


def test_shown():
    assert shown(3) == "3 EUR"
"""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = Made(tmp_path_factory.mktemp("undone") / "sums")
    repo.commit("First version", {"pyproject.toml": PYPROJECT, "sums.py": FIRST, "tests/test_sums.py": TESTS})
    repo.commit("Leave negative prices out", {"sums.py": SKIPS})
    repo.commit("The mean of nothing", {"sums.py": EMPTY, "notes.md": "x"})
    repo.commit("The largest of negative prices", {"sums.py": LOST})
    repo.commit("Say where the text comes from", {"sums.py": SAID})
    repo.commit("Simpler", {"src/sums.py": TODAY, "sums.py": None})
    repo.commit("Two files", {"src/sums.py": TODAY + "\n\nA = 1\n", "src/b.py": "B = 1\n"})
    repo.commit("A constant", {"src/sums.py": TODAY + "\n\nA = 2\n"})
    return repo.folder


def test_a_fix_is_undone_where_its_lines_still_stand(history: Path) -> None:
    tally = Tally(LAYOUT)
    today = TODAY + "\n\nA = 2\n"
    found = undone_fixes(str(history), {"src/sums.py": today, "src/b.py": "B = 1\n"}, tally)
    constant, mean, skips = found.pop("src/sums.py")
    assert not found and constant.text == TODAY + "\n\nA = 1\n"
    assert skips.text == today.replace(
        "        if price > 0:\n            found += price\n", "        found += price\n"
    )
    assert mean.text == today.replace(" / len(prices) if prices else 0", " // len(prices)")
    assert skips.lines == [(7, 8)] and len({skips.commit, mean.commit}) == 2
    assert tally.skipped == {
        "commits that create, delete or rename programs": 3, "commits whose lines have changed since": 1,
        "commits that change only comments, docstrings or layout": 1,
    }  # fmt: skip


@pytest.mark.soak(12)
def test_undone_fixes_are_tasks_that_todays_tests_judge(history: Path, tmp_path: Path, verifier: Any) -> None:
    words = ["build", "bugs", history, "--undo", history, "--workers", 1]
    done = warm.strop(*words, "-o", tmp_path / "bugs.jsonl", "--pairs", 1)
    assert done.returncode == 0, done.stderr
    *tasks, pair = load_tasks(str(tmp_path / "bugs.jsonl"))
    assert {task.metadata["original"] for task in tasks} == {"src/sums.py:total", "src/sums.py:mean"}
    for task in tasks:
        check = task.check
        assert isinstance(check, EditCheck) and isinstance(check.judge, ProjectCheck)
        assert task.metadata["bug"] == ["undone"] and len(task.metadata["commit"]) == 40
        assert verifier.verify(task, task.reference).passed
        broken = task.model_copy(update={"check": check.judge.model_copy(update={"files": check.files})})
        assert verifier.verify(broken, "unchanged").outcome is Outcome.FAILED
        if task.metadata["original"].endswith("total"):
            assert check.judge.failing == ["tests/test_sums.py::test_total[prices1-2]"]
            assert {*check.judge.passing} >= {"tests/test_sums.py::test_total[prices0-3]"}
    assert pair.metadata["bug"] == ["undone", "undone"]
    manifest = json.loads((tmp_path / "bugs.jsonl.manifest.json").read_text())
    assert manifest["operators"]["undone"]["kept"] == 4 and manifest["settings"]["undo"] == str(history)
    assert manifest["skipped"]["commits that change no function"] == 1


def test_what_cannot_be_undone_is_one_line(history: Path, tmp_path: Path) -> None:
    out = tmp_path / "bugs.jsonl"
    for words, code, cause in (
        ([history, "--undo", tmp_path], 2, "git cannot read it"),
        (["python-functions", "--undo", history], 2, "--undo is for a project, not for tasks"),
        (
            [history, "--undo", history, "--rewrite-url", "http://x", "--rewrite-model", "m"],
            2,
            "--rewrite-model",
        ),
    ):
        done = warm.strop("build", "bugs", *words, "-o", out)
        last = done.stderr.splitlines()[-1]
        assert done.returncode == code and cause in last, done.stderr
    assert not out.exists()
