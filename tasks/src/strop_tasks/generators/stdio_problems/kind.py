"""Kinds of problems, the list of all kinds in the topic modules, and helpers that draw their inputs."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

TOPICS = "strop_tasks.generators.stdio_problems.topics"


@dataclass(frozen=True)
class Problem:
    """A kind with drawn parameters. Everything but the phrasing and the inputs follows from `parameters`.

    say      phrasings of the question, one of which is used; each is complete together with `reads` and `prints`
    reads    the input's format, as a noun phrase
    prints   the output's format, as a noun phrase
    program  the reference, a complete program, whose outputs are the expected ones
    draw     returns a random input in the format of `reads`
    edges    inputs at the limits of the problem, which become hidden tests
    """

    parameters: dict[str, int | str]
    say: Sequence[str]
    reads: str
    prints: str
    program: str
    draw: Callable[[Random], str]
    edges: Sequence[str] = ()

    @property
    def statements(self) -> list[str]:
        """The complete statement in every phrasing."""
        return [f"{say}\n\nInput: {self.reads}.\nOutput: {self.prints}." for say in self.say]


@dataclass(frozen=True)
class ProblemKind:
    """A problem whose parameters `make` draws.

    name   unique, in lower case with hyphens
    level  1 (one line) to 5 (dynamic programming, graphs, simulations)
    """

    name: str
    topic: str
    level: int
    about: str
    make: Callable[[Random], Problem]


def kind(level: int) -> Callable[[Callable[[Random], Problem]], ProblemKind]:
    """Turns a function into a kind; its name, module and docstring give the kind's name, topic and description."""

    def wrap(make: Callable[[Random], Problem]) -> ProblemKind:
        return ProblemKind(
            name=make.__name__.replace("_", "-"),
            topic=make.__module__.rpartition(".")[2].replace("_", "-"),
            level=level,
            about=(make.__doc__ or "").strip(),
            make=make,
        )

    return wrap


@cache
def all_kinds() -> tuple[ProblemKind, ...]:
    """Every kind, by topic and then in the order of the source. Raises ValueError if two share a name."""
    names = sorted(module.name for module in pkgutil.iter_modules(importlib.import_module(TOPICS).__path__))
    modules = [importlib.import_module(f"{TOPICS}.{name}") for name in names]
    kinds = [value for module in modules for value in vars(module).values() if isinstance(value, ProblemKind)]
    if len({k.name for k in kinds}) < len(kinds):
        raise ValueError("two kinds of problems share a name")
    return tuple(kinds)


_TEXT = """
    apple bread cloud dream eagle field grape house island jungle kettle lemon money night ocean paper
    queen river stone tiger uncle violet water yellow zebra anchor button candle dinner engine forest
    garden hammer insect jacket kitten ladder mirror needle orange pencil rabbit saddle ticket valley
    window bottle castle desert flower guitar level radar noon cat dog sun map box ant owl key pin ink
    jam Anna Bob Clara David Emma Frank
"""
WORDS = tuple(_TEXT.split())
"""The words contain every letter; some are palindromes."""


def lines(*rows: object) -> str:
    """One line for each row: the items of a list or tuple separated by spaces, or the text of anything else."""
    texts = (" ".join(map(str, row)) if isinstance(row, list | tuple) else str(row) for row in rows)
    return "".join(f"{text}\n" for text in texts)


def numbers(r: Random, count: int, low: int, high: int) -> list[int]:
    """`count` integers in [low, high]."""
    return [r.randint(low, high) for _ in range(count)]


def some(r: Random, low: int, high: int, least: int = 3, most: int = 9) -> list[int]:
    """`least` to `most` integers in [low, high]."""
    return numbers(r, r.randint(least, most), low, high)


def words(r: Random, least: int = 2, most: int = 6) -> list[str]:
    """`least` to `most` words, possibly repeated."""
    return r.choices(WORDS, k=r.randint(least, most))


def text(r: Random, least: int = 1, most: int = 5) -> str:
    """A line of `least` to `most` words."""
    return " ".join(words(r, least, most))


def letters(r: Random, least: int, most: int, alphabet: str) -> str:
    """A word of `least` to `most` random letters."""
    return "".join(r.choices(alphabet, k=r.randint(least, most)))


def grid(r: Random, rows: int, columns: int, marks: str) -> list[str]:
    """Rows of random marks, each drawn in proportion to its frequency in `marks`."""
    return ["".join(r.choices(marks, k=columns)) for _ in range(rows)]


def one_each(*values: object) -> tuple[str, ...]:
    """For each value, an input of one line."""
    return tuple(lines(value) for value in values)
