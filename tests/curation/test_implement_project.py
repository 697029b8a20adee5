"""Tasks to implement that a project's own tests judge."""

import json

import pytest
from tests import warm

from strop_verify.core.task import Task
from strop_verify.edits import FORMATS

MODULE = '''\
def double(number):
    """Twice a number."""
    result = number + number
    return result


def unseen(number):
    """No test asks for this one."""
    return number


def silent(number):
    """Nobody looks at what this one does."""
    number += 1
'''
TESTS = """\
from pkg.m import double, silent


def test_double():
    assert double(2) == 4


def test_type():
    assert double(2) != 5


def test_silent():
    silent(1)
"""


@pytest.mark.parametrize("format", ["search-replace", "infill"])
def test_only_functions_that_tests_notice_make_tasks_and_any_right_answer_passes(tmp_path, format, verifier):
    for name, text in (("pkg/__init__.py", ""), ("pkg/m.py", MODULE), ("tests/test_m.py", TESTS)):
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    out = tmp_path / f"{format}.jsonl"
    words = ["project", "-o", out, "--tests", "--filters", "none", "--workers", "1", "--format", format]
    done = warm.strop("build", "implement", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (task,) = (Task.model_validate_json(line) for line in out.read_text().splitlines())
    manifest = json.loads(out.with_name(f"{out.name}.manifest.json").read_text())
    assert manifest["unusable"] == {"no test notices the mask": 1, "no test reaches it": 1}
    judge = task.check.judge
    assert judge.failing == ["tests/test_m.py::test_double"]
    assert judge.passing == ["tests/test_m.py::test_type"]
    other = MODULE.replace("number + number", "number * 2")
    wrong = MODULE.replace("number + number", "number * 3")
    render = FORMATS[format].render
    answers = [render(task.check.files, {"pkg/m.py": text}) for text in (MODULE, other, wrong)]
    outcomes = [verifier.submit(task, text).result().outcome.value for text in [*answers, "nothing"]]
    assert outcomes[:3] == ["passed", "passed", "failed"] and outcomes[3] != "passed"
