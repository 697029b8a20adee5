"""The tests of a task as pairs of hashes, what goes in and what must come out, and what two tasks' tests say together.

Tests of one input and different outputs speak against two tasks being one. Equal outputs speak for it as far as they
could have differed: bits are those of the empirical distribution of the outputs (Shannon, 1948), so that five tests
which all expect `True` say nothing.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from math import log2
from typing import Any, NamedTuple

import numpy as np

from strop.code.near.hashes import Hashes, hash_text
from strop.core.checks import (
    AssertsCheck,
    CasesCheck,
    CommandCheck,
    LabelCheck,
    PytestCheck,
    RustCheck,
    StdioCheck,
    WorkspaceCheck,
)
from strop.core.ids import canonical_json
from strop.core.task import Task

MOST = 32
"""Tests of a task that are looked at: those with the smallest hashes, so that two tasks' samples meet."""
_RUST_TEST = re.compile(r"#\[test\]")


class Tests(NamedTuple):
    """Hashes of inputs, sorted, each once, and of the output that belongs to each; shape (tests,) both."""

    inputs: Hashes
    outputs: Hashes


class Agreement(NamedTuple):
    """What two tasks' tests say together."""

    shared: int
    """Inputs that both have."""
    agreeing: int
    """Those of them with equal outputs."""
    bits: float
    """How much the equal outputs tell."""
    share: float
    """Agreeing tests over those of the task that has fewer; 0 where one has none."""

    @property
    def contradict(self) -> bool:
        """Some input must give different outputs."""
        return self.agreeing < self.shared


def tests_of(task: Task) -> Tests:
    """The task's tests. Two outputs for one input: the first counts."""
    pairs: dict[int, int] = {}
    for given, expected in _pairs(task):
        pairs.setdefault(hash_text(given), hash_text(expected))
    kept = sorted(pairs)[:MOST]
    return Tests(np.array(kept, np.uint64), np.array([pairs[key] for key in kept], np.uint64))


def agreement(a: Tests, b: Tests) -> Agreement:
    """What the tests of two tasks say together."""
    _, at_a, at_b = np.intersect1d(a.inputs, b.inputs, assume_unique=True, return_indices=True)
    equal = a.outputs[at_a] == b.outputs[at_b]
    outputs = a.outputs[at_a][equal].tolist()
    fewer = min(len(a.inputs), len(b.inputs))
    return Agreement(len(at_a), len(outputs), _bits(outputs), len(outputs) / fewer if fewer else 0.0)


def _bits(outputs: list[int]) -> float:
    count = len(outputs)
    return sum(c * log2(count / c) for c in Counter(outputs).values())


def _pairs(task: Task) -> Iterator[tuple[str, str]]:
    check = task.check
    if isinstance(check, CasesCheck):
        for case in check.cases:
            given = [*case.args, case.kwargs] if case.kwargs else case.args
            yield _text(given), _text(case.expected)
    elif isinstance(check, StdioCheck):
        for one in check.cases:
            yield " ".join(one.stdin.split()), " ".join(one.stdout.split())
    elif isinstance(check, AssertsCheck):
        yield from _asserted(check)
    elif isinstance(check, RustCheck):
        for body in _RUST_TEST.split(check.tests)[1:]:
            yield " ".join(re.sub(r"\bfn\s+\w+", "fn", body).split()), ""
    elif isinstance(check, PytestCheck):
        yield from (
            (" ".join(text.split()), "") for name, text in check.files.items() if name.endswith(".py")
        )
    elif isinstance(check, CommandCheck):
        for step in check.steps:
            if step.stdout is not None:
                yield f"{step.argv}{' '.join(step.stdin.split())}", " ".join(step.stdout.split())
    elif isinstance(check, WorkspaceCheck):
        yield canonical_json([check.repository, check.commit, check.patch, check.files, check.failing]), ""
    else:
        assert isinstance(check, LabelCheck)  # says too little of a task to compare it by


def _text(value: Any) -> str:
    """One text for values that count as equal: tuples and lists, floats of nine equal digits, 1.0 and 1."""
    return repr(_settled(value))


def _settled(value: Any) -> Any:
    if type(value) in (int, str, bool):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else float(f"{value:.9g}")
    if isinstance(value, list | tuple):
        return [_settled(v) for v in value]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(map(repr, value))]
    if isinstance(value, dict):
        return [[_settled(k), _settled(v)] for k, v in sorted(value.items(), key=repr)]
    return value


def _asserted(check: AssertsCheck) -> Iterator[tuple[str, str]]:
    """`assert f(1) == 2` as the pair (arguments, 2); an assertion of another form as its own text."""
    try:
        tree = ast.parse(check.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield " ".join(check.code.split()), ""
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            try:
                yield _of_call(node.test, check.entry_point)
            except (ValueError, TypeError, SyntaxError, RecursionError):
                text = re.sub(
                    rf"\b(?:candidate|{re.escape(check.entry_point)})\b", "f", ast.unparse(node.test)
                )
                yield text, ""


def _of_call(test: ast.expr, entry_point: str) -> tuple[str, str]:
    """(arguments, expected). Raises ValueError for another form than `f(...) == literal` and its like."""
    expected: Any = True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, expected = test.operand, False
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
        expected = ast.literal_eval(test.comparators[0])
        test = test.left
    name = test.func.id if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) else ""
    if not isinstance(test, ast.Call) or name not in ("candidate", entry_point):
        raise ValueError("not a call of the answer")
    args: list[Any] = [ast.literal_eval(arg) for arg in test.args]
    if test.keywords:
        args.append({k.arg: ast.literal_eval(k.value) for k in test.keywords})
    return _text(args), _text(expected)
