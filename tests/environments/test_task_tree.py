"""A task as files, and the answer that says what was done to them: judged by the real verifier."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.environments.small_projects import MONEY, RIGHT, WRONG, project_task

from strop.environments.task_tree import edit_from, tree_of
from strop.tasks.sources import load_tasks
from strop_verify.core.checks import Case, CasesCheck, EditCheck, LabelCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.edits import FORMATS, apply_answer

pytestmark = pytest.mark.jail
WHOLE = [name for name in FORMATS if name != "infill"]
PASS_ALL = b"import pytest\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_call(item):\n    item.obj = print\n"


def test_the_folder_has_no_test_that_judges_in_secret(tmp_path: Path) -> None:
    tree = tree_of(project_task(tmp_path))
    assert tree["shop/cart.py"].decode() == WRONG and tree["logo.bin"] == bytes(range(256))
    assert {path for path in tree if path.startswith("tests/")} == {
        "tests/conftest.py",
        "tests/test_public.py",
    }
    unsaid = project_task(tmp_path).model_copy(update={"metadata": {}})
    hidden = {test.partition("::")[0] for test in unsaid.edit.judge.failing}  # type: ignore[union-attr]
    assert hidden and not hidden & tree_of(unsaid).keys(), "nor where a task does not say which are public"
    for task in load_tasks("toy-repositories:10"):
        assert "tests/test_hidden.py" not in tree_of(task) and "tests/test_public.py" in tree_of(task)


@pytest.mark.parametrize("form", WHOLE)
@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({"shop/cart.py": RIGHT}, True),
        ({"shop/cart.py": RIGHT.replace("\n", "\r\n")}, True),
        ({"shop/cart.py": RIGHT.rstrip("\n")}, True),
        ({"shop/cart.py": WRONG + "# \u00e9\u2028\n"}, False),
        # A new module, and the whole text of one that the task does not name.
        (
            {
                "shop/cart.py": RIGHT.replace("shop.money", "shop.coins").replace("max(prices)", "top(prices)")
                + "\nfrom shop.coins import top\n",
                "shop/coins.py": MONEY + "\n\ndef top(prices):\n    return max(prices)\n",
                "shop/money.py": "",
            },
            True,
        ),
        ({"shop/cart.py": None}, False),
    ],
)  # fmt: skip
def test_what_was_done_to_the_files_is_judged(
    tmp_path: Path, verifier: Any, form: str, changes: dict[str, str | None], passed: bool
) -> None:
    task = project_task(tmp_path, form)
    before = tree_of(task)
    after = {**before, **{path: text.encode() for path, text in changes.items() if text is not None}}
    after = {path: data for path, data in after.items() if changes.get(path, "") is not None}
    answer = edit_from(task, before, after)
    verdict = verifier.submit(task, answer).result()
    assert verdict.outcome is (Outcome.PASSED if passed else Outcome.FAILED), verdict.detail


def test_a_renamed_file_is_said_to_be_renamed(tmp_path: Path, verifier: Any) -> None:
    files = {"shop/cart.py": WRONG, "shop/money.py": MONEY}
    task = project_task(tmp_path, files=files)
    before = tree_of(task)
    after = {
        **before,
        "shop/cash.py": MONEY.encode(),
        "shop/cart.py": RIGHT.replace("money", "cash").encode(),
    }
    del after["shop/money.py"]
    answer = edit_from(task, before, after)
    assert "rename from shop/money.py\nrename to shop/cash.py\n" in answer
    assert verifier.submit(task, answer).result().passed


def test_changes_of_tests_and_settings_are_undone(tmp_path: Path, verifier: Any) -> None:
    task = project_task(tmp_path)
    before = tree_of(task)
    forged = {
        "tests/conftest.py": PASS_ALL, "conftest.py": PASS_ALL, "shop/conftest.py": PASS_ALL,
        "tests/test_public.py": b"def test_dearest():\n    pass\n", "tests/test_hidden.py": b"def test_other(): pass\n",
        "pytest.ini": b"[pytest]\naddopts = -p evil\n", "setup.cfg": b"[tool:pytest]\n", "sitecustomize.py": b"1/0\n",
        "random.py": b"1/0\n", "pytest.py": b"1/0\n", ".hidden/a.py": b"1/0\n", "__pycache__/cart.pyc": b"x",
        "target/debug/x.rs": b"x", "a\nb.py": b"x", "logo.bin": b"\x00other", "shop/x.so": b"x",
        "new.bin": b"\xff\xfe\x00",
    }  # fmt: skip
    assert edit_from(task, before, {**before, **forged}) == ""
    gone = {
        path: data for path, data in before.items() if not path.startswith("tests/") and path != "README.md"
    }
    assert edit_from(task, before, gone) == ""
    right = {**before, "shop/cart.py": RIGHT.encode()}
    answer = edit_from(task, before, {**right, **forged})
    assert answer == edit_from(task, before, right)
    assert verifier.submit(task, answer).result().passed
    nothing = verifier.submit(task, "").result()
    assert nothing.outcome is Outcome.NO_ANSWER


def test_the_answer_of_a_single_file_is_about_that_file(verifier: Any) -> None:
    judge = CasesCheck(entry_point="f", cases=[Case(args=[2], expected=4), Case(args=[3], expected=6)])
    check = EditCheck(
        format="search-replace",
        files={"solution.py": "def f(x):\n    return x\n", "other.py": "x\n"},
        judge=judge,
        path="solution.py",
    )
    task = Task(statement="Double.", check=check)
    before = tree_of(task)
    after = {
        **before,
        "solution.py": b"def f(x):\n    return 2 * x\n",
        "other.py": b"y\n",
        "scratch.py": b"z\n",
    }
    assert verifier.submit(task, edit_from(task, before, after)).result().passed


def test_a_task_that_asks_for_code_is_one_file(verifier: Any) -> None:
    check = CasesCheck(entry_point="f", cases=[Case(args=[2], expected=4)])
    task = Task(statement="Double.", signature="def f(x: int) -> int:", check=check)
    assert tree_of(task) == {"solution.py": b"def f(x: int) -> int:\n    ...\n"}
    answer = edit_from(task, tree_of(task), {"solution.py": b"def f(x):\n    return x + x\n", "a.py": b""})
    assert verifier.submit(task, answer).result().passed
    assert edit_from(task, tree_of(task), {}) == ""
    label = Task(statement="Which?", check=LabelCheck(choices=["a", "b"], expected="a"))
    with pytest.raises(UserError, match="has no files: its answer is a label"):
        tree_of(label)


LINES = st.lists(
    st.sampled_from(
        ["a", "b", "", "  c", "\td", "</think>x", "é\u2028", "x\r", "```", "<<<<<<< SEARCH", "+", "-", "@@"]
    )
)
FILE = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@pytest.mark.unit
@pytest.mark.parametrize("form", WHOLE)
@given(
    before=st.dictionaries(st.sampled_from(["a.py", "p/b.py", "p/c d.txt"]), FILE, min_size=1),
    after=st.dictionaries(st.sampled_from(["a.py", "p/b.py", "p/c d.txt"]), FILE),
)
def test_an_answer_makes_the_files_that_were_left(
    form: str, before: dict[str, str], after: dict[str, str]
) -> None:
    """Of the files that the task names; without a judge no others count."""
    after = {path: text for path, text in after.items() if path in before}
    task = Task(statement="x", check=EditCheck(format=form, files=before, oracle={"a.py": "y"}))
    answer = edit_from(task, tree_of(task), {path: text.encode() for path, text in after.items()})
    if before == after:
        assert answer == ""
    else:
        assert apply_answer(answer, before, form) == after
