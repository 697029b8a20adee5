"""Helpers with which the kinds draw their inputs: lines, numbers, words."""

from collections.abc import Iterable
from random import Random

_TEXT = """
    apple bread cloud dream eagle field grape house island jungle kettle lemon money night ocean paper
    queen river stone tiger uncle violet water yellow zebra anchor button candle dinner engine forest
    garden hammer insect jacket kitten ladder mirror needle orange pencil rabbit saddle ticket valley
    window bottle castle desert flower guitar level radar noon cat dog sun map box ant owl key pin ink
    jam Anna Bob Clara David Emma Frank
"""
WORDS = tuple(_TEXT.split())
"""Every letter stands in some word; some words read the same backwards."""


def lines(*rows: object) -> str:
    """A line each: a list or tuple is its items with single spaces between them, anything else its text."""
    return "".join(f"{_row(row)}\n" for row in rows)


def _row(row: object) -> str:
    return " ".join(map(str, row)) if isinstance(row, list | tuple) else str(row)


def numbers(r: Random, count: int, low: int, high: int) -> list[int]:
    """So many integers of [low, high]."""
    return [r.randint(low, high) for _ in range(count)]


def some(r: Random, low: int, high: int, least: int = 3, most: int = 9) -> list[int]:
    """`least` to `most` integers of [low, high]."""
    return numbers(r, r.randint(least, most), low, high)


def words(r: Random, least: int = 2, most: int = 6) -> list[str]:
    """Words, with repetitions now and then."""
    return r.choices(WORDS, k=r.randint(least, most))


def text(r: Random, least: int = 1, most: int = 5) -> str:
    """A line of words."""
    return " ".join(words(r, least, most))


def letters(r: Random, least: int, most: int, alphabet: str) -> str:
    """A word of random letters."""
    return "".join(r.choices(alphabet, k=r.randint(least, most)))


def grid(r: Random, rows: int, columns: int, marks: str) -> list[str]:
    """Rows of random marks; a mark that stands more often in `marks` is drawn more often."""
    return ["".join(r.choices(marks, k=columns)) for _ in range(rows)]


def one_each(values: Iterable[object]) -> tuple[str, ...]:
    """An input of one line for each value."""
    return tuple(lines(value) for value in values)
