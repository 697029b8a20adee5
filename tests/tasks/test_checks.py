"""Kinds of checks: each answers every question that callers ask, and so does a kind that no caller knows."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from strop.config.load import load_recipe
from strop.evaluation.hack_audit import hacks
from strop.evaluation.outcome_rates import stages_of
from strop.tasks.answers import answer_in
from strop.tasks.prompts import render, solution
from strop.tasks.task_sets import TaskSet, at_most, task_sets
from strop_tasks.curation.audit.answers import decided, probes
from strop_tasks.curation.audit.form import form_findings, leak_findings
from strop_tasks.curation.audit.judge import variants, wording_findings
from strop_tasks.curation.audit.record import AuditSettings
from strop_tasks.curation.audit.strength import faulty_versions
from strop_tasks.curation.similar.table import tests_of as pairs_of
from strop_verify.core.checks import CheckBase
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.task import Task

CHECKS = [
    {"kind": "cases", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]},
    {"kind": "asserts", "entry_point": "f", "code": "assert f(1) == 2"},
    {"kind": "stdio", "cases": [{"stdin": "1\n", "stdout": "2\n"}]},
    {"kind": "pytest", "files": {"test_f.py": "def test_f(): ..."}, "tests": ["test_f.py::test_f"]},
    {"kind": "rust", "tests": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn f() { assert!(true) }\n}\n"},
    {"kind": "command", "path": "a.go", "steps": [{"stage": "test", "argv": ["go"], "stdout": "1"}]},
    {"kind": "label", "choices": ["a", "b"], "expected": "a"},
    {"kind": "workspace", "argv": ["true"]},
    {"kind": "terminal", "image": "debian", "files": {"tests/test.sh": "exit 0\n"}},
    {"kind": "project", "project": "p.tar.gz", "digest": "0", "failing": ["t"]},
    {"kind": "edit", "format": "whole-file", "files": {"a": "x\n"}, "oracle": {"a": "y\n"}},
    {"kind": "none"},
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: str(check["kind"]))
def test_no_python_runs_while_a_check_is_written(check: dict[str, object]) -> None:
    """In a union pydantic drops what Python code raises meanwhile, a Ctrl-C among it."""
    task = Task.model_validate({"statement": "s", "check": check})
    called = list[str]()
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        written = task.model_dump(mode="json")
    finally:
        sys.setprofile(None)
    assert called == ["model_dump"]
    assert written["check"].keys() >= check.keys()
    fields = type(task.check).model_fields
    assert all(value for name, value in written["check"].items() if fields[name].exclude_if)


class Oracle(CheckBase):
    """A kind that is known here alone."""

    kind: str = "oracle"


def tasks() -> list[Task]:
    known = [Task(statement="Do it.", signature="def f(x):", reference="x = 1\n", check=c) for c in CHECKS]
    return [*known, known[0].model_copy(update={"id": "new", "check": Oracle()})]


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.check.kind)
def test_every_kind_answers_every_question(task: Task) -> None:
    check, settings = task.check, AuditSettings()
    assert (
        task.test_count >= (check.kind not in ("oracle", "none"))
        and check.different_tests() == task.test_count
    )
    assert {"test"} - {"test" * check.rewards_alone} <= set(stages_of(task)) <= {"build", "lint", "test"}
    for style in ("chat", "chat-prefilled", "continue"):
        solution(task, render(task, style))
    assert answer_in("x", task) == "x" and hacks(task, "x = 1") == [] and at_most(task, 9) == task
    found = [
        form_findings(task, settings),
        leak_findings(task),
        wording_findings(task),
        decided(task),
        probes(task),
    ]
    assert all(isinstance(list(each), list) for each in found) and list(variants(task)) == []
    assert isinstance(faulty_versions(task, settings), list) and len(pairs_of(task).inputs) <= 1
    numbers = range(len(check.single_tests()))
    assert (check.with_tests(numbers).test_count() if numbers else task.test_count) == task.test_count
    assert check.readable() and check.effective() is check and check.without_tests().kind == check.kind


def test_what_nobody_judges_is_said_by_its_kind() -> None:
    assert {task.check.kind for task in tasks() if not task.check.toolchains} == {"oracle", "none"}
    with pytest.raises(VerificationError, match="of kind oracle can be stored"):
        tasks()[-1].toolchain()


def test_what_rewards_alone_decide_needs_no_tests_and_no_evaluation(tmp_path: Path) -> None:
    """Such tasks are loaded, split, audited and kept; an evaluation of nothing else is refused before it starts."""
    (none,) = (task for task in tasks() if task.check.kind == "none")
    assert list(form_findings(none, AuditSettings())) == [] and not none.untested and tasks()[-1].untested
    texts = [
        " ".join(hashlib.sha256(f"{n} {m}".encode()).hexdigest()[:5] for m in range(30)) for n in range(80)
    ]
    lines = [{"statement": text, "check": {"kind": "none"}} for text in texts[:40]]
    judged = [{"statement": text, "check": CHECKS[0]} for text in texts[40:]]
    for name, rows in (("none", lines), ("judged", judged), ("both", [*lines, *judged])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def sets(name: str, *words: str) -> TaskSet:
        source = f"tasks.source=jsonl:{tmp_path / name}.jsonl"
        return task_sets(load_recipe([], [source, "tasks.held_out_fraction=0.25", *words]))[0]

    with pytest.raises(UserError, match=r"evaluation\.before=false evaluation\.after=false"):
        sets("none")
    off = ["evaluation.before=false", "evaluation.after=false"]
    assert 20 < len(sets("none", *off).train) < 40 and not sets("none", *off).held_out
    both = sets("both")
    assert {t.check.kind for t in both.train} == {"none", "cases"}
    assert {t.check.kind for t in both.held_out} == {"cases"}
