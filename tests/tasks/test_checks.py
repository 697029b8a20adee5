"""Kinds of checks: each answers every question that callers ask, and so does a kind that no caller knows."""

import pytest

from strop.core.checks import CheckBase
from strop.core.errors import VerificationError
from strop.core.task import Task
from strop.curation.audit.answers import decided, probes
from strop.curation.audit.form import form_findings, leak_findings
from strop.curation.audit.judge import said, variants
from strop.curation.audit.record import AuditSettings
from strop.curation.audit.strength import faulty_versions
from strop.curation.similar.tests import tests_of as pairs_of
from strop.evaluation.hack_audit import hacks
from strop.evaluation.stages import stages_of
from strop.tasks.answers import answer_in
from strop.tasks.prompts import render, solution
from strop.tasks.task_sets import at_most

CHECKS = [
    {"kind": "cases", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]},
    {"kind": "asserts", "entry_point": "f", "code": "assert f(1) == 2"},
    {"kind": "stdio", "cases": [{"stdin": "1\n", "stdout": "2\n"}]},
    {"kind": "pytest", "files": {"test_f.py": "def test_f(): ..."}, "tests": ["test_f.py::test_f"]},
    {"kind": "rust", "tests": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn f() { assert!(true) }\n}\n"},
    {"kind": "command", "path": "a.go", "steps": [{"stage": "test", "argv": ["go"], "stdout": "1"}]},
    {"kind": "label", "choices": ["a", "b"], "expected": "a"},
    {"kind": "workspace", "argv": ["true"]},
    {"kind": "project", "project": "p.tar.gz", "digest": "0", "failing": ["t"]},
    {"kind": "edit", "format": "whole-file", "files": {"a": "x\n"}, "oracle": {"a": "y\n"}},
]


class Oracle(CheckBase):
    """A kind that is known here alone."""

    kind: str = "oracle"


def tasks() -> list[Task]:
    known = [Task(statement="Do it.", signature="def f(x):", reference="x = 1\n", check=c) for c in CHECKS]
    return [*known, known[0].model_copy(update={"id": "new", "check": Oracle()})]


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.check.kind)
def test_every_kind_answers_every_question(task: Task) -> None:
    check, settings = task.check, AuditSettings()
    assert task.test_count >= (check.kind != "oracle") and check.different_tests() == task.test_count
    assert {"test"} <= set(stages_of(task)) <= {"build", "lint", "test"}
    for style in ("chat", "chat-prefilled", "continue"):
        solution(task, render(task, style))
    assert answer_in("x", task) == "x" and hacks(task, "x = 1") == [] and at_most(task, 9) == task
    found = [form_findings(task, settings), leak_findings(task), said(task), decided(task), probes(task)]
    assert all(isinstance(list(each), list) for each in found) and list(variants(task)) == []
    assert isinstance(faulty_versions(task, settings), list) and len(pairs_of(task).inputs) <= 1
    numbers = range(len(check.single_tests()))
    assert (check.with_tests(numbers).test_count() if numbers else task.test_count) == task.test_count
    assert check.readable() and check.judged() is check and check.without_tests().kind == check.kind


def test_what_nobody_judges_is_said_by_its_kind() -> None:
    assert {task.check.kind for task in tasks() if not task.check.toolchains} == {"workspace", "oracle"}
    with pytest.raises(VerificationError, match="of kind oracle are carried"):
        tasks()[-1].toolchain()
