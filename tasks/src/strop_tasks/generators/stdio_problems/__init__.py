"""Generates tasks that ask for a program on standard input and output: `stdio-problems`.

A *kind* is a problem with parameters (topics/*.py); an instance is a kind, its parameters, a phrasing and tests, all
drawn from (seed, index). Expected outputs are what the reference program prints.

Tasks are split by a hash of kind and parameters, so no problem is on both sides with any seed, phrasing or tests.
Held-out problems have the kinds of the training problems with other parameters, which measures whether a kind was
learnt. With `/kinds`, whole kinds of every level are held out, which measures transfer to new kinds.
"""

import builtins
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

from strop.tasks.rows import counted
from strop_tasks.generators.stdio_problems.kind import Problem, ProblemKind, all_kinds
from strop_verify.core.checks import StdioCase, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.ids import canonical_json, content_hash, rng, unit_interval
from strop_verify.core.task import Split, Task

NAME = "stdio-problems"
DEFAULT_COUNT = 1000
MOST = 1_000_000
"""Largest COUNT that `load` accepts."""
HELD_OUT = 0.2
"""Share of the problems, or of each level's kinds, that is held out."""
TESTS = 12
"""Tests of a task; more if its kind's edges leave no room for drawn inputs."""
SHOWN = 2
_DRAWS = 60
"""Maximum number of inputs to draw for one task."""
_TRIES = 30
"""A kind counts as exhausted after this many consecutive draws without a new problem."""


def load(rest: str = "") -> Iterator[Task]:
    """Programs on standard input and output: `COUNT[@SEED][/kinds]`, "" for the default count. Raises UserError."""
    count, seed = counted(NAME, rest.removesuffix("/kinds"), DEFAULT_COUNT, MOST)
    return generate(count, seed=seed, whole_kinds=rest.endswith("/kinds"))


def generate(count: int, *, seed: int = 0, whole_kinds: bool = False) -> Iterator[Task]:
    """Distinct problems, every kind about equally often; a smaller count gives a prefix. Raises UserError for too many.

    whole_kinds  hold out whole kinds, not problems
    """
    open_kinds, made, index = list(all_kinds()), 0, 0
    away = _held_out_kinds() if whole_kinds else None
    seen: set[str] = set()
    turn: list[ProblemKind] = []
    while made < count:
        if not turn:
            turn = list(open_kinds)
            rng(NAME, seed, index).shuffle(turn)
        if not turn:
            raise UserError(
                f"{NAME} has only {made} distinct problems for seed {seed}, not {count}; ask for fewer"
            )
        chosen = turn.pop()
        task = _fresh(chosen, seed, index, seen, away)
        index += 1
        if task is None:
            open_kinds.remove(chosen)
            continue
        made += 1
        yield task


def _fresh(
    kind: ProblemKind, seed: int, index: int, seen: set[str], away: frozenset[str] | None
) -> Task | None:
    """A new task of the kind; None if the kind is exhausted."""
    for attempt in range(_TRIES):
        r = rng(NAME, seed, index, attempt)
        problem = kind.make(r)
        key = content_hash([kind.name, canonical_json(problem.parameters)])
        if key in seen:
            continue
        seen.add(key)
        held_out = unit_interval(NAME, key) < HELD_OUT if away is None else kind.name in away
        task = task_of(kind, problem, r, "held-out" if held_out else "train")
        tests = content_hash(task.check.model_dump())
        if not seen & {tests, task.statement}:
            seen |= {tests, task.statement}
            return task
    return None


def task_of(kind: ProblemKind, problem: Problem, r: Random, split: Split | None = None) -> Task:
    """The task of a problem: `r` draws the phrasing and the tests."""
    return Task(
        family="program",
        statement=r.choice(problem.statements),
        reference=problem.program,
        check=StdioCheck(cases=cases_of(problem, r)),
        topic=kind.topic,
        level=kind.level,
        split=split,
        source=f"{NAME}/{kind.name}",
        metadata={"kind": kind.name, "parameters": problem.parameters},
    )


def cases_of(problem: Problem, r: Random) -> list[StdioCase]:
    """Shown cases with different outputs, then hidden ones: the edges and drawn inputs, without repeated inputs.

    If the inputs allow it, no output is shared by more than half of the tests, so a constant answer clearly fails.
    """
    run = compiled(problem.program)
    edges = {stdin: run(stdin) for stdin in problem.edges}
    drawn: dict[str, str] = {}
    often = Counter(edges.values())
    wanted = max(TESTS, len(edges) + SHOWN + 2)
    for draw in range(_DRAWS):
        stdin = problem.draw(r)
        if stdin in edges or stdin in drawn:
            continue
        stdout = run(stdin)
        if often[stdout] >= wanted // 2 and draw < _DRAWS - TESTS:
            continue
        often[stdout] += 1
        drawn[stdin] = stdout
        if len(edges) + len(drawn) >= wanted:
            break
    first: dict[str, str] = {}
    for stdin, stdout in drawn.items():
        first.setdefault(stdout, stdin)
    shown = list(first.values())[:SHOWN]
    hidden = {**edges, **{stdin: out for stdin, out in drawn.items() if stdin not in shown}}
    return [
        *(StdioCase(stdin=stdin, stdout=drawn[stdin], shown=True) for stdin in shown),
        *(StdioCase(stdin=stdin, stdout=stdout) for stdin, stdout in hidden.items()),
    ]


def _held_out_kinds() -> frozenset[str]:
    """Names of the kinds that `/kinds` holds out: about the same share of every level, at least one."""
    away: set[str] = set()
    for level in sorted({kind.level for kind in all_kinds()}):
        names = [kind.name for kind in all_kinds() if kind.level == level]
        names.sort(key=lambda name: unit_interval(NAME, "kind", name))
        away |= set(names[: max(1, round(HELD_OUT * len(names)))])
    return frozenset(away)


def compiled(program: str) -> Callable[[str], str]:
    """A function from the program's input to its output, which raises the program's errors. Raises SyntaxError at once.

    Each run has its own `input`, `print` and `sys`, so that it is thread-safe. The program must not exit early.
    """
    return partial(_run, compile(program, "<reference>", "exec"))


def _run(code: CodeType, stdin: str) -> str:
    reader, writer = io.StringIO(stdin), io.StringIO()

    def read_line(prompt: str = "") -> str:
        line = reader.readline()
        if not line:
            raise EOFError
        return line.removesuffix("\n")

    def load(name: str, *rest: Any) -> ModuleType | SimpleNamespace:
        return own_sys if name == "sys" else __import__(name, *rest)

    own_sys = SimpleNamespace(
        stdin=reader, stdout=writer, maxsize=sys.maxsize, setrecursionlimit=lambda limit: None
    )
    own = {"input": read_line, "print": partial(print, file=writer), "__import__": load}
    exec(code, {"__name__": "__main__", "__builtins__": {**vars(builtins), **own}})
    return writer.getvalue()
