"""Unified diffs, as git and diff -u write them: several files, new, deleted and renamed ones.

Deviations from what git reads: 1. a hunk whose counts are wrong, or that has no line numbers, is read up to the next
header, as a mistake; 2. a hunk without context or removed lines has no certain place and is only applied to an empty
file; 3. modes are ignored, copies and binary patches refused. The library unidiff is not used, because it rejects such
hunks.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from strop_verify.edits.apply import Format
from strop_verify.edits.changes import (
    EXACT,
    MOST_CHANGES,
    Change,
    Create,
    Delete,
    EditError,
    EditFault,
    Files,
    Parsed,
    Rename,
    Replace,
    Tolerance,
    too_many,
)
from strop_verify.edits.diff_writer import write_diff
from strop_verify.edits.lines import split
from strop_verify.edits.paths import NOWHERE, git_names, prefixed, stripped, unquoted

_HUNK = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
_BODY = " +-\\"
_EMPTY = ("\n", "\r\n")
_RULE = re.compile(r"-{3,}|\*{3,}|_{3,}")
_FIRST_SECOND = re.compile(
    r"(?:1969-12-31|1970-01-01) ([0-9]{2}):([0-9]{2}):00(?:\.0+)? ([-+])([0-9]{2}):?([0-9]{2})\s*"
)
"""How diff writes the date of a missing file, in any time zone."""
_MAIL = re.compile(r"From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\s*")
_OUTSIDE = "-@dnrcGBF"
"""First characters of meaningful lines outside hunks."""


@dataclass(slots=True)
class _Hunk:
    line: int | None
    """Line of the old file, from 1; None = not stated."""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at: int = 0
    """Line of the answer, from 1."""
    ends: bool = False
    """Whether it has context above its change and none below it."""


@dataclass(slots=True)
class _File:
    at: int
    old: str = ""
    new: str = ""
    created: bool = False
    deleted: bool = False
    renamed: bool = False
    named: bool = False
    """Whether `---` and `+++` were read."""
    hunks: list[_Hunk] = field(default_factory=list)


class UnifiedDiff(Format):
    """Format `unified-diff`. Without a tolerance a hunk applies only at the line that it names."""

    name = "unified-diff"

    def render(self, before: Files, after: Files) -> str:
        """A git diff with three lines of context, without a fence: it is a patch file as it is."""
        return write_diff(before, after)

    def parse(self, text: str) -> Parsed:
        """The hunks and file headers; the rest is prose."""
        return _DiffParser(text).parse()

    def apply(self, parsed: Parsed, files: Files, tolerance: Tolerance = EXACT) -> dict[str, str]:
        """As for every format; patches of a series one after another, or, if that fails, all at once."""
        if parsed.fatal or not parsed.series:
            return super().apply(parsed, files, tolerance)
        tree, ends = dict(files), (*parsed.series, len(parsed.changes))
        try:
            for first, last in pairwise((0, *ends)):
                tree = super().apply(Parsed(parsed.changes[first:last]), tree, tolerance)
        except EditError as error:
            try:
                tree = super().apply(parsed, files, tolerance)
            except EditError:
                raise error from None
        if tree == dict(files):
            raise EditError("no-change", "the patches leave every file as it was")
        return tree


class _DiffParser:
    def __init__(self, text: str) -> None:
        self.lines = split(text if text.endswith("\n") else text + "\n")
        self.changes: list[Change] = []
        self.faults: list[EditFault] = []
        self.file: _File | None = None
        self.without_diff = len(self.lines)
        """Line below which there is no `diff --git`."""
        self.series: list[int] = []
        self.touched: set[str] = set()
        """Names of files in the patch that is being read."""

    def parse(self) -> Parsed:
        number = 0
        while number < len(self.lines):
            number = self._line(number) if self.lines[number][0] in _OUTSIDE else number + 1
            if len(self.changes) + len(self.faults) > MOST_CHANGES:
                return Parsed((), (*self.faults, too_many(number)))
        self._finish()
        if not self.changes and not any(fault.fatal for fault in self.faults):
            self._fault("no-edit", "there is no hunk and no file header of a diff", 0, fatal=True)
        return Parsed(tuple(self.changes), tuple(self.faults), tuple(self.series))

    def _fault(self, code: str, text: str, number: int, *, fatal: bool = False) -> None:
        self.faults.append(EditFault(code, text, number + 1, fatal))

    def _line(self, number: int) -> int:
        """Reads what begins at a line; returns the number of the line after it."""
        line = self.lines[number].rstrip("\r\n")
        if line.startswith("diff --git "):
            self._finish()
            old, new = git_names(line.removeprefix("diff --git "))
            self.file = _File(number + 1, old, new)
        elif self._is_file_header(number):
            return self._file_header(number)
        elif line[0] == "F" and _MAIL.fullmatch(line):
            return self._below_message(number + 1)
        elif line.startswith("@@@"):
            self._fault("bad-syntax", "a combined diff, of a merge, cannot be applied", number, fatal=True)
        elif line == "@@" or line.startswith("@@ "):
            return self._hunk(number, line)
        elif line == "GIT binary patch" or (line.startswith("Binary files ") and line.endswith(" differ")):
            self._fault("binary", "a binary file cannot be edited", number, fatal=True)
        elif self.file and not self.file.hunks:
            self._extended(self.file, line, number)
        return number + 1

    def _below_message(self, number: int) -> int:
        """The line below a mail's message, which may hold anything: the first `diff --git`, else the line itself."""
        self._finish()
        if number >= self.without_diff:
            return number
        below = (at for at in range(number, len(self.lines)) if self.lines[at].startswith("diff --git "))
        found = next(below, None)
        if found is None:
            self.without_diff = number
            return number
        return found

    def _extended(self, file: _File, line: str, number: int) -> None:
        """Reads a line of git's extended header. Modes, similarity and blob ids say nothing about texts."""
        if line.startswith("new file mode "):
            file.created = True
        elif line.startswith("deleted file mode "):
            file.deleted = True
        elif line.startswith("rename from "):
            file.old, file.renamed = unquoted(line.removeprefix("rename from ")), True
        elif line.startswith("rename to "):
            file.new, file.renamed = unquoted(line.removeprefix("rename to ")), True
        elif line.startswith(("copy from ", "copy to ")):
            self._fault(
                "bad-syntax", "a copied file is not supported: show it as a new one", number, fatal=True
            )

    def _is_file_header(self, number: int) -> bool:
        following = self.lines[number + 1] if number + 1 < len(self.lines) else ""
        return self.lines[number].startswith("--- ") and following.startswith("+++ ")

    def _file_header(self, number: int) -> int:
        file = self.file
        if file is None or file.named or file.hunks:
            self._finish()
            file = self.file = _File(number + 1)
        old = self._file_name(number)
        names = old, self._file_name(number + 1, dated=old != NOWHERE)
        file.named = True
        file.created |= names[0] == NOWHERE
        file.deleted |= names[1] == NOWHERE
        old, new = stripped(*names)
        if NOWHERE in names and file.new and prefixed(old or new, file.new):
            old, new = (file.new if old else ""), (file.new if new else "")
        if file.renamed:
            return number + 2
        if old and new and old != new:
            self._fault(
                "name-mismatch",
                "--- and +++ name two files, and there is no rename; the second counts",
                number,
            )
        file.old, file.new = old or new, new or old
        return number + 2

    def _file_name(self, number: int, *, dated: bool = True) -> str:
        """The name on a `---` or `+++` line without the date after it; `/dev/null` if that is the start of 1970."""
        name, tab, date = self.lines[number][4:].rstrip("\r\n").partition("\t")
        if dated and (when := _FIRST_SECOND.fullmatch(date)):
            zone = int(when[3] + when[4]) * 60 + int(when[3] + when[5])
            if int(when[1]) * 60 + int(when[2]) - zone == (1440 if date.startswith("1969") else 0):
                return NOWHERE
        return unquoted(name if tab else name.rstrip(" "))

    def _hunk(self, number: int, line: str) -> int:
        if self.file is None:
            self.file = _File(number + 1)
            self._fault("no-header", "a hunk has no file header; it is for the only file", number)
        match = _HUNK.match(line)
        hunk = _Hunk(int(match[1]) if match else None, at=number + 1)
        self.file.hunks.append(hunk)
        if match:
            end = self._counted_end(number + 1, *(int(match[i] or 1) for i in (2, 4)))
            if end is not None and (self._changes(number + 1, end) or not self._goes_on(end)):
                return self._read(hunk, number + 1, end)
            self._fault("hunk-counts", "the hunk does not have as many lines as its header says", number)
        else:
            self._fault("hunk-header", "the hunk's header does not say -line,count +line,count", number)
        end = self._surely_end(number + 1)
        if end == number + 1:
            self._fault("bad-syntax", "a hunk has no lines", number, fatal=True)
        return self._read(hunk, number + 1, end)

    def _counted_end(self, number: int, old: int, new: int) -> int | None:
        """The line after as many lines as the header says; None if they are not there."""
        for at in range(number, len(self.lines)):
            kind = self._kind(at)
            if kind not in _BODY or (old <= 0 and new <= 0 and kind != "\\"):
                return at if old == new == 0 else None
            old -= kind in " -"
            new -= kind in " +"
        return len(self.lines) if old == new == 0 else None

    def _surely_end(self, number: int) -> int:
        """The first line that cannot belong to a hunk; blank lines before it do not either."""
        last = number
        for at in range(number, len(self.lines)):
            if self.lines[at] in _EMPTY:
                continue
            if self.lines[at][0] not in _BODY or self._is_file_header(at) or self._is_signature(at):
                break
            last = at + 1
        return last

    def _read(self, hunk: _Hunk, number: int, end: int) -> int:
        """Adds the lines to the hunk; returns the line after them. An empty line is an empty line of context."""
        shown = [kind for at in range(number, end) if (kind := self._kind(at)) != "\\"]
        hunk.ends = shown[:1] == [" "] != shown[-1:]
        for at in range(number, end):
            kind, line = self._kind(at), self.lines[at]
            if kind == "\\":
                last = self._kind(at - 1)
                for side, kinds in ((hunk.old, " -"), (hunk.new, " +")):
                    if side and last in kinds:
                        side[-1] = side[-1].removesuffix("\n")
                continue
            text = line if line in _EMPTY else line[1:]
            if kind in " -":
                hunk.old.append(text)
            if kind in " +":
                hunk.new.append(text)
        return end

    def _kind(self, number: int) -> str:
        line = self.lines[number]
        return " " if line in _EMPTY else line[0]

    def _is_signature(self, number: int) -> bool:
        """`-- `, which ends a patch sent by mail, with git's version below it; or a rule."""
        following = self.lines[number + 1].strip()[:1] if number + 1 < len(self.lines) else ""
        line = self.lines[number].rstrip()
        return (line == "--" and (not following or following.isdigit())) or _RULE.fullmatch(line) is not None

    def _changes(self, number: int, end: int) -> bool:
        """Whether the counted lines remove or add something; if so, the counts are right, as for git."""
        return any(self._kind(at) in "+-" for at in range(number, end))

    def _goes_on(self, number: int) -> bool:
        """Whether lines of the hunk follow its counted end: the counts were too small."""
        if number >= len(self.lines) or self._is_file_header(number) or self._is_signature(number):
            return False
        return self.lines[number][0] in _BODY

    def _finish(self) -> None:
        file, self.file = self.file, None
        if file is None:
            return
        names = {file.old, file.new} - {""}
        if self.touched & names and (file.hunks or file.renamed or file.created or file.deleted):
            self.series.append(len(self.changes))
            self.touched.clear()
        self.touched |= names
        for hunk in file.hunks:
            if hunk.old == hunk.new:
                self._fault("no-change", "a hunk neither removes nor adds lines", hunk.at - 1)
        old = "".join(line for hunk in file.hunks for line in hunk.old)
        new = "".join(line for hunk in file.hunks for line in hunk.new)
        if file.renamed:
            self.changes.append(Rename(file.old, file.new, at=file.at))
        if file.created or file.deleted:
            if (file.created and old) or (file.deleted and new) or file.created == file.deleted:
                text = "a new file has only new lines, a deleted one only removed lines"
                self._fault("bad-syntax", text, file.at - 1, fatal=True)
            elif file.created:
                self.changes.append(Create(file.new, new, at=file.at))
            else:
                self.changes.append(Delete(file.old, old if file.hunks else None, at=file.at))
            return
        for hunk in file.hunks:
            old, new = "".join(hunk.old), "".join(hunk.new)
            self.changes.append(Replace(file.new, old, new, hunk.line, at=hunk.at, ends=hunk.ends))
