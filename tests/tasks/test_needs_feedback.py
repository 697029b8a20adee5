"""`needs-feedback`: its ceiling is right, and one failure tells what the statement leaves out."""

import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from strop.tasks.public_tests import public_task
from strop.tasks.sources import load_tasks
from strop.tasks.templates import values
from strop_tasks.generators.needs_feedback import generate, load, task_of
from strop_tasks.generators.needs_feedback.kinds import KINDS, FactKind
from strop_verify.core.checks import CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


def results(program: str, function: str, task: Task) -> list[Any]:
    names: dict[str, Any] = {}
    exec(program, names)
    return [names[function](*case.args) for case in task.check.only(CasesCheck).cases]


def expected(task: Task) -> list[Any]:
    return [case.expected for case in task.check.only(CasesCheck).cases]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_option_passes_its_own_tests_alone(kind: FactKind) -> None:
    """So no answer passes the public test of two options: none can be right more often than once in K."""
    programs = [kind.program("f", option) for option in kind.options]
    assert 6 <= len(programs) <= 10
    for number in range(12):
        task = task_of(kind, "Statement.", "f", random.Random(number))
        public, checks = public_task(task), len(expected(task))
        assert len(expected(public)) == 1 and checks >= 5
        right = [program for program in programs if results(program, "f", task) == expected(task)]
        assert right == [task.reference]
        told = {repr(results(program, "f", public)) for program in programs}
        assert len(told) == len(programs), "one expected value names the option"
        wrong = task.metadata["wrong"]
        assert {*wrong, task.reference} == {*programs} and task.reference not in wrong
        assert task.metadata["ceiling"] == 1 / task.metadata["options"] == 1 / len(programs)


def test_there_are_twenty_kinds_and_every_option_is_as_likely() -> None:
    assert len({kind.name for kind in KINDS}) >= 20
    drawn: defaultdict[str, Counter[str]] = defaultdict(Counter)
    kinds = {kind.name: kind for kind in KINDS}
    for seed in range(4):
        for task in generate(3000, seed=seed):
            drawn[task.topic][task.reference.partition("return ")[2]] += 1
    for name, counts in drawn.items():
        options, total = len(kinds[name].options), counts.total()
        assert len(counts) == options
        assert max(counts.values()) < 1.6 * total / options and min(counts.values()) > 0.5 * total / options


def test_nothing_that_is_shown_tells_the_option() -> None:
    """A statement that is drawn twice has the same option as often as chance has it, and the prompt shows no test."""
    by_statement: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for seed in range(12):
        for task in generate(300, seed=seed):
            shown = values(task)
            assert not shown["examples"] and not shown["tests"]
            by_statement[task.statement, task.signature].append(task.reference)
    pairs = [found[:2] for found in by_statement.values() if len(found) > 1]
    same = sum(first == second for first, second in pairs) / len(pairs)
    assert len(pairs) > 300 and 0.06 < same < 0.22  # 1 / 8, of some kinds 1 / 6


def test_sides_share_no_statement_whatever_the_seed() -> None:
    side: dict[tuple[str, str], str] = {}
    for seed in range(3):
        tasks = list(generate(900, seed=seed))
        assert len({task.id for task in tasks}) == len({task.statement for task in tasks}) == 900
        for task in tasks:
            assert side.setdefault((task.statement, task.signature), str(task.split)) == task.split
    assert 0.15 < sum(split == "held-out" for split in side.values()) / len(side) < 0.35


def test_the_source() -> None:
    few = load_tasks("needs-feedback:40@3")
    assert few == list(generate(40, seed=3)) == list(generate(60, seed=3))[:40]
    assert len(list(load(""))) == 600
    for bad in ("0", "x", "40@", "9999999"):
        with pytest.raises(UserError, match="needs-feedback"):
            list(load(bad))
