"""Features of every task, for comparison: a few hundred bytes per task in memory, the rest on disk.

A task's tests are pairs of hashes: input and expected output. Different outputs for the same input are evidence
against a duplicate. Equal outputs are evidence for one, measured in bits of the empirical distribution of the outputs
(Shannon, 1948), so five tests that all expect `True` hold no information.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from strop_tasks.curation.similar import form as code
from strop_tasks.curation.similar.hashes import TOGETHER, Hashes, hash_text, shingled, words
from strop_tasks.curation.similar.store import Store
from strop_verify.core.task import Task

MOST = 32
"""Maximum compared tests of a task: those with the smallest hashes, so that two tasks' samples overlap."""


class Tests(NamedTuple):
    """Hashes of inputs, sorted, each once, and of their outputs; both of shape (tests,)."""

    inputs: Hashes
    outputs: Hashes


class Agreement(NamedTuple):
    """A comparison of two tasks' tests."""

    shared: int
    """Inputs of both tasks."""
    agreeing: int
    """Those of them with equal outputs."""
    bits: float
    """The information in the equal outputs, in bits."""
    share: float
    """Agreeing tests as a share of the smaller test set; 0 if a task has none."""

    @property
    def contradict(self) -> bool:
        """Whether the tests expect different outputs for some input."""
        return self.agreeing < self.shared

    def tells(self, bits: float) -> bool:
        """Whether the equal outputs alone prove that the tests are the same; they must hold this many bits."""
        return not self.contradict and self.agreeing >= 3 and self.bits >= bits


def tests_of(task: Task) -> Tests:
    """The task's tests. Of two outputs for one input the first counts."""
    pairs: dict[int, int] = {}
    for given, expected in task.check.pairs():
        pairs.setdefault(hash_text(given), hash_text(expected))
    kept = sorted(pairs)[:MOST]
    return Tests(np.array(kept, np.uint64), np.array([pairs[key] for key in kept], np.uint64))


def agreement(a: Tests, b: Tests) -> Agreement:
    """Compares the tests of two tasks."""
    _, at_a, at_b = np.intersect1d(a.inputs, b.inputs, assume_unique=True, return_indices=True)
    equal = a.outputs[at_a] == b.outputs[at_b]
    outputs = a.outputs[at_a][equal].tolist()
    count, fewer = len(outputs), min(len(a.inputs), len(b.inputs))
    bits = sum(c * log2(count / c) for c in Counter(outputs).values())
    return Agreement(len(at_a), count, bits, count / fewer if fewer else 0.0)


_NUMBER_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10"
}  # fmt: skip
_EXAMPLE = re.compile(
    r"```.*?```|^[ \t]*(?:>>>|> *\w+\(|(?:#+[ \t]*)?(?:for )?examples?\b).*",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_OPENING = re.compile(
    r"\bwrite an? (?:python |javascript )?(?:function|program|method)(?: (?:to|that|which))?\b", re.IGNORECASE
)
_MEANS = re.compile(
    r"\b(?:by )?using (?:an? |the )?(?:regex|regular expressions?|lambda(?: function)?)\b", re.IGNORECASE
)
_ARTICLES = {"a", "an", "the", "given"}
_FEWEST = 4  # in a statement with fewer plain words, only these count in `length`
_GIVEN = ("broken", "prefix", "suffix")


class ComparedTask(NamedTuple):
    """The compared features of one task."""

    text: int
    """Hash of the statement's plain words; 0 if there are none."""
    length: int
    """Number of words in the statement, without its examples."""
    numbers: int
    """Hash of the numbers in the statement, in any order, without its examples."""
    given: int
    """Hash of code in the task: a program to repair, the code around a gap; 0 if there is none."""
    language: int
    size: int
    """Number of labels in the reference's normal form; 0 if there is no reference."""
    exact: int
    shape: int
    tests: int
    """Number of tests."""


class TaskTable:
    """Every task of one pass, by number. The caller removes the folder."""

    def __init__(self, folder: Path, width: int = 3) -> None:
        self.ids: list[str] = []
        self.width = width
        self._statements: list[list[str]] = []
        self._columns = {name: array("Q") for name in ComparedTask._fields}
        self.columns: dict[str, np.ndarray[Any, np.dtype[np.uint64]]] = {}
        self.statements = Store(folder / "statements.u64")
        self.codes = Store(folder / "codes.u64")
        self.inputs = Store(folder / "inputs.u64")
        self.outputs = Store(folder / "outputs.u64")
        self.pairs = Store(folder / "pairs.u64")

    def add(self, task: Task) -> None:
        """Adds the next task."""
        text = statement_of(task)
        plain, prose = plain_words(text), words(prose_of(text))
        form = code.form(task.reference, task.language)
        tests = tests_of(task)
        given = "".join(str(task.metadata.get(name) or "") for name in _GIVEN)
        self.ids.append(task.id)
        row = ComparedTask(
            text=hash_text("\0".join(plain)) if plain else 0,
            length=len(prose) if len(plain) >= _FEWEST else len(plain),
            numbers=hash_text(" ".join(sorted(numbers_of(text)))),
            given=(code.form(given, task.language).exact or hash_text(given)) if given else 0,
            language=hash_text(task.language), size=form.size, exact=form.exact, shape=form.shape,
            tests=max(task.test_count, len(tests.inputs)),
        )  # fmt: skip
        for column, value in zip(self._columns.values(), row, strict=True):
            column.append(value)
        self._statements.append(prose)
        self.codes.append(form.shingles)
        self.inputs.append(tests.inputs)
        self.outputs.append(tests.outputs)
        mixed = (tests.inputs * np.uint64(0x9E3779B97F4A7C15) ^ tests.outputs) >> np.uint64(12)
        self.pairs.append(np.unique(mixed))
        if len(self._statements) == TOGETHER:
            self._pack()

    def seal(self) -> "TaskTable":
        """Ends writing; comparison begins. Returns itself."""
        self._pack()
        self.columns = {name: np.array(column, np.uint64) for name, column in self._columns.items()}
        for store in (self.statements, self.codes, self.inputs, self.outputs, self.pairs):
            store.seal()
        return self

    def _pack(self) -> None:
        self.statements.extend(*shingled(self._statements, self.width))
        self._statements = []

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: int) -> ComparedTask:
        return ComparedTask(*(int(self.columns[name][number]) for name in ComparedTask._fields))

    def tests(self, number: int) -> Tests:
        """The stored tests of a task, by its number."""
        return Tests(self.inputs[number], self.outputs[number])


def table_of(
    read: Callable[[], Iterator[Task]],
    folder: Path,
    width: int = 3,
    done: Callable[[int], None] | None = None,
) -> TaskTable:
    """The table of all tasks, read once; `done` gets their number so far."""
    folder.mkdir(parents=True, exist_ok=True)
    table = TaskTable(folder, width)
    for number, task in enumerate(read(), start=1):
        table.add(task)
        if done is not None and number % 500 == 0:
            done(number)
    return table.seal()


def statement_of(task: Task) -> str:
    """The statement, else the prompt."""
    return task.statement if task.statement.strip() else task.prompt or ""


def prose_of(text: str) -> str:
    """A statement without fenced blocks, up to the first doctest or line that begins with "Example"."""
    left = _EXAMPLE.sub(" ", text)
    return left if left.strip() else text


def plain_words(text: str) -> list[str]:
    """The words of a statement without examples, articles, "write a function to" and "using regex"."""
    prose = prose_of(text)
    plain = words(_MEANS.sub(" ", _OPENING.sub(" ", prose)))
    return [word for word in plain if word not in _ARTICLES] or words(prose)


def numbers_of(text: str) -> list[str]:
    """The numbers in a statement without its examples; two to ten also as words."""
    return [
        _NUMBER_WORDS.get(word, word)
        for word in words(prose_of(text))
        if word[0].isdigit() or word in _NUMBER_WORDS
    ]
