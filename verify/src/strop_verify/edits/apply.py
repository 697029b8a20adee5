"""Applies changes to files. Places are looked up in the original files, then all changes are made; their order does
not matter.

Renames and deletions come first, and the other changes use the new names. Nothing is ever guessed: a change with an
uncertain place, one that touches another change, and an edit that changes nothing are EditErrors.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from strop_verify.core.fences import MARKDOWN, TEXT_TAGS, language_of, same_language, tag_of
from strop_verify.edits.changes import (
    EXACT,
    HOLE,
    MOST_CHANGES,
    Change,
    Create,
    Delete,
    EditError,
    Files,
    Fill,
    OneOf,
    Parsed,
    Rename,
    Replace,
    ReplaceLines,
    Tolerance,
    Whole,
)  # fmt: skip
from strop_verify.edits.line_matching import FileLines, levels, place
from strop_verify.edits.lines import split, starts
from strop_verify.edits.paths import check_path, names_a_file


class Format(ABC):
    """An edit format."""

    name: str
    """As in `FORMATS`."""

    @abstractmethod
    def render(self, before: Files, after: Files) -> str:
        """The smallest edit with apply(parse(it), before) == after. Raises EditError `no-change` or `bad-path`."""

    @abstractmethod
    def parse(self, text: str) -> Parsed:
        """The edit in a text, in time linear in its length. Never raises."""

    def apply(self, parsed: Parsed, files: Files, tolerance: Tolerance = EXACT) -> dict[str, str]:
        """The files after the edit. Raises EditError: a fatal mistake in it, or one of applying (docs/edits.md)."""
        if parsed.fatal:
            raise EditError(parsed.fatal.code, parsed.fatal.text)
        if not parsed.changes:
            raise EditError("no-edit", "the answer holds no edit")
        if len(parsed.changes) > MOST_CHANGES:
            raise EditError(
                "too-many", f"{len(parsed.changes)} changes in one edit, at most {MOST_CHANGES} are applied"
            )
        changes = [_named(_meant(change, files), files) for change in dict.fromkeys(parsed.changes)]
        tree = _moved(changes, files, tolerance)
        edits: dict[str, list[Change]] = {}
        for change in changes:
            if not isinstance(change, Delete | Rename):
                edits.setdefault(_target(change, tree), []).append(change)
        after = dict(tree)
        for path, found in edits.items():
            after[path] = _edited(path, tree.get(path), found, tolerance)
        if after == dict(files):
            raise EditError("no-change", "the edit leaves every file as it was")
        _no_folder_is_a_file(after)
        return after


def _meant(change: Change, files: Files) -> Change:
    """The intended one of several blocks without headers, see `whole-file` in docs/edits.md."""
    if not isinstance(change, OneOf) or len(files) != 1:
        return change
    ((path, text),) = files.items()
    own = tag_of(path)
    known = language_of(own)
    ranks: dict[int, list[Whole | ReplaceLines | Fill]] = {}
    for tag, option in change.options:
        other = bool(tag) + bool(language_of(tag))
        ranks.setdefault(0 if same_language(tag, own) else 1 + other, []).append(option)
    best = min(ranks)
    if best == 3 and known:
        raise EditError("no-edit", f"no fenced block is in {known}, the language of {path!r}")
    fitting = ranks[best]
    if len(fitting) > 1 and isinstance(fitting[0], Whole):
        if own in MARKDOWN | TEXT_TAGS:
            raise EditError("ambiguous", f"several fenced blocks may be the text of {path!r}, or parts of it")
        there = {line for line in split(text) if not line.isspace()}
        shared = [len(there.intersection(split(option.text))) for option in fitting]
        fitting = [option for option, count in zip(fitting, shared, strict=True) if 2 * count >= max(shared)]
    return fitting[-1]


def _named(change: Change, files: Files) -> Change:
    """The change with its path: the only file's if it names none."""
    if isinstance(change, Rename):
        check_path(change.to)
    if change.path:
        if not change.loose:
            check_path(change.path)
        return change
    if len(files) != 1:
        raise EditError(
            "no-path", f"the change at line {change.at} of the edit names no file; there are {len(files)}"
        )
    return replace(change, path=next(iter(files)))


def _target(change: Change, tree: Files) -> str:
    """The path of a changed file: the only one's, if its path was read from prose."""
    makes = isinstance(change, Replace) and not change.search.strip()
    if change.loose and change.path not in tree and not makes and len(tree) == 1:
        only = next(iter(tree))
        if not names_a_file(change.path, only):
            return only
    return check_path(change.path)


def _moved(changes: Sequence[Change], files: Files, tolerance: Tolerance) -> dict[str, str]:
    """The tree after deletions and renames, which happen at once, so two files can swap names."""
    tree = dict(files)
    arrived: dict[str, str] = {}
    for change in changes:
        if not isinstance(change, Delete | Rename):
            continue
        if change.path not in files:
            raise EditError("no-file", f"there is no file {change.path!r} to delete or rename")
        if change.path not in tree:
            raise EditError("overlap", f"{change.path!r} is deleted or renamed twice")
        text = tree.pop(change.path)
        if isinstance(change, Rename):
            if change.to in arrived:
                raise EditError("file-exists", f"two files are renamed to {change.to!r}")
            arrived[change.to] = text
        elif change.text is not None and not _same(change.text, text, tolerance):
            raise EditError(
                "not-found", f"{change.path!r}, which is deleted, holds another text than the edit shows"
            )
    for path, text in arrived.items():
        if path in tree:
            raise EditError("file-exists", f"there is a file {path!r} already")
        tree[path] = text
    return tree


def _same(shown: str, text: str, tolerance: Tolerance) -> bool:
    return any(
        [level.key(line) for line in FileLines(shown).lines]
        == [level.key(line) for line in FileLines(text).lines]
        for level in levels(tolerance)
    )


def _edited(path: str, text: str | None, edits: list[Change], tolerance: Tolerance) -> str:
    """A file after its edits; None = there is no such file yet."""
    only = edits[0]
    if len(edits) == 1:
        if isinstance(only, Whole):
            return only.text
        if isinstance(only, Create) or (isinstance(only, Replace) and _is_new(only, text)):
            return _created(path, text, only)
        if isinstance(only, Fill) and text is not None:
            before, after = _around(path, text, only)
            literal = only.literal or keeps_end(before, after)
            return before + (only.text if literal else only.text.removesuffix("\n")) + after
    if text is None:
        raise EditError("no-file", f"there is no file {path!r}")
    source = FileLines(text)
    spans: list[tuple[int, int, str, int]] = []
    for edit in edits:
        if isinstance(edit, ReplaceLines):
            spans.append((*_range(path, source, edit), edit.at))
        elif isinstance(edit, Replace) and edit.search:
            spans.append((*_placed(source, edit, tolerance), edit.at))
        else:
            if isinstance(edit, Replace):
                _created(path, text, edit)
            raise EditError("overlap", f"{path!r} is written as a whole and changed again")
    return _joined(path, source, sorted(spans))


def _placed(source: FileLines, edit: Replace, tolerance: Tolerance) -> tuple[int, int, str]:
    """See `place`; lines of an indented block that are not found are searched again with their indentation."""
    try:
        return place(source, edit, tolerance)
    except EditError as error:
        if error.code != "not-found" or not edit.indent:
            raise
        written = (
            "".join(line if line.isspace() else edit.indent + line for line in split(text))
            for text in (edit.search, edit.replace)
        )
        search, new = written
        with suppress(EditError):
            return place(source, replace(edit, search=search, replace=new), tolerance)
        raise


def _is_new(change: Replace, text: str | None) -> bool:
    """Whether a change with an empty search creates a file; SWE-RL's blocks write an empty search as an empty
    line."""
    return not change.search or (not text and change.search in ("\n", "\r\n"))


def _created(path: str, text: str | None, change: Create | Replace) -> str:
    if isinstance(change, Create):
        if text is not None:
            raise EditError("file-exists", f"there is a file {path!r} already")
        return change.text
    if text:
        shown = f"the change at line {change.at} of the edit searches for nothing, which is only right for a new file"
        raise EditError("empty-search", f"{shown}; {path!r} has a text: show lines of it")
    return change.replace


def _range(path: str, source: FileLines, edit: ReplaceLines) -> tuple[int, int, str]:
    """The lines of a range, from 0, the end not included, and their new text."""
    count = len(source.lines)
    if not (1 <= edit.first <= count + 1 and edit.first - 1 <= edit.last <= count):
        raise EditError(
            "out-of-range", f"lines {edit.first} to {edit.last} are not in {path!r}, which has {count}"
        )
    if edit.text and not edit.text.endswith("\n") and edit.last != count:
        raise EditError("not-at-end", f"line {edit.last} of {path!r} is not its last and needs a line end")
    return edit.first - 1, edit.last, edit.text


def _joined(path: str, source: FileLines, spans: list[tuple[int, int, str, int]]) -> str:
    """The file with each span replaced; spans that share a line, or a place between lines, are an overlap."""
    out: list[str] = []
    done, previous = 0, -1
    for first, last, text, at in spans:
        if first < done or (first == last == previous):
            where = f"{path!r}, line {first + 1}"
            raise EditError("overlap", f"the change at line {at} of the edit meets another in {where}")
        out += source.lines[done:first]
        if text and out and not out[-1].endswith("\n"):
            out.append("\n")
        if text:
            out.append(text)
        done, previous = last, last if first == last else -1
    return "".join([*out, *source.lines[done:]])


def keeps_end(before: str, behind: str) -> bool:
    """Whether a fenced text's last line end fills the hole too: at the end of the file and between whole lines."""
    return not behind or ((not before or before.endswith("\n")) and behind[0] not in "\n\r")


def _around(path: str, text: str, change: Fill) -> tuple[str, str]:
    if change.span is None:
        if text.count(HOLE) != 1:
            code = "ambiguous" if HOLE in text else "not-found"
            raise EditError(code, f"{path!r} has {text.count(HOLE)} places {HOLE}, there must be one")
        before, _, after = text.partition(HOLE)
        return before, after
    lines = FileLines(text).lines
    offsets = starts(lines)
    ends = []
    for line, column in (change.span[:2], change.span[2:]):
        last = line == len(lines) + 1 and column == 1
        if not last and not (1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1):
            raise EditError("out-of-range", f"line {line}, column {column} is not in {path!r}")
        ends.append(offsets[line - 1] + column - 1)
    if ends[0] > ends[1]:
        raise EditError("out-of-range", f"the hole in {path!r} ends before it begins")
    return text[: ends[0]], text[ends[1] :]


def _no_folder_is_a_file(after: Files) -> None:
    folders = set()
    for path in after:
        names = path.split("/")
        folders |= {"/".join(names[:depth]) for depth in range(1, len(names))}
    for path in sorted(folders & after.keys()):
        raise EditError("bad-path", f"{path!r} would be a file and a folder")
