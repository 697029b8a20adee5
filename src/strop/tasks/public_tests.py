"""The public tests of a task: a play may see their results before all tests judge the answer."""

from collections.abc import Sequence
from typing import Any

from strop_verify.core.checks import ProjectCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


def public_task(task: Task) -> Task:
    """The task with only its public tests, in order.

    `metadata["public_tests"]` lists them: positions in `check.single_tests()`, or test ids for a project. Without it
    they are the tests that the prompt shows; for a project, those that already pass and whose file has no failing test;
    if there are none, all tests. For an edit, the tests of its judge count. Raises UserError if the list is empty or
    names an unknown test.
    """
    edit = task.edit
    if edit is None or edit.judge is None:
        return _cut(task)
    judged = _cut(task.model_copy(update={"check": edit.judge}))
    check = edit.model_copy(update={"judge": judged.check})
    return judged.model_copy(update={"check": check})


def shows_tests(task: Task) -> bool:
    """Whether a play may be told what its public tests expect: there are some, and they are not just all tests.

    Raises UserError like `public_task`.
    """
    judged = (
        task
        if task.edit is None or task.edit.judge is None
        else task.model_copy(update={"check": task.edit.judge})
    )
    if judged.metadata.get("public_tests") is not None:
        _cut(judged)
        return True
    if (project := judged.check.maybe(ProjectCheck)) is not None:
        return _cut(judged).check != project
    return any(test.shown for test in judged.check.single_tests())


def _cut(task: Task) -> Task:
    asked: Any = task.metadata.get("public_tests")
    if (project := task.check.maybe(ProjectCheck)) is not None:
        if asked is None:
            files = {test.partition("::")[0] for test in project.failing}
            asked = [test for test in project.passing if test.partition("::")[0] not in files]
            if not asked:
                return task
        _refuse_others(task, asked, [*project.failing, *project.passing])
        kept = {
            name: [test for test in getattr(project, name) if test in asked]
            for name in ("failing", "passing")
        }
        return task.model_copy(update={"check": project.model_copy(update=kept)})
    tests = task.check.single_tests()
    numbers = [number for number, test in enumerate(tests) if test.shown] if asked is None else asked
    if asked is not None:
        _refuse_others(task, asked, range(len(tests)))
    return task.with_tests(sorted(set(numbers))) if tests and numbers else task


def _refuse_others(task: Task, asked: Any, there: Sequence[Any]) -> None:
    if not isinstance(asked, list | tuple) or not asked or any(one not in there for one in asked):
        raise UserError(
            f"task {task.id}: metadata public_tests must list some of its {len(there)} tests, not {asked!r:.60}"
        )
