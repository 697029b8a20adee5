"""Functions whose statement omits one fact, which only feedback reveals: `needs-feedback`.

A *kind* has K equally likely options for the fact (kinds.py). A task's option is drawn independently of everything in
its statement, so no single answer passes more often than 1 in K.

Tasks are split by a hash of the statement and the function's name, so no statement is on both sides with any seed.
Since options are independent, nothing learnt from other tasks reveals a held-out task's option.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from strop.tasks.rows import counted
from strop_tasks.generators.needs_feedback.kinds import KINDS, PLACES, Arguments, FactKind
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.ids import rng, unit_interval
from strop_verify.core.task import Task

NAME = "needs-feedback"
DEFAULT_COUNT = 600
HELD_OUT = 0.25
"""Share of the statements that are held out."""
HIDDEN = 5
"""Hidden tests of a task, besides the public one."""
_DRAWS = 200
"""Maximum number of times that arguments are drawn for one task."""


def load(rest: str = "") -> Iterator[Task]:
    """Functions whose statement omits one fact: `COUNT[@SEED]`, "" for the default count. Raises UserError."""
    count, seed = counted(NAME, rest, DEFAULT_COUNT, sum(len(k.statements) for k in KINDS) * len(PLACES))
    return generate(count, seed=seed)


def generate(count: int, *, seed: int = 0) -> Iterator[Task]:
    """Tasks with distinct statements, every kind about equally often; a smaller count gives a prefix."""
    left = {kind.name: _shuffled(kind, seed) for kind in KINDS}
    made = 0
    while made < count:
        for kind in KINDS:
            if made < count and left[kind.name]:
                yield task_of(kind, *left[kind.name].pop(), rng(NAME, seed, kind.name, len(left[kind.name])))
                made += 1


def task_of(kind: FactKind, statement: str, function: str, r: Random) -> Task:
    """A task of a kind: `r` draws the option and the tests."""
    chosen = r.randrange(len(kind.options))
    programs = [kind.program(function, option) for option in kind.options]
    reference = programs.pop(chosen)
    return Task(
        statement=statement,
        signature=kind.signature(function),
        reference=reference,
        check=CasesCheck(entry_point=function, cases=_cases(kind, function, reference, r)),
        topic=kind.name,
        split="held-out" if unit_interval(NAME, statement, function) < HELD_OUT else "train",
        source=f"{NAME}/{kind.name}",
        metadata={
            "public_tests": [0],
            "wrong": programs,
            "options": len(kind.options),
            "ceiling": 1 / len(kind.options),
        },
    )


def _shuffled(kind: FactKind, seed: int) -> list[tuple[str, str]]:
    """Every statement once, each with a name of the function."""
    r = rng(NAME, seed, kind.name)
    found = [
        (text.format(place=place), r.choice(kind.functions)) for text in kind.statements for place in PLACES
    ]
    r.shuffle(found)
    return found


def _cases(kind: FactKind, function: str, reference: str, r: Random) -> list[Case]:
    """The public test, then the others, without repeated arguments."""
    names: dict[str, Any] = {}
    exec(compile(reference, "<reference>", "exec"), names)
    found: dict[str, Case] = {}
    draws: list[Arguments] = [(kind.public or kind.draw)(r)]
    for _ in range(_DRAWS):
        args = draws.pop() if draws else kind.draw(r)
        found.setdefault(repr(args), Case(args=args, expected=names[function](*args)))
        if len(found) > HIDDEN:
            break
    return list(found.values())
