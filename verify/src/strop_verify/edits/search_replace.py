"""Search/replace blocks: the lines to find and the lines to replace them with, between markers.

The blocks of SWE-RL (arXiv 2502.18449, the repair prompt; `### path` above the first marker) and of CodeRepairRL (one
file, no path). Deviations: 1. any number of blocks may be in a fence, or outside one; 2. lines are matched whole,
once, and never all occurrences; 3. a marker may be longer than 7, so that any line can be shown; 4. a note on a marker
says that a file's last line has no line end; 5. deleting and renaming files have their own headers; 6. a block may be
indented, as in a list item: its lines lose the indentation of its markers.
"""

from bisect import bisect_right
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

from strop_verify.core.fences import FENCE_LINE
from strop_verify.edits.apply import Format
from strop_verify.edits.changes import (
    MOST_CHANGES,
    Change,
    Create,
    EditFault,
    Files,
    Parsed,
    Rename,
    Replace,
    too_many,
)
from strop_verify.edits.fenced_sections import (
    fenced,
    moved,
    named_file,
    read_header,
    renamed_to,
    sure_header,
    write_header,
)
from strop_verify.edits.lines import split
from strop_verify.edits.minimal_diff import compare, unique_hunks
from strop_verify.edits.paths import looks_like_path

_USUAL, _SHORTEST = 7, 5
_OPEN_END = "(no newline)"
_HEAD, _DIVIDER, _TAIL = "<", "=", ">"
_MARKS = _HEAD + _DIVIDER + _TAIL
_MARK_SET = frozenset(_MARKS)
_GAP = 3
"""Equal lines between two hunks that cost less than the markers of another block."""


class _Marker(NamedTuple):
    kind: str
    width: int
    line: int
    """From 0."""
    open_end: bool
    tidy: bool
    indent: str
    """The indentation, the same for all markers of a block."""


class SearchReplace(Format):
    """Format `search-replace`."""

    name = "search-replace"

    def render(self, before: Files, after: Files) -> str:
        """Blocks in one fence for the only file; else a fence for each, under a header with its path."""
        moves, changed = compare(before, after)
        alone = len(before) == 1 and not moves
        out: list[str] = []
        for move in moves:
            if isinstance(move, Create):
                out.append(fenced(f"{write_header(move.path)}\n{_block('', move.text)}"))
            else:
                note = renamed_to(move.to) if isinstance(move, Rename) else "deleted"
                out.append(fenced(write_header(move.path, note) + "\n"))
        for path, old, new in changed:
            a, b = split(old), split(new)
            blocks = [
                _block("".join(a[h.first : h.last]), "".join(b[h.new_first : h.new_last]))
                for h in unique_hunks(old, new, gap=_GAP)
            ]
            out += [fenced("\n".join(blocks))] if alone else [
                fenced(f"{write_header(path)}\n{block}") for block in blocks
            ]  # fmt: skip
        return "\n".join(out)

    def parse(self, text: str) -> Parsed:
        """The blocks and headers; the rest is prose."""
        return _BlockParser(text).parse()


def _block(search: str, replace: str) -> str:
    """One block. Both ends open need no note: the end of the file stays as it is."""
    both_open = bool(search and replace) and not search.endswith("\n") and not replace.endswith("\n")
    width = _width(search + "\n" + replace)
    out = [f"{_HEAD * width} SEARCH\n"]
    for text, marker in ((search, _DIVIDER * width), (replace, f"{_TAIL * width} REPLACE")):
        is_open = bool(text) and not text.endswith("\n")
        out += [text, "\n" if is_open else "", marker]
        out.append(f" {_OPEN_END}\n" if is_open and not both_open else "\n")
    return "".join(out)


def _width(text: str) -> int:
    """The smallest marker width that no line of the text can be confused with."""
    taken = {marker.width for line in split(text) if line[0] in _MARKS and (marker := _marker(line, 0))}
    width = _USUAL
    while width in taken:
        width += 1
    return width


def _marker(whole: str, number: int) -> _Marker | None:
    line = whole.lstrip(" \t")
    kind = line[0]
    bare = line.rstrip(" \t\r\n")
    rest = bare.lstrip(kind)
    width = len(bare) - len(rest)
    open_end = rest.endswith(_OPEN_END)
    word = rest.removesuffix(_OPEN_END).strip(" \t")
    if width < _SHORTEST or word != {_HEAD: "SEARCH", _DIVIDER: "", _TAIL: "REPLACE"}[kind]:
        return None
    tidy = line.rstrip("\r\n") == bare and rest in {
        _HEAD: (" SEARCH",), _DIVIDER: ("", f" {_OPEN_END}"), _TAIL: (" REPLACE", f" REPLACE {_OPEN_END}"),
    }[kind]  # fmt: skip
    indent = whole[: len(whole) - len(line)]
    return None if open_end and kind == _HEAD else _Marker(kind, width, number, open_end, tidy, indent)


def _without(indent: str, line: str) -> str:
    """The line without its block's indentation; a blank line may have less."""
    return line[len(indent) :] if line.startswith(indent) else line.lstrip(" \t")


class _BlockParser:
    """One pass over an answer's lines. Markers are looked up by kind and width, so that time stays linear."""

    def __init__(self, text: str) -> None:
        self.lines = split(text)
        self.markers = [
            m
            for i, line in enumerate(self.lines)
            if line.lstrip(" \t")[:1] in _MARK_SET and (m := _marker(line, i))
        ]
        self.spots: dict[tuple[str, int, str | None], list[int]] = defaultdict(list)
        """Indices into `markers`, by kind, width (0 = any) and indentation (None = any)."""
        for index, marker in enumerate(self.markers):
            for width, indent in ((marker.width, marker.indent), (0, marker.indent), (0, None)):
                self.spots[marker.kind, width, indent].append(index)
        self.changes: list[Change] = []
        self.faults: list[EditFault] = []
        self.seen: set[Change] = set()
        self.path = ""

    def parse(self) -> Parsed:
        done, behind, whole = 0, -1, True
        """The first unread line, the last used marker, and whether the block there was valid."""
        while (index := self._next(_HEAD, 0, None, behind)) is not None:
            head = self.markers[index]
            if len(self.changes) + len(self.faults) > MOST_CHANGES:
                self.faults.append(too_many(head.line + 1))
                break
            self._outside(done, head.line, whole)
            self._take_path(done, head.line)
            end = self._block(index)
            whole = end is not None
            behind = index if end is None else end
            done = self.markers[behind].line + 1
        self._outside(done, len(self.lines), whole)
        if not self.changes and not any(fault.fatal for fault in self.faults):
            self._fault("no-edit", "there is no search/replace block", 0, fatal=True)
        elif not any(map(FENCE_LINE.match, self.lines)):
            self._fault("no-fence", "the blocks are in no fence", 0)
        return Parsed(tuple(self.changes), tuple(self.faults))

    def _fault(self, code: str, text: str, line: int, *, fatal: bool = False) -> None:
        self.faults.append(EditFault(code, text, line + 1, fatal))

    def _next(self, kind: str, width: int, indent: str | None, behind: int) -> int | None:
        """The next marker of a kind, width (0 = any) and indentation (None = any) after a marker."""
        spots = self.spots.get((kind, width, indent), [])
        at = bisect_right(spots, behind)
        return spots[at] if at < len(spots) else None

    def _outside(self, first: int, end: int, whole: bool) -> None:
        """Lines between blocks: headers that delete and rename, and stray ends of blocks."""
        for number in range(first, end):
            line = self.lines[number]
            if (
                line.startswith("### ")
                and (header := sure_header(line))
                and (move := moved(header, number + 1))
            ):
                self.changes.append(move)
            elif whole and line.startswith(_TAIL * _SHORTEST) and _marker(line, number):
                self._fault("stray-marker", "a block ends here that does not begin", number, fatal=True)

    def _take_path(self, first: int, head: int) -> None:
        """The path from the lines above a block, back to the block before; else it is that of the block before.

        The first line that is neither blank nor a fence may be a header; above the fence it must surely be one, not a
        heading of prose. Further up, between two blocks, only a line that names a file counts.
        """
        read, near = read_header, True
        for number in range(head - 1, first - 1, -1):
            line = self.lines[number].strip()
            if not line:
                continue
            header = (read if near else sure_header)(line)
            word = line.strip("*`").rstrip(":").strip("*`").removeprefix("./")
            if header and not FENCE_LINE.match(line):
                self.path = header.renamed_to or header.path or self.path
                return
            if (near and looks_like_path(word)) or (path := named_file(line)):
                self.path = word if near and looks_like_path(word) else path or ""
                return
            if FENCE_LINE.match(line):
                read = sure_header
            elif not self.changes:
                return
            else:
                near = False

    def _block(self, index: int) -> int | None:
        """Reads the block whose head is a marker; returns its last marker, or None if it is incomplete."""
        head = self.markers[index]
        alike = head.width, head.indent
        divider, tail = (self._next(kind, *alike, index) for kind in (_DIVIDER, _TAIL))
        other = self._next(_HEAD, *alike, index)
        if divider is None or tail is None or not divider < tail < (other or len(self.markers)):
            pair = self._unlike(index)
            if pair is None:
                text = "a block begins here that does not end, or has no divider"
                self._fault("bad-syntax", text, head.line, fatal=True)
                return None
            divider, tail = pair
            self._fault("marker-width", "the markers of the block are not equally long", head.line)
        elif (second := self._next(_DIVIDER, *alike, divider)) is not None and second < tail:
            text = "two dividers: if one is a line of code, write longer markers"
            self._fault("ambiguous-marker", text, self.markers[second].line, fatal=True)
            return tail
        self._add(index, divider, tail)
        return tail

    def _unlike(self, index: int) -> tuple[int, int] | None:
        """Divider and end of any width up to the next head, if there is just one of each."""
        indent = self.markers[index].indent
        stop = self._next(_HEAD, 0, indent, index) or len(self.markers)
        pair = []
        for kind in (_DIVIDER, _TAIL):
            found = self._next(kind, 0, indent, index)
            if found is None or found >= stop or (self._next(kind, 0, indent, found) or stop) < stop:
                return None
            pair.append(found)
        return (pair[0], pair[1]) if pair[0] < pair[1] else None

    def _add(self, index: int, divider: int, tail: int) -> None:
        marks = [self.markers[i] for i in (index, divider, tail)]
        line, indent = marks[0].line, marks[0].indent
        inner = self.lines[line + 1 : marks[2].line]
        if not all(text.startswith(indent) or text.isspace() for text in inner):
            indent = ""
        search, replace = (
            "".join(_without(indent, text) for text in self.lines[a.line + 1 : b.line]).removesuffix(
                "\n" if b.open_end else ""
            )
            for a, b in pairwise(marks)
        )
        change = Replace(self.path, search, replace, at=line + 1, indent=indent, loose=True)
        if not all(mark.tidy for mark in marks):
            self._fault(
                "untidy-marker", "a marker is not written as <<<<<<< SEARCH, =======, >>>>>>> REPLACE", line
            )
        if search and search == replace:
            self._fault("no-change", "the block replaces lines by themselves", line)
        if change in self.seen:
            self._fault("repeated", "the block occurs twice; it is applied once", line)
        self.seen.add(change)
        self.changes.append(change)
