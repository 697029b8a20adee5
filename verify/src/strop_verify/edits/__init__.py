"""Edits: changes to named texts, and the ways to write them down. docs/edits.md has the grammars."""

import re

from strop_verify.core.text import in_answer_tags, without_thinking
from strop_verify.edits.apply import Format
from strop_verify.edits.changes import (
    EXACT,
    HOLE,
    LENIENT,
    Create,
    Delete,
    EditError,
    Files,
    Parsed,
    Rename,
    Replace,
    Tolerance,
)  # fmt: skip
from strop_verify.edits.fenced_sections import Infill, LineRange, WholeFile
from strop_verify.edits.search_replace import SearchReplace
from strop_verify.edits.unified_diff import UnifiedDiff

FORMATS: dict[str, Format] = {
    f.name: f for f in (SearchReplace(), UnifiedDiff(), WholeFile(), Infill(), LineRange())
}
"""Every format by its name."""


def format_of(name: str) -> Format:
    """The format of this name; EditError `no-format` for any other."""
    if name not in FORMATS:
        raise EditError("no-format", f"no edit format is called {name!r}; there are {', '.join(FORMATS)}")
    return FORMATS[name]


_START = re.compile(r"^(?:[ \t]*<<<<<|### |diff --git |--- |@@ | {0,3}(?:```|~~~))", re.MULTILINE)
"""Lines where an edit begins."""


def edit_in(answer: str) -> str:
    """The edit in a model's answer: everything after the thinking, or inside answer tags.

    Such a tag counts only at the start of a line above the first fence, header, marker or diff, since code may hold
    any tag.
    """
    return in_answer_tags(without_thinking(answer), _START)


def apply_answer(answer: str, files: Files, format: str, tolerance: Tolerance = EXACT) -> dict[str, str]:
    """The files after the edit that a model's answer holds. Raises EditError."""
    chosen = format_of(format)
    return chosen.apply(chosen.parse(edit_in(answer)), files, tolerance)


def convert(text: str, files: Files, from_format: str, to_format: str, tolerance: Tolerance = EXACT) -> str:
    """The smallest edit in another format with the same effect on the files. Raises EditError."""
    chosen = format_of(from_format)
    return format_of(to_format).render(files, chosen.apply(chosen.parse(text), files, tolerance))


__all__ = [
    "EXACT", "FORMATS", "HOLE", "LENIENT", "Create", "Delete", "EditError", "Files", "Parsed", "Rename", "Replace",
    "Tolerance", "apply_answer", "convert", "edit_in", "format_of",
]  # fmt: skip
