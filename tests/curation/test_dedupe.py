"""Step `dedupe`: what is one task, what is not, which one stays."""

import random

import pytest

from strop_tasks.curation.pipeline.step import Context, Dropped
from strop_tasks.curation.similar.evidence import DedupeConfig
from strop_tasks.curation.steps.dedupe import Dedupe
from strop_verify.core.checks import Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.task import Task

ASKED = "Given a list of integers, return the sum of all those that are greater than {k}, or {k} if there are none."
CODE = """def total_above(numbers):
    total = 0
    found = False
    for number in numbers:
        if number > {k}:
            total += number
            found = True
    return total if found else {k}
"""
RENAMED = """import sys

def solve(xs: list[int]) -> int:
    \"\"\"Adds them up.\"\"\"
    acc: int = 0
    seen = False   # nothing yet
    for x in xs:
        if (x > {k}):
            acc = acc + x
            seen = True
    return (acc if seen
            else {k})
"""


def one(
    name: str, k: int = 5, code: str = CODE, asked: str = ASKED, tests: int = 8, seed: int = 0, **more
) -> Task:
    numbers = random.Random(seed)
    space: dict = {}
    exec(CODE.format(k=k), space)
    cases = []
    for _ in range(tests):
        given = [numbers.randint(-9, 20) for _ in range(6)]
        cases.append(Case(args=[given], expected=space["total_above"](given)))
    return Task(
        id=name,
        statement=asked.format(k=k),
        reference=code.format(k=k),
        check=CasesCheck(entry_point="f", cases=cases),
        **more,
    )


def dedupe(tmp_path, *tasks: Task, **settings) -> dict[str, Dropped]:
    """What is dropped, by id; every task comes out once, in order."""
    context = Context(seed=0, folder=tmp_path)
    out = list(Dedupe(DedupeConfig(**settings)).run(lambda: iter(tasks), context))
    assert [o.task_id if isinstance(o, Dropped) else o.id for o in out] == [t.id for t in tasks]
    return {o.task_id: o for o in out if isinstance(o, Dropped)}


def test_the_same_task_in_other_clothes_is_found_and_the_one_with_most_tests_stays(tmp_path) -> None:
    other = "Add up the values above {k}. The answer for a list without any such value is {k} itself."
    gone = dedupe(
        tmp_path,
        one("copy", tests=6),
        one("base", tests=9),
        one("renamed", code=RENAMED, asked=other, seed=1),
        one(
            "paraphrase",
            asked=other,
            code="def f(v):\n    w = [n for n in v if n > {k}]\n    return sum(w) or {k}\n",
        ),
    )
    assert set(gone) == {"copy", "renamed", "paraphrase"}
    assert all(d.detail.endswith("like base") for d in gone.values())
    assert gone["copy"].reason == "same statement"
    assert gone["renamed"].reason == "same code"
    assert gone["paraphrase"].reason == "same tests"


def test_tasks_of_one_pattern_stay(tmp_path) -> None:
    tasks = [one(f"k{k}", k=k, seed=k % 2) for k in range(20)]
    assert dedupe(tmp_path, *tasks) == {}


def test_the_same_words_with_contradicting_tests_are_two_tasks(tmp_path) -> None:
    a, b = one("a"), one("b")
    cases = [c.model_copy(update={"expected": c.expected + 1}) for c in b.check.cases]
    b = b.model_copy(update={"check": b.check.model_copy(update={"cases": cases})})
    assert dedupe(tmp_path, a, b) == {}


def test_short_statements_and_tiny_solutions_are_not_joined_by_chance(tmp_path) -> None:
    tasks = [
        Task(id=f"t{n}", statement="Solve it." if n else "Do.", reference=f"def f(x):\n    return x{op}\n",
             check=CasesCheck(entry_point="f", cases=[Case(args=[n * 10 + i], expected=n) for i in range(6)]))
        for n, op in enumerate(["", "", "[0]", " + 1", ".strip()"])
    ]  # fmt: skip
    assert dedupe(tmp_path, *tasks) == {}


def test_tests_that_tell_nothing_join_nothing(tmp_path) -> None:
    def yes(name: str, words: str) -> Task:
        cases = [StdioCase(stdin=str(i), stdout="YES") for i in range(9)]
        return Task(id=name, statement=words, reference=f"print('{name}')", check=StdioCheck(cases=cases))

    assert (
        dedupe(tmp_path, yes("a", "Is it a number of some kind?"), yes("b", "Can the two players draw?"))
        == {}
    )


def test_a_statement_with_small_edits_is_a_duplicate_where_no_solution_speaks_against_it(tmp_path) -> None:
    words = ASKED * 3
    a = one("a", asked=words).model_copy(update={"reference": ""})
    b = one("b", asked=words.replace("return the sum", "compute the sum", 1), seed=3)
    assert dedupe(tmp_path, a, b)["b"].reason == "near statement"
    assert dedupe(tmp_path, a, b, by=["statement", "code"]) == {}


def test_what_is_said_with_other_examples_and_small_words_is_one_task(tmp_path) -> None:
    """As MBPP/217 and 602, 309 and 924, 178 and 186; 102 and 965, 48 and 235 are no such pairs."""

    def said(name: str, words: str, given: int) -> Task:
        check = CasesCheck(entry_point="f", cases=[Case(args=[given + n], expected=n) for n in range(3)])
        code = f"def f(x):\n    {name} = [x, x{' + x' * len(name)}]\n    return sorted({name})[0]\n"
        return Task(id=name, statement=f"{words}\n>>> f({given})\n0", reference=code, check=check)

    repeated = "Write a python function to find the first repeated character in a given string."
    snake = "Write a function to convert snake case string to camel case string."
    odd = "Write a python function to set all odd bits of a given number."
    gone = dedupe(
        tmp_path,
        said("a", repeated, 10),
        said("bb", repeated, 20),
        said("ccc", "Write a python function to find the maximum of two numbers.", 30),
        said("dddd", "Write a function to find maximum of two numbers.", 40),
        said("e", "Write a function to search some literals strings in a string.", 50),
        said("ff", "Write a function to search some literals strings in a string by using regex.", 60),
        said("g", snake, 70),
        said("hh", snake.replace("snake", "CAMEL").replace("camel", "snake").replace("CAMEL", "camel"), 80),
        said("iii", odd, 90),
        said("jjjj", odd.replace("odd", "even"), 100),
    )
    assert {name: d.detail.split()[-1] for name, d in gone.items()} == {"bb": "a", "dddd": "ccc", "ff": "e"}


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="below threshold"):
        DedupeConfig(threshold=0.9, sure=0.5)
    with pytest.raises(ValueError, match="nothing to compare"):
        DedupeConfig(by=[])
