"""Next edits in the forms of Zed and of Sweep: where the cursor is, what changes, and how an answer is scored."""

from typing import Any

import pytest

from strop.tasks.adapters import ADAPTERS
from strop.tasks.comparison import NextEditToolchain, line_agreement
from strop.tasks.formats import tasks_of
from strop.tasks.next_edit import prompt_of
from strop_verify.core.checks import NextEditCheck, PastEdit
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

CURSOR, START, END = "<|user_cursor_is_here|>", "<|editable_region_start|>", "<|editable_region_end|>"


def read(name: str, row: dict[str, Any]) -> tuple[list[Task], list[str]]:
    lines: list[str] = []
    return list(tasks_of(ADAPTERS[name], [("here:1", row)], lines.append)), lines


def samples(name: str) -> list[NextEditCheck]:
    return [task.check.only(NextEditCheck) for row in ADAPTERS[name].sample() for task in read(name, row)[0]]


def judged(task: Task, answer: str) -> Verdict:
    return NextEditToolchain().judge([(task, answer)])[0]


def test_zeta_rows() -> None:
    edit, silent = samples("zeta")
    assert (edit.path, edit.window[edit.cursor]) == ("shop/cart.py", "        found += price")
    assert edit.window[:3] == ["import json", "", ""] and edit.window[-1] == "    return {}"
    assert [line for line in edit.next if line not in edit.window] == ["        found += price * (1 + tax)"]
    assert edit.goal == edit.next and edit.history == [
        PastEdit(path="shop/cart.py", old=["def total(prices):"], new=["def total(prices, tax):"])
    ]
    assert not silent.due and silent.window == ["let done = true;", "print(done);"] and silent.history == []
    assert not any(
        mark in line for mark in (CURSOR, START, END, "<|start_of_file|>") for line in silent.window
    )


def test_sweep_rows() -> None:
    first, second, silent = samples("sweep-next-edit")
    assert first.history == [
        PastEdit(path="shop/cart.py", old=["def total(prices):"], new=["def total(prices, tax):"])
    ]
    assert first.cursor == 0 and first.next[-1] == "    return found * (1 + tax)"  # where it was edited last
    assert (second.first, second.cursor, second.path) == (40, 0, "src/app.ts")
    assert second.history == [PastEdit(path="src/app.ts", old=[], new=["let count = 0;"])]
    assert second.window == ["let count = 0;", "start();", "stop();"]
    assert second.next == ["let count = 0;", "start(count);", "stop();"]
    assert not silent.due and silent.cursor == 1


@pytest.mark.parametrize("name", ["zeta", "sweep-next-edit"])
def test_the_reference_is_exact_and_silence_is_right_where_nothing_changes(name: str) -> None:
    for row in ADAPTERS[name].sample():
        ((task,), lines) = read(name, row)
        assert not lines and prompt_of(task).text == task.statement
        verdict, due = judged(task, task.reference), task.check.only(NextEditCheck).due
        assert verdict.passed and verdict.numbers["exact"] == verdict.numbers["lines"] == float(due)
        assert verdict.numbers["shown"] == float(due)


LONG = [f"line {n}" for n in range(60)]


def zeta(before: str, after: str, path: str = "a.py") -> dict[str, Any]:
    """A row whose region is the whole excerpt."""
    told = {"input": before, "output": after}
    return {"events": ""} | {
        name: f"```{path}\n{START}\n{region}\n{END}\n```" for name, region in told.items()
    }


def test_an_edit_far_from_the_cursor_is_left_out() -> None:
    here = [*LONG[:20], f"{LONG[20]}{CURSOR}", *LONG[21:]]
    tasks, lines = read("zeta", zeta("\n".join(here), "\n".join([*LONG[:37], "changed", *LONG[38:]])))
    assert len(tasks) == 1 and not lines
    check = tasks[0].check.only(NextEditCheck)
    assert (check.window, check.first, check.cursor) == (LONG[12:38], 13, 8)
    assert check.next == [*LONG[12:37], "changed"]
    tasks, lines = read("zeta", zeta("\n".join(here), "\n".join([*LONG[:38], "changed", *LONG[39:]])))
    assert not tasks and lines == ["here:1: its edit is not within the 26 lines around the cursor: left out"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (zeta("a", "b"), "field 'input' must hold <|user_cursor_is_here|> once"),
        ({**zeta(f"a{CURSOR}", "b"), "output": "b"}, "field 'output' needs one editable region"),
        (
            {**zeta(f"a{CURSOR}", "b"), "input": f"{START}\na{CURSOR}\n{END}"},
            "in a fence that opens with its path",
        ),
        (zeta(f"a{CURSOR}\n{START}", "b"), "field 'input' needs one editable region"),
    ],
)
def test_a_row_that_is_not_zetas_is_refused_by_name(row: dict[str, Any], said: str) -> None:
    tasks, (line,) = read("zeta", row)
    assert not tasks and said in line


TRIAD = "<|file_sep|>original/a.py\nx\n<|file_sep|>current/a.py\nx\n<|file_sep|>updated/a.py\n"


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("<|file_sep|>current/a.py\nx\n<|file_sep|>updated/a.py\n", "must end with the sections original/"),
        (f"<|file_sep|>a.py.diff\noriginal:\nx\nupdated:\ny\nupdated:\nz\n{TRIAD}", "each once"),
        (f"<|file_sep|>a.py.diff\n-x\n+y\n{TRIAD}", "a.py.diff must hold `original:` and `updated:`"),
    ],
)
def test_a_prompt_that_is_not_sweeps_is_refused_by_name(prompt: str, said: str) -> None:
    tasks, (line,) = read("sweep-next-edit", {"prompt": prompt, "completion": "x"})
    assert not tasks and said in line


def test_a_line_that_ends_in_a_word_of_the_form_is_code() -> None:
    block = "<|file_sep|>a.py.diff\noriginal:\n# last updated:\nupdated:\n# last updated: now\n"
    ((task,), _) = read("sweep-next-edit", {"prompt": block + TRIAD, "completion": "y"})
    (edit,) = task.check.only(NextEditCheck).history
    assert (edit.old, edit.new) == (["# last updated:"], ["# last updated: now"])


def test_lines_are_counted_as_bags() -> None:
    check = NextEditCheck(path="a", window=["a", "b", "c"], cursor=0, next=["a", "x", "y", "c"], goal=[])
    for after, agreed in (
        (["a", "x", "y", "c"], 1.0),
        (["a", "x  ", "y", "c"], 1.0),  # white space at ends does not count
        (["a", "x", "c"], 4 / 5),  # -b +x of -b +x +y
        (["a", "b", "c", "x"], 2 / 4),  # +x
        (["a", "c"], 2 / 4),
        (["a", "b", "c"], 0.0),
        (["z", "b", "c"], 0.0),
    ):
        assert line_agreement(check, after) == pytest.approx(agreed)
