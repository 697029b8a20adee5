"""Formats of fenced sections under header lines, `whole-file`, `line-range`, `infill`; and headers, `### path (notes)`,
which search/replace blocks have too. Grammar: docs/edits.md.
"""

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from strop_verify.core.fences import FENCE_LINE, MARKDOWN, TEXT_TAGS, FenceReader, tag_of
from strop_verify.edits.apply import Format, keeps_end
from strop_verify.edits.changes import (
    HOLE,
    MOST_CHANGES,
    Change,
    Create,
    Delete,
    EditFault,
    Files,
    Fill,
    OneOf,
    Parsed,
    Rename,
    ReplaceLines,
    Whole,
    too_many,
)
from strop_verify.edits.lines import split
from strop_verify.edits.minimal_diff import compare, hunks
from strop_verify.edits.paths import looks_like_path, read_path, write_path

_MARK = "###"
_MARKS = re.compile(r"[#*`~<>!\[\](){}\"',;|]+|//|--+")
_LABELS = frozenset(
    {"file", "filename", "path", "filepath", "in", "edit", "update", "modify", "title", "code"}
)


class Header(NamedTuple):
    """A header line: the path ("" = none), and the notes in parentheses after it."""

    path: str
    notes: tuple[str, ...]
    renamed_to: str | None = None


class FileSection(NamedTuple):
    """A fenced block, or a header that needs none: a file deleted or renamed."""

    header: Header | None
    text: str | None
    """The lines between the fences, verbatim; None without fences."""
    line: int
    """Of the header or else the opening fence, from 1."""
    closed: bool = True
    tag: str = ""
    """The language that the fence or else the header names; see `core.fences.tag_of`."""


def write_header(path: str, *notes: str) -> str:
    """A header line, without its end."""
    words = [_MARK, *([write_path(path)] if path else []), *([f"({', '.join(notes)})"] if notes else [])]
    return " ".join(words)


def renamed_to(path: str) -> str:
    """The note of a renamed file."""
    return f"renamed to {write_path(path)}"


def read_header(line: str) -> Header | None:
    """The header in a line; None if the line is not a header."""
    if not line.startswith(_MARK + " "):
        return None
    text = line[len(_MARK) :].strip()
    found = ("", text) if text.startswith("(") else read_path(text)
    if found is None:
        return None
    path, rest = found
    if not rest:
        return Header(path, ())
    if not (rest.startswith("(") and rest.endswith(")")):
        return None
    notes = rest[1:-1].strip()
    if notes.startswith("renamed to "):
        to = read_path(notes.removeprefix("renamed to ").strip())
        return Header(path, (), to[0]) if to and not to[1] else None
    return Header(path, tuple(note.strip() for note in notes.split(",")))


def moved(header: Header, line: int) -> Change | None:
    """The change of a header alone (a deleted or renamed file); None for other headers."""
    if header.renamed_to is not None:
        return Rename(header.path, header.renamed_to, at=line)
    return Delete(header.path, at=line) if header.notes == ("deleted",) else None


def fenced(text: str) -> str:
    """The text, whose lines all have ends, between fences longer than any in it."""
    inner = [line.lstrip(" ") for line in split(text)]
    longest = max((len(line) - len(line.lstrip("`")) for line in inner), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}{fence}\n"


def sections(text: str, *, fragments: bool) -> list[FileSection]:
    """The fenced blocks of a text in order, each with the header above it, blank lines allowed. Stops at too many.

    A header whose path is a plain word counts only if it is clearly a path, not a heading of prose. The extension of
    its path gives the language of a block that names none. `fragments`: see `FenceReader`.
    """
    reader, found, at, number = FenceReader(text, fragments=fragments), list[FileSection](), 0, 1
    while at < len(text) and len(found) <= MOST_CHANGES:
        opening = reader.opening(at)
        end = opening.start if opening else len(text)
        header, line_of = None, 0
        for line in split(text[at:end]):
            if not line.isspace():
                header, line_of = sure_header(line) if line[0] == "#" else None, number
                if header and moved(header, number):
                    found.append(FileSection(header, None, number))
                    header = None
            number += 1
        if not opening:
            break
        if not opening.alone:
            header = None
        tag = opening.tag or (tag_of(header.path) if header else "")
        block = reader.block(opening._replace(tag=tag))
        if block.closed or block.end == len(text) or block.text.strip():
            found.append(FileSection(header, block.text, line_of if header else number, block.closed, tag))
        number += text.count("\n", opening.start, block.end)
        at = block.end
    return found


def sure_header(line: str) -> Header | None:
    """The header in a line, unless it may be a heading of prose."""
    header = read_header(line.rstrip("\r\n"))
    if header is None or not header.path:
        return header
    quoted = line[len(_MARK) :].lstrip().startswith('"')
    return header if quoted or looks_like_path(header.path) else None


def named_file(line: str) -> str | None:
    """The path in a heading, a label or a fence that is not a header; None if there is none.

    `# b.py`, `File: b.py`, `**b.py**`, ```` ```python b.py ````: a word that is surely a path, and marks, label,
    language.
    """
    words = _MARKS.sub(" ", line).replace(":", " ").replace("=", " ").split()
    paths = [word for word in words if looks_like_path(word)]
    rest = [word for word in words if word not in paths]
    is_fence = FENCE_LINE.match(line) is not None
    if len(paths) != 1 or (len(rest) > 1 and not is_fence):
        return None
    labelled = not rest or rest[0].lower() in _LABELS or is_fence
    return paths[0].removeprefix("./") if labelled else None


def without_end(text: str, header: Header | None) -> tuple[str, tuple[str, ...]]:
    """A section's text, without its last line end if the header says so, and the remaining notes."""
    notes = header.notes if header else ()
    if "no newline" in notes:
        return text.removesuffix("\n"), tuple(note for note in notes if note != "no newline")
    return text, notes


def section(path: str, text: str, *notes: str) -> str:
    """A header, if needed, and the fenced text; a missing last line end is noted."""
    if text and not text.endswith("\n"):
        text, notes = text + "\n", (*notes, "no newline")
    header = write_header(path, *notes) + "\n" if path or notes else ""
    return header + fenced(text)


def moves(changes: Iterable[Create | Delete | Rename], *new: str) -> list[str]:
    """The sections of new, deleted and renamed files; `new` are the notes of new ones."""
    out = []
    for change in changes:
        if isinstance(change, Create):
            out.append(section(change.path, change.text, *new))
        else:
            note = renamed_to(change.to) if isinstance(change, Rename) else "deleted"
            out.append(write_header(change.path, note) + "\n")
    return out


class Sectioned(Format):
    """A format of fenced sections; a subclass interprets a section's notes."""

    created: tuple[str, ...] = ("new",)
    """Notes of a new file."""
    fragments = True
    """Whether a block holds a part of a file."""

    def render(self, before: Files, after: Files) -> str:
        """The sections of each file that differs; see `parts`."""
        moved, changed = compare(before, after)
        alone = len(before) == 1 and not moved
        out = moves(moved, *self.created)
        for path, old, new in changed:
            out += [section("" if alone else path, text, *notes) for text, *notes in self.parts(old, new)]
        return "\n".join(out)

    @abstractmethod
    def parts(self, old: str, new: str) -> Iterable[Sequence[str]]:
        """(text, notes...) of each section that turns the old text into the new one."""

    @abstractmethod
    def change(self, path: str, notes: tuple[str, ...], text: str, line: int) -> Change | str:
        """The change of a section, or the mistake in its header as text."""

    def parse(self, text: str) -> Parsed:
        """The sections with a header; without any, the fenced block that fits the only file, see `OneOf`."""
        found = sections(text, fragments=self.fragments)
        if len(found) > MOST_CHANGES:
            return Parsed((), (too_many(found[-1].line),))
        faults: list[EditFault] = []
        for one, below in pairwise(found):
            if (
                not self.fragments
                and one.text is not None
                and one.tag in MARKDOWN | TEXT_TAGS
                and below.header is None
            ):
                words = "a fence in this text may end it: put longer ones around it"
                faults.append(EditFault("ambiguous-fence", words, one.line, fatal=True))
        changes: list[Change]
        if any(section.header is not None for section in found):
            changes = [change for s in found if s.header and (change := self._read(s, faults)) is not None]
            if stray := next((s for s in found if s.header is None), None):
                faults.append(
                    EditFault("stray-block", "a fenced block has no header; it is left out", stray.line)
                )
        else:
            changes = self._one_of(found, faults)
        if not changes and not any(fault.fatal for fault in faults):
            faults.append(EditFault("no-edit", "there is no fenced block", 1, fatal=True))
        return Parsed(tuple(changes), tuple(faults))

    def _one_of(self, found: Sequence[FileSection], faults: list[EditFault]) -> list[Change]:
        """The change of blocks without headers, once the only file is known."""
        if len(found) > 1:
            faults.append(
                EditFault("several-blocks", "one of several fenced blocks is taken", found[-1].line)
            )
        whole = [s for s in found if s.closed or s is found[-1]]
        read = [(s.tag, self._read(s, faults)) for s in whole]
        options = [(tag, made) for tag, made in read if isinstance(made, Whole | ReplaceLines | Fill)]
        return [OneOf("", tuple(options), at=found[-1].line)] if options else []

    def _read(self, found: FileSection, faults: list[EditFault]) -> Change | None:
        if found.header is not None and (move := moved(found.header, found.line)):
            return move
        if not found.closed:
            text = "the fence is not closed, so the text may be cut off"
            faults.append(EditFault("unclosed", text, found.line, fatal=True))
        text, notes = without_end(found.text or "", found.header)
        path = found.header.path if found.header else ""
        if notes == ("new",):
            return Create(path, text, at=found.line)
        change = self.change(path, notes, text, found.line)
        if isinstance(change, str):
            faults.append(EditFault("bad-syntax", change, found.line, fatal=True))
            return None
        return change


class WholeFile(Sectioned):
    """Format `whole-file`."""

    name = "whole-file"
    created = ()
    fragments = False

    def parts(self, old: str, new: str) -> Iterable[Sequence[str]]:
        """One section: the whole new text."""
        return [(new,)]

    def change(self, path: str, notes: tuple[str, ...], text: str, line: int) -> Change | str:
        """The change that writes the file's whole text."""
        return f"a whole file has no note {', '.join(notes)!r}" if notes else Whole(path, text, at=line)


_RANGE = re.compile(r"lines? ([0-9]{1,9})(?: ?[-\u2013] ?([0-9]{1,9}))?")
_BEFORE = re.compile(r"before line ([0-9]{1,9})")
_GAP = 2
"""Equal lines between two hunks that cost less than the header and fences of another section."""


class LineRange(Sectioned):
    """Format `line-range`."""

    name = "line-range"

    def parts(self, old: str, new: str) -> Iterable[Sequence[str]]:
        """One section for each run of lines that differs."""
        lines = split(new)
        for first, last, new_first, new_last in hunks(old, new, gap=_GAP):
            yield "".join(lines[new_first:new_last]), _note(first + 1, last)

    def change(self, path: str, notes: tuple[str, ...], text: str, line: int) -> Change | str:
        """The change that replaces the lines of the range."""
        note = notes[0] if len(notes) == 1 else ""
        if match := _RANGE.fullmatch(note):
            return ReplaceLines(path, int(match[1]), int(match[2] or match[1]), text, at=line, loose=True)
        if match := _BEFORE.fullmatch(note):
            return ReplaceLines(path, int(match[1]), int(match[1]) - 1, text, at=line, loose=True)
        return "no range of lines: write (lines 3-7) or (before line 3) after the path"


def _note(first: int, last: int) -> str:
    if last < first:
        return f"before line {first}"
    return f"line {first}" if first == last else f"lines {first}-{last}"


_SPAN = re.compile(r"([0-9]{1,9}):([0-9]{1,9}) ?[-\u2013] ?([0-9]{1,9}):([0-9]{1,9})")


class Infill(Sectioned):
    """Format `infill`."""

    name = "infill"

    def parts(self, old: str, new: str) -> Iterable[Sequence[str]]:
        """One section, from the first to the last change if the file names no hole."""
        prefix, suffix, notes = _hole(old, new)
        middle = new[len(prefix) : len(new) - len(suffix)]
        return [(middle if keeps_end(prefix, suffix) else middle + "\n", *notes)]

    def parse(self, text: str) -> Parsed:
        """The sections; without any, the text itself."""
        parsed = super().parse(text)
        if parsed.changes or not text or any(fault.code != "no-edit" for fault in parsed.faults):
            return parsed
        fault = EditFault("no-fence", "the text is in no fence and is taken as it is", 1)
        return Parsed((Fill("", text, literal=True, at=1),), (fault,))

    def change(self, path: str, notes: tuple[str, ...], text: str, line: int) -> Change | str:
        """The change that fills the hole."""
        if not notes:
            return Fill(path, text, at=line, loose=True)
        match = _SPAN.fullmatch(notes[0])
        if match is None or len(notes) > 1:
            return "no hole: write (2:5-2:9), lines and columns from 1, after the path"
        first, column, last, end = map(int, match.groups())
        return Fill(path, text, (first, column, last, end), at=line, loose=True)


def _hole(old: str, new: str) -> tuple[str, str, tuple[str, ...]]:
    """What is before and after the hole, and the notes that say where it is; none if the file does."""
    if old.count(HOLE) == 1:
        before, _, behind = old.partition(HOLE)
        if len(new) >= len(before) + len(behind) and new.startswith(before) and new.endswith(behind):
            return before, behind, ()
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    behind = old[len(old) - end :] if end else ""
    span = "-".join(_place(old, offset) for offset in (start, len(old) - end))
    return old[:start], behind, (span,)


def _place(text: str, offset: int) -> str:
    line_start = text.rfind("\n", 0, offset) + 1
    return f"{text.count(chr(10), 0, offset) + 1}:{offset - line_start + 1}"


def _shared(a: str, b: str) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low
