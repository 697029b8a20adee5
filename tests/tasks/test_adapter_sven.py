"""SVEN: two tasks a row, balanced, kept together, with the row."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import needs

from strop.tasks.answers import answer_in
from strop.tasks.prompts import STYLES, render, solution
from strop.tasks.splits import assign_splits
from strop_tasks.formats.vulnerability import SAFE, changed_lines
from strop_tasks.formats.vulnerability import SVEN as ADAPTER
from strop_verify.core.checks import LabelCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.verification.label import LabelToolchain, label_of


def sample() -> list[dict[str, Any]]:
    return ADAPTER.sample()


def real() -> list[dict[str, Any]]:
    return [json.loads(line) for line in needs.data("sven.jsonl").read_text().splitlines()]


def tasks_of(rows: list[dict[str, Any]]) -> list[Task]:
    return [task for row in rows for task in ADAPTER.read(row, "x:1")]


def test_a_row_makes_two_tasks_that_hold_it() -> None:
    for row in (*sample(), *real()):
        pair = tasks_of([row])
        assert [task.id.rpartition("/")[2] for task in pair] == ["vulnerable", "fixed"] and ADAPTER.fits(row)
        for task, field in zip(
            pair, (("vulnerable", "func_src_before"), ("fixed", "func_src_after")), strict=True
        ):
            assert task.metadata["original"] == row
            code = row[field[0]] if field[0] in row else row[field[1]]
            assert code.rstrip() in task.statement and task.family == "vulnerability"
            assert all(0 <= a - 1 <= b <= code.count("\n") + 1 for a, b in task.metadata["lines"])


def test_labels_answer_both_questions() -> None:
    vulnerable, fixed = tasks_of(sample()[:1])
    assert isinstance(vulnerable.check, LabelCheck) and isinstance(fixed.check, LabelCheck)
    assert (vulnerable.check.expected, fixed.check.expected) == ("CWE-089", SAFE)
    assert vulnerable.check.choices == fixed.check.choices and SAFE in fixed.check.choices
    judge = LabelToolchain().judge
    assert [v.passed for v in judge([(t, t.reference) for t in (vulnerable, fixed)])] == [True, True]
    assert [v.passed for v in judge([(t, t.metadata["broken"]) for t in (vulnerable, fixed)])] == [
        False,
        False,
    ]


def test_fixed_and_random_answers_earn_chance() -> None:
    tasks = tasks_of(real())
    assert len({task.id for task in tasks}) == len(tasks)
    draw = random.Random(0)
    check = tasks[0].check
    assert isinstance(check, LabelCheck)

    def passed(answers: list[str]) -> list[bool]:
        return [v.passed for v in LabelToolchain().judge(list(zip(tasks, answers, strict=True)))]

    assert all(passed([task.reference for task in tasks]))
    assert not any(passed([task.metadata["broken"] for task in tasks]))
    for choice in check.choices:
        rights = passed([f"Answer: {choice}"] * len(tasks))
        assert sum(rights) <= len(tasks) / 2
        assert not any(a and b for a, b in zip(rights[::2], rights[1::2], strict=True))  # never a whole pair
    assert sum(passed([f"Answer: {draw.choice(check.choices)}" for _ in tasks])) < 0.2 * len(tasks)
    assert not any(passed(["\n".join(f"Answer: {c}" for c in check.choices)] * len(tasks)))


def test_pairs_stay_on_one_side() -> None:
    tasks = assign_splits(tasks_of(real()[:60]), seed=3)
    sides: dict[str, set[Any]] = {}
    for task in tasks:
        sides.setdefault(task.metadata["pair"], set()).add(task.split)
    assert all(len(found) == 1 for found in sides.values())
    assert {side for found in sides.values() for side in found} == {"train", "held-out"}


@pytest.mark.parametrize("style", STYLES)
def test_prompts_lead_to_the_label(style: str) -> None:
    for task in tasks_of(sample()):
        prompt = render(task, style)
        text = prompt.messages[-1].content if prompt.messages else prompt.text
        assert isinstance(task.check, LabelCheck)
        assert all(choice in text for choice in task.check.choices) and task.statement in text
        assert text == text.rstrip()
        answer = prompt.assemble(solution(task, prompt))
        assert label_of(answer, task.check.choices)[0] == task.check.expected


def test_an_answer_that_quotes_code_keeps_its_label() -> None:
    task = tasks_of(sample()[1:])[0]
    said = "<think>hm\nAnswer: safe</think>\nHere:\n```c\nreturn text[n];\n```\n\n**Answer:** CWE-125"
    assert label_of(answer_in(said, task), ["safe", "CWE-125"])[0] == "CWE-125"
    assert label_of(render(task, "chat").assemble(said), ["safe", "CWE-125"])[0] == "CWE-125"


def test_code_cannot_close_its_block() -> None:
    row = {**sample()[0], "vulnerable": 'x = """\n```\nAnswer: safe\n````\n"""\n'}
    statement = tasks_of([row])[0].statement
    assert statement.split("\n")[2] == "`````python" and statement.endswith("\n`````")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cwe": "CWE-1"}, "field 'cwe' is 'CWE-1', not one of CWE-022"),
        ({"cwe": None}, "field 'cwe' must hold text"),
        ({"language": "cobol"}, "language 'cobol' is not in the set"),
        ({"fixed": ["a"]}, "field 'fixed' must hold text, not list"),
    ],
)
def test_bad_rows_are_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=r"^x:1: .*") as caught:
        tasks_of([sample()[0] | change])
    assert message in str(caught.value) and "\n" not in str(caught.value)


_LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8).map("\n".join)


@given(_LINES, _LINES)
def test_what_is_not_changed_is_the_same(before: str, after: str) -> None:
    rest = []
    for text, ranges in zip((before, after), changed_lines(before, after), strict=True):
        gone = {number for first, last in ranges for number in range(first, last + 1)}
        rest.append([line for number, line in enumerate(text.split("\n"), 1) if number not in gone])
    assert rest[0] == rest[1]
    assert (changed_lines(before, after) == ([], [])) == (before == after)
