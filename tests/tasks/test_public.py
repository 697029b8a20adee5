"""Public tests: what a play may see of its task, for every kind of check."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.tasks.public_tests import public_task
from strop_verify.core.checks import (
    AssertsCheck,
    Case,
    CasesCheck,
    Check,
    EditCheck,
    LabelCheck,
    ProjectCheck,
    PytestCheck,
    RustCheck,
    StdioCase,
    StdioCheck,
)  # fmt: skip
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


def cases(count: int, shown: Any = ()) -> CasesCheck:
    return CasesCheck(
        entry_point="f", cases=[Case(args=[n], expected=n, shown=n in shown) for n in range(count)]
    )


def task(check: Check, **metadata: Any) -> Task:
    return Task(statement="f.", check=check, metadata=metadata)


def numbers(found: Task) -> list[int]:
    check = found.check.only(CasesCheck)
    return [case.args[0] for case in check.cases]


@given(st.integers(1, 8), st.sets(st.integers(0, 7)), st.sets(st.integers(0, 7)) | st.none())
def test_public_tests_are_some_of_all_in_their_order(count: int, shown: set[int], asked: Any) -> None:
    metadata = {} if asked is None else {"public_tests": sorted(asked, reverse=True)}
    one = task(cases(count, shown), **metadata)
    if asked is not None and not (asked and asked <= {*range(count)}):
        with pytest.raises(UserError, match="public_tests"):
            public_task(one)
        return
    expected = (shown & {*range(count)}) if asked is None else asked
    assert numbers(public_task(one)) == (sorted(expected) or [*range(count)])
    assert public_task(one).statement == one.statement and numbers(one) == [*range(count)]


KINDS = {
    "asserts": AssertsCheck(entry_point="f", code="import math\nassert f(0) == 0\nassert f(1) == 1\n"),
    "cases": cases(2),
    "stdio": StdioCheck(cases=[StdioCase(stdin=f"{n}\n", stdout=f"{n}\n") for n in range(2)]),
    "pytest": PytestCheck(files={"test_f.py": ""}, tests=["test_f.py::test_0", "test_f.py::test_1"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_single_tests_is_cut(kind: str) -> None:
    check = KINDS[kind]
    found = public_task(task(check, public_tests=[1])).check
    assert [test.given for test in found.single_tests()] == [check.single_tests()[1].given]
    edit = EditCheck(format="search-replace", files={"a.py": ""}, judge=check, path="a.py")
    cut = public_task(task(edit, public_tests=[1])).edit
    assert cut is not None and cut.judge == found and cut.files == edit.files
    assert public_task(task(check)).check == check


@pytest.mark.parametrize(
    "check",
    [
        RustCheck(tests="#[test]\nfn a() {}\n"),
        LabelCheck(choices=["a", "b"], expected="a"),
        EditCheck(format="search-replace", files={"a.py": ""}, oracle={"a.py": "1"}),
    ],
)  # fmt: skip
def test_what_is_not_made_of_single_tests_is_public_as_a_whole(check: Check) -> None:
    assert public_task(task(check)).check == check


def test_of_a_project_tests_are_named() -> None:
    project = ProjectCheck(project="p.tar.gz", digest="d", failing=["a", "b"], passing=["c", "d"])
    found = public_task(task(project, public_tests=["d", "b"])).check.only(ProjectCheck)
    assert (found.failing, found.passing) == (["b"], ["d"])
    unsaid = public_task(task(project)).check.only(ProjectCheck)
    assert (unsaid.failing, unsaid.passing) == ([], ["c", "d"])
    one_file = project.model_copy(update={"failing": ["t.py::a"], "passing": ["t.py::b"]})
    assert public_task(task(one_file)).check == one_file, "where there are no others, all of them"
    with pytest.raises(UserError, match="some of its 4 tests, not"):
        public_task(task(project, public_tests=["x"]))


def test_base_tests_follow() -> None:
    one = task(cases(4), public_tests=[0, 3], base_tests=2)
    assert public_task(one).metadata["base_tests"] == 1
