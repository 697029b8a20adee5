"""Edits: changes to named texts, and the ways to write them down. docs/edits.md has the grammars."""

from strop.edits.answers import edit_in
from strop.edits.changes import (
    EXACT,
    HOLE,
    LENIENT,
    Change,
    Create,
    Delete,
    EditError,
    EditFault,
    Files,
    Fill,
    Format,
    Parsed,
    Rename,
    Replace,
    ReplaceLines,
    Tolerance,
    Whole,
)  # fmt: skip
from strop.edits.infill import Infill
from strop.edits.line_range import LineRange
from strop.edits.search_replace import SearchReplace
from strop.edits.unified_diff import UnifiedDiff
from strop.edits.whole_file import WholeFile

FORMATS: dict[str, Format] = {
    f.name: f for f in (SearchReplace(), UnifiedDiff(), WholeFile(), Infill(), LineRange())
}
"""Every format by its name."""


def format_of(name: str) -> Format:
    """The format of this name; EditError `no-format` for any other."""
    if name not in FORMATS:
        raise EditError("no-format", f"no edit format is called {name!r}; there are {', '.join(FORMATS)}")
    return FORMATS[name]


def apply_answer(answer: str, files: Files, format: str, tolerance: Tolerance = EXACT) -> dict[str, str]:
    """The files after the edit that a model's answer holds. Raises EditError."""
    chosen = format_of(format)
    return chosen.apply(chosen.parse(edit_in(answer)), files, tolerance)


def convert(text: str, files: Files, from_format: str, to_format: str, tolerance: Tolerance = EXACT) -> str:
    """The smallest edit in another format that does to the files what this one does. Raises EditError."""
    chosen = format_of(from_format)
    return format_of(to_format).render(files, chosen.apply(chosen.parse(text), files, tolerance))


__all__ = [
    "EXACT", "FORMATS", "HOLE", "LENIENT", "Change", "Create", "Delete", "EditError", "EditFault", "Files", "Fill",
    "Format", "Parsed", "Rename", "Replace", "ReplaceLines", "Tolerance", "Whole", "apply_answer", "convert", "edit_in",
    "format_of",
]  # fmt: skip
