"""Baselines of next-edit tasks: answers that need no model.

repeat  the last change again, elsewhere in the window: where an edit put other words in place of some, the nearest line
        that still has those; silence where none does
silent  silence, which earns nothing and loses nothing
oracle  what the person did next
"""

import re
from collections.abc import Callable, Mapping

from strop.core.checks import NextEditCheck
from strop.tasks.next_edit import answer_for

_PIECE = re.compile(r"\w+|\s+|.")


def repeat(check: NextEditCheck) -> str:
    """The newest change of a line that can be made again."""
    for edit in reversed(check.history):
        if len(edit.old) != len(edit.new):
            continue
        for old, new in zip(edit.old, edit.new, strict=True):
            before, after = _changed(old, new)
            if not re.search(r"\w", before):
                continue
            lines = sorted(
                range(len(check.window)), key=lambda at: (at <= check.cursor, abs(at - check.cursor))
            )
            for at in lines:
                line = check.window[at]
                made = _again(line, before, after)
                if made != line and at != check.cursor and after not in line:
                    return answer_for(check.window, [*check.window[:at], made, *check.window[at + 1 :]])
    return ""


def silent(check: NextEditCheck) -> str:
    """Nothing."""
    return ""


def oracle(check: NextEditCheck) -> str:
    """The truth."""
    return answer_for(check.window, check.next)


EDIT_BASELINES: Mapping[str, Callable[[NextEditCheck], str]] = {
    "repeat": repeat,
    "silent": silent,
    "oracle": oracle,
}
"""By the word behind `scripted:`."""


def _again(line: str, before: str, after: str) -> str:
    """A line with words in place of others; with no part of a longer word."""
    there = rf"(?<!\w){re.escape(before)}(?!\w)" if before[-1].isalnum() else re.escape(before)
    return re.sub(there, lambda _: after, line)


def _changed(old: str, new: str) -> tuple[str, str]:
    """The words in which two lines differ; with the word in front, where nothing is taken out."""
    a, b = _PIECE.findall(old), _PIECE.findall(new)
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    while head and not re.search(r"\w", "".join(a[head : len(a) - tail])):
        head -= 1
    return "".join(a[head : len(a) - tail]).strip(), "".join(b[head : len(b) - tail]).strip()
