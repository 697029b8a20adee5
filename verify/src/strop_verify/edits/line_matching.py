"""Finds the lines of an edit in a file, exactly or within a tolerance, and fits new lines in.

Levels of tolerance are tried from the strictest on; the first at which the lines are found decides. Two matches at that
level are ambiguous: a laxer level would not help. A file's last line without a line end is found as if it had
one, and its replacement has none either.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from strop_verify.edits.changes import EditError, Replace, Tolerance
from strop_verify.edits.lines import opcodes, split, starts

_BLANK = " \t\r"
_MOST_SHOWN = 5
_MOST_SHIFTED = 100
"""Maximum places to compare by indentation; with more, the search is too unspecific."""


class Level(NamedTuple):
    """What comparing lines ignores."""

    ends: bool = False
    trailing: bool = False
    indent: bool = False

    def key(self, line: str) -> str:
        """The line in compared form, without its line end."""
        text = line[:-1] if line.endswith("\n") else line
        if self.ends:
            text = text.removesuffix("\r")
        if self.trailing:
            text = text.rstrip(_BLANK) if self.ends else text.rstrip(" \t")
        if self.indent:
            text = text.lstrip(" \t")
        return text


def levels(tolerance: Tolerance) -> list[Level]:
    """The levels that a tolerance allows, the exact one first."""
    ends, trailing = tolerance.line_ends, tolerance.trailing_space
    found = [Level()]
    if ends:
        found.append(Level(ends=True))
    if trailing:
        found.append(Level(ends=ends, trailing=True))
    if tolerance.indentation:
        found.append(Level(ends=ends, trailing=trailing, indent=True))
    return found


class FileLines:
    """A file's lines, prepared for searching: each search takes time linear in the file."""

    def __init__(self, text: str) -> None:
        self.lines = split(text)
        self.open_end = bool(text) and not text.endswith("\n")
        """Whether the last line has no line end."""
        self._joined: dict[Level, tuple[str, list[int]]] = {}

    def find(self, search: str, level: Level, most: int, *, any_end: bool = False) -> list[int]:
        """Where the lines of `search` start, from 0; up to `most` places. `any_end`: see `_ends_right`."""
        text, offsets = self._at(level)
        pattern, count = _pattern(search, level)
        found: list[int] = []
        at = text.find(pattern)
        while at >= 0 and len(found) < most:
            first = bisect_left(offsets, at)
            if any_end or self._ends_right(search, first + count):
                found.append(first)
            at = text.find(pattern, at + 1)
        return found

    def stands_at(self, first: int, search: str, level: Level, *, any_end: bool) -> bool:
        """Whether the lines of `search` start at line `first`, from 0."""
        if not 0 <= first < len(self.lines):
            return False
        text, offsets = self._at(level)
        pattern, count = _pattern(search, level)
        return text.startswith(pattern, offsets[first]) and (
            any_end or self._ends_right(search, first + count)
        )

    def is_unique(self, first: int, last: int) -> bool:
        """Whether lines `first` to `last`, from 0, the end not included, occur only there; exact comparison."""
        text, offsets = self._at(Level())
        pattern = text[offsets[first] : offsets[last] + 1]
        return text.find(pattern) == offsets[first] and text.find(pattern, offsets[first] + 1) < 0

    def _ends_right(self, search: str, end: int) -> bool:
        """A search without the last line end matches the end of a file that has none.

        With `any_end` it also matches a line that has one, as in `git apply` (`hash_line` and `memcmp` in apply.c).
        """
        return search.endswith("\n") or (self.open_end and end == len(self.lines))

    def _at(self, level: Level) -> tuple[str, list[int]]:
        if level not in self._joined:
            keys = [level.key(line) + "\n" for line in self.lines]
            self._joined[level] = "\n" + "".join(keys), starts(keys)
        return self._joined[level]


def place(source: FileLines, change: Replace, tolerance: Tolerance) -> tuple[int, int, str]:
    """The lines replaced (from 0, end excluded) and the new text. EditError: `not-found`, `ambiguous`, `not-at-end`."""
    wanted = split(change.search)
    for level in levels(tolerance):
        found = _candidates(source, change, wanted, level, tolerance)
        if len(found) > 1:
            raise EditError("ambiguous", _several(change, found))
        if found:
            return found[0], found[0] + len(wanted), _fitted(source, change, wanted, found[0], level)
    raise EditError("not-found", _nowhere(source, change, tolerance))


def _pattern(search: str, level: Level) -> tuple[str, int]:
    """The text to find in the joined keys, and its number of lines."""
    wanted = split(search)
    return "\n" + "".join(level.key(line) + "\n" for line in wanted), len(wanted)


def _candidates(
    source: FileLines, change: Replace, wanted: list[str], level: Level, tolerance: Tolerance
) -> list[int]:
    """Where the lines are at this level, from 0: at the change's line, else anywhere if allowed; all shifted alike."""
    any_end = change.line is not None and tolerance.offset
    if change.line is not None and source.stands_at(change.line - 1, change.search, level, any_end=any_end):
        found = [change.line - 1]
        last = len(source.lines) - len(wanted)
        if (
            change.ends
            and last not in found
            and source.stands_at(last, change.search, level, any_end=any_end)
        ):
            found.append(last)
    elif change.line is None or tolerance.offset:
        most = _MOST_SHIFTED if level.indent else _MOST_SHOWN + 1
        found = source.find(change.search, level, most, any_end=any_end)
    else:
        return []
    if not level.indent or len(found) == _MOST_SHIFTED:
        return found
    return [i for i in found if _shift(source.lines[i : i + len(wanted)], wanted) is not None]


def _shift(there: list[str], wanted: list[str]) -> tuple[str, str] | None:
    """(prefix to remove from each wanted line, prefix to add); None if lines are shifted differently."""
    shift: tuple[str, str] | None = None
    for file_line, line in zip(there, wanted, strict=True):
        if not line.strip():
            continue
        a, b = _indent(line), _indent(file_line)
        if b.endswith(a):
            this = ("", b[: len(b) - len(a)])
        elif a.endswith(b):
            this = (a[: len(a) - len(b)], "")
        else:
            return None
        if shift is not None and this != shift:
            return None
        shift = this
    return shift or ("", "")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _fitted(source: FileLines, change: Replace, wanted: list[str], first: int, level: Level) -> str:
    """The replacement of the found lines: kept lines are the file's, new ones get its line ends and indentation."""
    there = source.lines[first : first + len(wanted)]
    at_end = first + len(wanted) == len(source.lines)
    new = split(change.replace)
    if new and not new[-1].endswith("\n") and not at_end:
        raise EditError(
            "not-at-end", f"{_told(change)} takes the line end of a line that is not the file's last"
        )
    end = "\r\n" if level.ends and _windows(source, there) else "\n"
    adapt = _adapter(end, there, wanted, level)
    out: list[str] = []
    if level.ends or level.trailing or level.indent:
        for equal, a, b, c, d in opcodes(wanted, new):
            out += there[a:b] if equal else [adapt(line) for line in new[c:d]]
    else:
        out = new
    if not out:
        return ""
    out = [line if line.endswith("\n") else line + end for line in out]
    if not change.replace.endswith("\n") or (change.search.endswith("\n") and at_end and source.open_end):
        out[-1] = out[-1].removesuffix(end)
    return "".join(out)


def _windows(source: FileLines, there: list[str]) -> bool:
    """Whether most of the lines found end in `\\r\\n`."""
    lines = [line for line in there if line.endswith("\n")] or source.lines[:1]
    ended = [line.endswith("\r\n") for line in lines]
    return sum(ended) * 2 > len(ended) or (sum(ended) * 2 == len(ended) and ended[0])


def _adapter(end: str, there: list[str], wanted: list[str], level: Level) -> Callable[[str], str]:
    take, put = (_shift(there, wanted) if level.indent else None) or ("", "")

    def adapt(line: str) -> str:
        if level.ends:
            bare = line.removesuffix("\n").removesuffix("\r")
            line = bare + end if line.endswith("\n") else bare
        if not line.strip():
            return line
        if not line.startswith(take):
            raise EditError("not-found", "the new lines are not indented like those that were searched for")
        return put + line[len(take) :]

    return adapt


def _told(change: Replace) -> str:
    return f"the change at line {change.at} of the edit"


def _several(change: Replace, found: list[int]) -> str:
    shown = ", ".join(str(i + 1) for i in found[:_MOST_SHOWN])
    more = " and more" if len(found) > _MOST_SHOWN else ""
    where = f"{change.path!r} at lines {shown}{more}"
    return f"what {_told(change)} searches for is in {where}: show more lines around it"


def _nowhere(source: FileLines, change: Replace, tolerance: Tolerance) -> str:
    """Why nothing was found, with the place that a switch would have found."""
    where = "" if change.line is None else f" at line {change.line}"
    text = f"what {_told(change)} searches for is not in {change.path!r}{where}"
    if change.line is not None and not tolerance.offset and (found := source.find(change.search, Level(), 2)):
        return f"{text}, but at line {found[0] + 1} (tolerance: offset)"
    lax = Level(ends=True, trailing=True, indent=True)
    if found := source.find(change.search, lax, 1):
        return f"{text}; line {found[0] + 1} differs in white space only"
    return text
