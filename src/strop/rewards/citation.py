"""`cites_fix`: whether an answer cites the lines that the fix of a vulnerability changes.

For label tasks whose metadata has `lines` (where the pair differs, see `strop_tasks.formats.vulnerability`),
`code_lines` (how many lines are shown) and `vulnerable`; None ("not scored") for any other task, and if the pair does
not differ.

An answer cites in one line that begins with `Lines:`, followed by numbers and ranges separated by commas, or `none`. C
is the set of cited lines, U the set of changes: every line that the fix changes or removes and, where it adds lines
between n and n + 1, the position n + 1/2.

    vulnerable   F1 = 2PR / (P + R);  P = share of C within TOLERANCE of some change,
                                      R = share of U within TOLERANCE of some cited line
    safe         1 for `none`, else 0: there is nothing to cite

The score is 0 for an answer that has no such line, several, or an unreadable one, or cites a line that is not shown.
Citing every line thus scores little, and a constant answer is right for at most one side of a pair.
"""

import re
from typing import NamedTuple

from strop.rewards.edits import said
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.text import without_thinking
from strop_verify.core.verdict import Verdict

TOLERANCE = 1
"""Tolerance of a citation, in lines."""
MOST_PARTS = 1000
"""Maximum number of numbers and ranges in one answer."""
_LINES = re.compile(r"^[ \t*_#>`-]*lines?[ \t*_`]*:([^\n]*)$", re.IGNORECASE | re.MULTILINE)
_PART = re.compile(r"[ \t]*([0-9]{1,7})(?:[ \t]*[-\u2013][ \t]*([0-9]{1,7}))?[ \t]*")
_MARKS = " \t\r*_`."


class Shown(NamedTuple):
    """A task's metadata about its code."""

    changes: list[tuple[int, int]]
    """(first, last) line, both included, from 1; (n + 1, n) is the position between n and n + 1."""
    total: int
    """Number of lines shown."""
    vulnerable: bool


def cites_fix(task: Task, rollout: Rollout, verdict: Verdict) -> float | None:
    """How well the cited lines match those of the fix, in [0, 1]."""
    shown = _shown(task)
    return None if shown is None else score(without_thinking(said(rollout)), shown)


def score(text: str, shown: Shown) -> float:
    """The score of an answer without its thinking."""
    cited = cited_lines(text, shown.total)
    if cited is None:
        return 0.0
    if not shown.vulnerable:
        return float(not cited)
    near = [_near(change) for change in _units(shown)]
    right = len(cited & set().union(*near))
    if not right:
        return 0.0
    precision = right / len(cited)
    recall = sum(not cited.isdisjoint(lines) for lines in near) / len(near)
    return 2 * precision * recall / (precision + recall)


def cited_lines(text: str, count: int) -> set[int] | None:
    """The lines (1 to `count`) that an answer without its thinking cites, {} for `none`; None if unreadable."""
    found = _LINES.findall(text)
    if len(found) != 1:
        return None
    said_lines = found[0].strip(_MARKS)
    if said_lines.casefold() == "none":
        return set()
    cited: set[int] = set()
    parts = said_lines.split(",", MOST_PARTS)
    if len(parts) > MOST_PARTS:
        return None
    for part in parts:
        match = _PART.fullmatch(part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= count:
            return None
        cited.update(range(first, last + 1))
    return cited


def _units(shown: Shown) -> list[float]:
    """Every change as a line number, or as n + 1/2."""
    units: list[float] = []
    for first, last in shown.changes:
        units += range(first, last + 1) if last >= first else [last + 0.5]
    return units


def _near(change: float) -> set[int]:
    around = range(int(change) - TOLERANCE, int(change) + TOLERANCE + 2)
    return {line for line in around if abs(line - change) <= TOLERANCE}


def _shown(task: Task) -> Shown | None:
    lines, count = task.metadata.get("lines"), task.metadata.get("code_lines")
    vulnerable = task.metadata.get("vulnerable")
    if not (task.check.answer == "label" and isinstance(lines, list) and lines):
        return None
    if not (isinstance(count, int) and isinstance(vulnerable, bool) and all(map(_is_range, lines))):
        return None
    # Lines after the last one that is shown are blank.
    changes = [(first, min(last, count)) for first, last in lines if first <= count + 1]
    return Shown(changes, count, vulnerable) if changes else None


def _is_range(value: object) -> bool:
    match value:
        case [int(), int()]:
            return True
    return False
