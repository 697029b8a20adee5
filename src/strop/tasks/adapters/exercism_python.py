"""Exercism's Python track (MIT): exercises with a stub, unittest files and an example; rows, or a clone of the track.

The fields are those of `exercise_files`. The stub is in `metadata["stub"]`; an answer is the whole file, and the tests
import it under the stub's name.

1. The ids of the tests are told from their source (`suite_tests`): skipped ones, such as extra credits, do not judge.
2. Files among the tests that hold no test, such as `test_utils.py`, lie beside them.
3. Answer and tests are in different processes (docs/formats.md, "pytest suites"). So exercises fail, reference
   included, whose tests hand objects of their own to the answer or patch builtins for it.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from strop.core.checks import PytestCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import exercise_files
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.exercise_files import chosen, paths
from strop.tasks.adapters.fields import has, text
from strop.tasks.adapters.suite_tests import UnreadableTests, test_ids
from strop.tasks.adapters.unreadable import refuse_unreadable
from strop.tasks.rows import Row

_EXAMPLES = (".meta/example.py", ".meta/exemplar.py")


def _read(row: Row, where: str) -> Iterator[Task]:
    refuse_unreadable(row, where)
    slug = text(row, "slug", where)
    stub, example = paths(row, "solution_stub", where), paths(row, "example", where)
    tests = paths(row, "tests", where)
    module = slug.replace("-", "_") + ".py"
    path, solved = chosen(stub, module) or module, chosen(example, *_EXAMPLES)
    further = {name: code for name, code in stub.items() if name != path}
    try:
        found = test_ids(tests)
    except UnreadableTests as error:
        raise UserError(f"{where}: the tests cannot be told from their source: {error}") from error
    if not found:
        raise UserError(f"{where}: the task has no tests: none in {', '.join(tests) or 'no file'}")
    kept = exercise_files.left_over(row, ("id", "instructions", "tests"))
    kept["solution_stub"] = further
    kept["example"] = {name: code for name, code in example.items() if name != solved or not code}
    if solved not in ("", _EXAMPLES[0]):
        kept["example_path"] = solved
    yield Task(
        id=text(row, "id", where),
        family="exercise",
        language="python",
        statement=text(row, "instructions", where),
        reference=example.get(solved, ""),
        check=PytestCheck(path=path, files={**further, **tests}, tests=found),
        topic="exercism",
        source=text(row, "id", where),
        metadata={**({"stub": stub[path]} if path in stub else {}), "original": kept},
    )


def _write(task: Task) -> dict[str, Any]:
    check = task.check.maybe(PytestCheck)
    kept = exercise_files.original(task, "exercism-python")
    if check is None:
        raise UserError(f"task {task.id!r} has no test files: the format exercism-python cannot hold it")
    further = kept.setdefault("solution_stub", {})
    tests = {name: code for name, code in check.files.items() if name not in further}
    try:
        whole = set(test_ids(tests)) == set(check.tests)
    except UnreadableTests:
        whole = False
    if not whole:
        raise UserError(
            f"task {task.id!r} runs some tests of its files only: the format exercism-python cannot hold it"
        )
    solved = kept.pop("example_path", _EXAMPLES[0])
    files = {
        "solution_stub": {check.path: str(task.metadata["stub"])} if "stub" in task.metadata else {},
        "tests": tests,
        "example": {solved: task.reference} if task.reference else {},
    }
    return exercise_files.row_of(task, kept, files)


def _fits(row: Row) -> bool:
    if not has(row, slug=str, instructions=str, solution_stub=dict, tests=dict):
        return False
    return any(str(name).endswith(".py") for name in row["tests"])


ADAPTER = Adapter(
    name="exercism-python",
    about="exercises of Exercism's Python track, or a clone of it",
    read=_read,
    fits=_fits,
    write=_write,
    as_json=("solution_stub", "tests", "example"),
    folder=partial(exercise_files.clone, track="python"),
)
