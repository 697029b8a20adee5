"""python-functions: every task is well formed, and its text holds nothing of the source's own marking."""

import ast

import pytest

from strop.tasks import load_tasks, render
from strop.tasks.doctests import is_json
from strop_verify.core.checks import CasesCheck
from strop_verify.core.task import Task


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_tasks("python-functions")


def cases_of(task: Task) -> CasesCheck:
    assert isinstance(task.check, CasesCheck)
    return task.check


def test_many_tasks_over_many_topics_with_shown_and_hidden_tests(tasks):
    assert len(tasks) >= 400
    assert len({t.topic for t in tasks}) >= 12
    assert {t.level for t in tasks} == {1, 2, 3}
    for task in tasks:
        shown = [c.shown for c in cases_of(task).cases]
        assert len(shown) >= 6 and any(shown) and not all(shown), task.source


def test_text_is_clean(tasks):
    for task in tasks:
        name = cases_of(task).entry_point
        assert task.statement and ">>>" not in task.statement, task.source
        assert task.signature.splitlines()[-1].startswith(("def ", ")")) and task.signature.endswith(":")
        assert "@cases" not in task.reference and '"""' not in task.reference, task.source
        namespace: dict[str, object] = {}
        exec(compile(task.reference, task.source, "exec"), namespace)
        assert callable(namespace[name])
        ast.parse(task.signature + " ...")


def test_references_stand_alone(tasks):
    """A reference finds its imports and helpers in its own text; hidden values are what it returns."""
    for task in tasks:
        namespace: dict[str, object] = {}
        exec(task.reference, namespace)
        for case in cases_of(task).cases:
            clone = case.model_copy(deep=True)
            assert namespace[cases_of(task).entry_point](*clone.args, **clone.kwargs) == case.expected  # type: ignore[operator]


def test_values_survive_json(tasks):
    for task in tasks:
        assert Task.model_validate_json(task.model_dump_json()) == task
        assert all(is_json([c.args, c.kwargs, c.expected]) for c in cases_of(task).cases)


def test_floats_get_a_tolerance(tasks):
    by_name = {t.source.rsplit("/", 1)[1]: t for t in tasks}
    assert cases_of(by_name["text_to_float"]).tolerance > 0
    assert cases_of(by_name["text_to_int"]).tolerance == 0


def test_order_and_ids_do_not_change(tasks):
    again = load_tasks("python-functions")
    assert [t.id for t in again] == [t.id for t in tasks]
    assert [t.topic for t in tasks] == sorted(t.topic for t in tasks)


def test_shown_examples_read_as_in_the_source(tasks):
    task = next(t for t in tasks if t.source.endswith("/reverse_text"))
    assert render(task, "continue").text == (
        "def reverse_text(text: str) -> str:\n"
        '    """Return text with its characters in reverse order.\n\n'
        "    >>> reverse_text('abc')\n    'cba'\n    >>> reverse_text('hi!')\n    '!ih'\n"
        '    """'
    )
