"""Lines of files as ranges: how they are written, and how far an answer agrees with the truth (F-beta).

    shop/cart.py:12-20,31
    shop/tax.py:3

A line names a file and its lines, which count from 1; ends are included. Overlaps and repetitions count once.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Range = tuple[int, int]
"""(first line, last line)"""
Ranges = Mapping[str, Sequence[Range]]
"""Path to ranges that are sorted and do not touch."""

BETA = 0.5
"""Precision counts for more than recall."""
MOST_RANGES = 200
"""Maximum number of ranges in an answer; one with more is invalid."""
MOST_LINE = 10**7
"""A larger number is not a line of a file."""
_SPAN = re.compile(r"([0-9]{1,8})(?:-([0-9]{1,8}))?")
_SPANS = re.compile(rf"{_SPAN.pattern}(?:, ?{_SPAN.pattern})*")


class RangeScore(NamedTuple):
    """How far an answer agrees with the truth, each number in [0, 1]."""

    files: float
    """F-beta of the files."""
    lines: float
    """F-beta of the lines."""

    @property
    def mean(self) -> float:
        """The score of the answer."""
        return (self.files + self.lines) / 2


def merged(ranges: Iterable[Range]) -> list[Range]:
    """The same lines as sorted ranges that neither overlap nor touch."""
    found: list[Range] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def read_ranges(text: str) -> dict[str, list[Range]]:
    """The ranges that a text names, one file per line; empty for a text without lines.

    Raises ValueError, one line, for any other text. A leading "./" of a path is ignored.
    """
    found: dict[str, list[Range]] = {}
    count = 0
    for line in filter(None, map(str.strip, text.split("\n"))):
        path, _, lines = line.rpartition(":")
        if not path.strip() or not _SPANS.fullmatch(lines):
            raise ValueError(f"{line!r:.60} is no place; write PATH:FIRST-LAST")
        spans = [(int(first), int(last or first)) for first, last in _SPAN.findall(lines)]
        count += len(spans)
        for first, last in spans:
            if not 1 <= first <= last <= MOST_LINE:
                raise ValueError(f"{line!r:.60} names no lines; they count from 1, the first one first")
        found.setdefault(path.rstrip().removeprefix("./"), []).extend(spans)
    if count > MOST_RANGES:
        raise ValueError(f"{count} ranges are too many; name at most {MOST_RANGES}")
    return {path: merged(spans) for path, spans in found.items()}


def write_ranges(ranges: Ranges) -> str:
    """The ranges as text, as `read_ranges` reads it."""
    spans = {
        path: ",".join(f"{a}-{b}" if b > a else str(a) for a, b in merged(found))
        for path, found in ranges.items()
    }
    return "\n".join(f"{path}:{text}" for path, text in spans.items() if text)


def score(answer: Ranges, truth: Ranges) -> RangeScore:
    """How far an answer agrees; 0 for an empty answer or truth."""
    common = sum(_common(merged(spans), merged(truth.get(path, ()))) for path, spans in answer.items())
    files = f_beta(len(answer.keys() & truth.keys()), len(answer), len(truth))
    return RangeScore(files, f_beta(common, _count(answer), _count(truth)))


def f_beta(common: int, answered: int, wanted: int) -> float:
    """(1 + b^2) P R / (b^2 P + R), with precision and recall computed from counts; 0 if nothing is in common."""
    return (1 + BETA**2) * common / (BETA**2 * wanted + answered) if common else 0.0


def _count(ranges: Ranges) -> int:
    return sum(last - first + 1 for spans in ranges.values() for first, last in merged(spans))


def _common(a: Sequence[Range], b: Sequence[Range]) -> int:
    """Number of lines in both."""
    found = i = j = 0
    while i < len(a) and j < len(b):
        found += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]) + 1)
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return found
