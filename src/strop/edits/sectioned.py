"""Shared by the formats with fenced sections: reading sections into changes, and writing files that moved."""

from collections.abc import Iterable

from strop.edits.apply import apply_changes
from strop.edits.changes import (
    EXACT,
    MOST_CHANGES,
    Change,
    Create,
    Delete,
    EditFault,
    Files,
    Parsed,
    Rename,
    Tolerance,
    too_many,
)
from strop.edits.headers import (
    FileSection,
    fenced,
    moved,
    renamed_to,
    sections,
    unclosed,
    without_end,
    write_header,
)


def section(path: str, text: str, *notes: str) -> str:
    """A header, if there is something to say in it, and the fenced text; a text with an open end is noted as such."""
    if text and not text.endswith("\n"):
        text, notes = text + "\n", (*notes, "no newline")
    header = write_header(path, *notes) + "\n" if path or notes else ""
    return header + fenced(text)


def moves(changes: Iterable[Create | Delete | Rename], *new: str) -> list[str]:
    """The sections of files that came, went or got another name; `new` are the notes of those that came."""
    out = []
    for change in changes:
        if isinstance(change, Create):
            out.append(section(change.path, change.text, *new))
        else:
            note = renamed_to(change.to) if isinstance(change, Rename) else "deleted"
            out.append(write_header(change.path, note) + "\n")
    return out


class Sectioned:
    """A format of fenced sections; a subclass says what a section with these notes means."""

    def render(self, before: Files, after: Files) -> str:
        """See `Format`."""
        raise NotImplementedError

    def change(self, path: str, notes: tuple[str, ...], text: str, line: int) -> Change | str:
        """The change of a section; or, in words, what is wrong with its header."""
        raise NotImplementedError

    def parse(self, text: str) -> Parsed:
        """The sections with a header; without any, the last fenced block, for the only file."""
        found = sections(text)
        chosen = [s for s in found if s.header is not None]
        faults: list[EditFault] = []
        if chosen and len(chosen) < len(found):
            line = next(s.line for s in found if s.header is None)
            faults.append(EditFault("stray-block", "a fenced block has no header; it is left out", line))
        elif not chosen and found:
            chosen = found[-1:]
            if len(found) > 1:
                faults.append(
                    EditFault("several-blocks", "the last of several fenced blocks is taken", chosen[0].line)
                )
        if len(found) > MOST_CHANGES:
            return Parsed((), (too_many(found[-1].line),))
        changes = [change for s in chosen if (change := self._read(s, faults)) is not None]
        if not changes and not any(fault.fatal for fault in faults):
            faults.append(EditFault("no-edit", "there is no fenced block", 1, fatal=True))
        return Parsed(tuple(changes), tuple(faults))

    def apply(self, parsed: Parsed, files: Files, tolerance: Tolerance = EXACT) -> dict[str, str]:
        """The files after the edit; see `apply_changes`."""
        return apply_changes(parsed, files, tolerance)

    def _read(self, found: FileSection, faults: list[EditFault]) -> Change | None:
        if found.header is not None and (move := moved(found.header, found.line)):
            return move
        if not found.closed:
            faults.append(unclosed(found.line))
        text, notes = without_end(found.text or "", found.header)
        path = found.header.path if found.header else ""
        if notes == ("new",):
            return Create(path, text, at=found.line)
        change = self.change(path, notes, text, found.line)
        if isinstance(change, str):
            faults.append(EditFault("bad-syntax", change, found.line, fatal=True))
            return None
        return change
