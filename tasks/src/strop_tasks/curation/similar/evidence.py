"""Decides whether two tasks are duplicates: evidence for it, and evidence that rules it out.

For: the same words; the same solution except for names and layout; the same tests; a nearly identical statement.
Against: tests that contradict each other, different code to work on, solutions that differ only in a constant,
different numbers in the statement. Different tasks made from one template can be nearly identical in words and code, so
similarity short of equality counts only together with the tests, or without other evidence.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from strop_tasks.curation.similar.hashes import jaccard
from strop_tasks.curation.similar.minhash import near
from strop_tasks.curation.similar.table import Agreement, ComparedTask, TaskTable, agreement
from strop_verify.core.section import Complaint, Section

LEADERS = 8  # maximum different tasks with an equal key; further tasks are compared only with these


Kind = Literal["statement", "code", "tests", "near"]


class DedupeConfig(Section):
    """Settings of the step `dedupe`."""

    by: tuple[Kind, ...] = ("statement", "code", "tests", "near")
    """What to compare: equal statements, equal solutions, equal tests, near-duplicates of statements and solutions."""
    threshold: float = Field(default=0.8, gt=0, le=1)
    """Minimum Jaccard index of two statements' word n-grams for near-duplicates, if nothing else differs."""
    sure: float = Field(default=0.95, gt=0, le=1)
    """Minimum Jaccard index of the statements if the solutions differ and no tests are shared."""
    code: float = Field(default=0.85, gt=0, le=1)
    """Minimum Jaccard index of two solutions' label 4-grams for near-duplicates, if their tests agree."""
    tests: float = Field(default=0.6, gt=0, le=1)
    """Share of the smaller test set that the other task must have too."""
    words: int = Field(default=3, ge=1, le=20)
    """Words in an n-gram."""
    short: int = Field(default=6, ge=1)
    """Statements with fewer words are not sufficient evidence alone."""
    small: int = Field(default=45, ge=1)
    """Solutions with fewer labels (nodes of the syntax tree, tokens) than this are not sufficient evidence alone."""
    bits: float = Field(default=8.0, ge=0)
    """Bits of information that equal outputs must hold to be sufficient alone: eight tests with two equally frequent
    outputs hold 8, five tests with five outputs hold 11.6."""
    keep: Literal["most-tests", "first"] = "most-tests"
    """Which task to keep; the first one on ties."""
    permutations: int = Field(default=128, ge=16, le=1024)
    """Length of the MinHash signatures, 4 bytes per value and task; a power of two can be split into bands in the
    most ways."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that `sure` is not below `threshold`, and that something is compared."""
        if self.sure < self.threshold:
            yield "sure", f"{self.sure} is below threshold={self.threshold}: raise it"
        if not self.by:
            yield "by", "nothing to compare: name one or more of statement, code, tests, near"


class DuplicatePair(NamedTuple):
    """Two duplicate tasks by number, a < b, and the reason."""

    a: int
    b: int
    reason: str
    """The evidence: "same statement", "same code", "same tests", "near statement", "near code"."""
    similarity: float


def same_tasks(table: TaskTable, limits: DedupeConfig) -> Iterator[DuplicatePair]:
    """Pairs of duplicates, by the kinds of evidence in `limits.by`.

    Every duplicate is in at least one pair; not all pairs of a larger group are given.
    """
    judge = Judge(table, limits)
    if "statement" in limits.by:
        yield from judge.equals("same statement", table.columns["text"], judge.by_text)
    if "code" in limits.by:
        yield from judge.equals("same code", table.columns["exact"], judge.by_code)
    if "tests" in limits.by:
        yield from judge.equals("same tests", _whole(table), judge.by_tests)
        for pair in near(table.pairs, limits.tests / (2 - limits.tests), limits.permutations):
            if judge.by_tests(pair.a, pair.b):
                yield DuplicatePair(pair.a, pair.b, "same tests", judge.agreement(pair.a, pair.b).share)
    if "near" in limits.by:
        for pair in near(table.statements, limits.threshold, limits.permutations):
            if judge.by_near_text(pair.a, pair.b, pair.similarity):
                yield DuplicatePair(pair.a, pair.b, "near statement", pair.similarity)
        for pair in near(table.codes, limits.code, limits.permutations):
            if judge.by_near_code(pair.a, pair.b):
                yield DuplicatePair(pair.a, pair.b, "near code", pair.similarity)


class Judge:
    """The rules of evidence, applied to one table."""

    def __init__(self, table: TaskTable, limits: DedupeConfig) -> None:
        self.table = table
        self.limits = limits

    def agreement(self, a: int, b: int) -> Agreement:
        """How the tests of two tasks compare."""
        return agreement(self.table.tests(a), self.table.tests(b))

    def equals(self, reason: str, keys: np.ndarray[Any, Any], rule: Any) -> Iterator[DuplicatePair]:
        """Pairs with an equal key other than 0 for which the rule holds."""
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        for group in np.split(order, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1):
            if len(group) < 2 or not keys[group[0]]:
                continue
            leaders: list[int] = []
            for b in group.tolist():
                found = next((a for a in leaders if rule(a, b)), None)
                if found is not None:
                    yield DuplicatePair(found, b, reason, 1.0)
                elif len(leaders) < LEADERS:
                    leaders.append(b)

    def directly(self, a: int, b: int) -> DuplicatePair | None:
        """The first kind of equality between two tasks; None if they are similar only through others."""
        x, y = self.table[a], self.table[b]
        if x.text and x.text == y.text and self.by_text(a, b):
            return DuplicatePair(a, b, "same statement", 1.0)
        if self.by_code(a, b):
            return DuplicatePair(a, b, "same code", 1.0)
        if self.by_tests(a, b):
            return DuplicatePair(a, b, "same tests", self.agreement(a, b).share)
        return None

    def by_text(self, a: int, b: int) -> bool:
        """The same words: enough of them, or a few together with other evidence."""
        found = self._compatible(a, b)
        x, y = self.table[a], self.table[b]
        return found is not None and (
            x.length >= self.limits.short or _same_code(x, y) or found.tells(self.limits.bits)
        )

    def by_code(self, a: int, b: int) -> bool:
        """The same solution: a large one, or a small one together with other evidence."""
        x = self.table[a]
        found = self._compatible(a, b) if _same_code(x, self.table[b]) else None
        if found is None or x.size >= self.limits.small or found.agreeing >= 2:
            return found is not None
        return jaccard(self.table.statements[a], self.table.statements[b]) >= 0.5

    def by_tests(self, a: int, b: int) -> bool:
        """The same tests with enough information, and solutions that differ by more than a constant."""
        x, y = self.table[a], self.table[b]
        same = _same_code(x, y)
        if (x.shape == y.shape and not same and x.size) or (found := self._compatible(a, b)) is None:
            return False
        return found.share >= self.limits.tests and (found.tells(self.limits.bits) or same)

    def by_near_text(self, a: int, b: int, similarity: float) -> bool:
        """Nearly the same statement, and no evidence against it."""
        x, y = self.table[a], self.table[b]
        if x.numbers != y.numbers or min(x.length, y.length) < self.limits.short:
            return False
        if (found := self._compatible(a, b)) is None:
            return False
        if found.tells(self.limits.bits) or _same_code(x, y):
            return True
        comparable = x.size and y.size and x.language == y.language
        return not (comparable and x.shape == y.shape) and (not comparable or similarity >= self.limits.sure)

    def by_near_code(self, a: int, b: int) -> bool:
        """Nearly the same solution, and tests that agree."""
        x, y = self.table[a], self.table[b]
        if x.language != y.language or x.shape == y.shape or min(x.size, y.size) < self.limits.small:
            return False
        return (found := self._compatible(a, b)) is not None and found.tells(self.limits.bits)

    def _compatible(self, a: int, b: int) -> Agreement | None:
        """How the tests compare; None if they contradict, or if the tasks give different code to work on."""
        if self.table.columns["given"][a] != self.table.columns["given"][b]:
            return None
        found = self.agreement(a, b)
        return None if found.contradict else found


def _same_code(x: ComparedTask, y: ComparedTask) -> bool:
    return bool(x.size) and x.exact == y.exact and x.language == y.language


def _whole(table: TaskTable) -> np.ndarray[Any, Any]:
    """A hash of all tests of each task; 0 if it has fewer than two."""
    keys = np.zeros(len(table), np.uint64)
    for number in range(len(table)):
        pairs = table.pairs[number]
        if len(pairs) > 1:
            keys[number] = np.bitwise_xor.reduce(pairs * np.uint64(0xBF58476D1CE4E5B9))
    return keys
