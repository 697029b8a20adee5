"""Edits: changes to named texts, mistakes in their notation, and errors of applying them.

A file is its text; an absent path is no file. Only `\\n` ends a line; a preceding `\\r` belongs to the line, and no
other character (form feed, U+0085, U+2028) ends one. A text without a final line end stays without one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TypeAlias

from strop_verify.core.errors import StropError

Files: TypeAlias = Mapping[str, str]
"""Path -> text. Paths are relative, with `/`."""

Span: TypeAlias = tuple[int, int, int, int]
"""First line, first column, last line, last column: from 1, in code points, the end not included."""

MOST_CHANGES = 10_000
"""Maximum changes and mistakes in one edit; one with more is refused."""

HOLE = "<FILL>"
"""Marks where the middle of a file is missing."""


@dataclass(frozen=True, slots=True)
class _FileChange:
    path: str
    """File that is changed; "" = the only file there is."""
    at: int = field(default=0, compare=False, kw_only=True)
    """Line of the parsed text, from 1, where the change is written."""
    loose: bool = field(default=False, compare=False, kw_only=True)
    """Whether the path was read from a line that may be prose."""


@dataclass(frozen=True, slots=True)
class Replace(_FileChange):
    """Whole lines `search`, which are found once in the file, become `replace`.

    Either is a text whose lines end in `\\n`; one without the last line end is the very end of the file.
    """

    search: str
    """Empty: the file is new or empty."""
    replace: str
    line: int | None = None
    """Line of the file where `search` begins, from 1; None = not stated."""
    ends: bool = field(default=False, compare=False, kw_only=True)
    """Whether a hunk has context above its change and none below it: `git apply` puts it at the end of the file."""
    indent: str = field(default="", compare=False, kw_only=True)
    """Indentation removed from each line of an indented block. If the lines are not found that way, they are looked
    for as written: then only the markers were indented."""


@dataclass(frozen=True, slots=True)
class Create(_FileChange):
    """A new file; it must not exist."""

    text: str


@dataclass(frozen=True, slots=True)
class Delete(_FileChange):
    """A deleted file; if the edit shows its text, it must match."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class Rename(_FileChange):
    """A renamed file; other changes use the new name."""

    to: str


@dataclass(frozen=True, slots=True)
class ReplaceLines(_FileChange):
    """Lines `first` to `last`, from 1, both included, become `text`; `last` = `first` - 1 puts it before `first`."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Whole(_FileChange):
    """The file's text, new or not."""

    text: str


@dataclass(frozen=True, slots=True)
class Fill(_FileChange):
    """Text for a hole: at `span`, or at `HOLE` in the file."""

    text: str
    span: Span | None = None
    literal: bool = False
    """Whether the last line end of `text` always counts; else only if a line ends there."""


@dataclass(frozen=True, slots=True)
class OneOf(_FileChange):
    """Fenced blocks without a header, one of which is intended: (language that the fence names, change) of each."""

    options: tuple[tuple[str, Whole | ReplaceLines | Fill], ...]


Change: TypeAlias = OneOf | Replace | Create | Delete | Rename | ReplaceLines | Whole | Fill


class EditError(StropError):
    """An edit that does not apply. `code` is one of those in docs/edits.md, `text` one line for a reader."""

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        self.text = text
        super().__init__(f"{code}: {text}")


@dataclass(frozen=True, slots=True)
class EditFault:
    """One mistake in the notation of an edit."""

    code: str
    text: str
    line: int
    """Line of the parsed text, from 1."""
    fatal: bool = False
    """Whether it makes the edit inapplicable; else it only lowers the format score."""


def too_many(line: int) -> EditFault:
    """The mistake of an oversized edit; nothing after the line is read."""
    return EditFault("too-many", f"over {MOST_CHANGES} changes or mistakes in one edit", line, fatal=True)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed edit: the changes in order, and the mistakes (`faults`)."""

    changes: tuple[Change, ...]
    faults: tuple[EditFault, ...] = ()
    series: tuple[int, ...] = ()
    """Indices of changes that begin a further patch to files that an earlier one changed."""

    @property
    def fatal(self) -> EditFault | None:
        """The first mistake that keeps the edit from being applied."""
        return next((fault for fault in self.faults if fault.fatal), None)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Where an edit may differ from the file and still be applied: tried in this order, if nothing is exact."""

    line_ends: bool = False
    """`\\r\\n` and `\\n` are the same; new lines get the ends of their place."""
    trailing_space: bool = False
    """Ignore blanks and tabs at the end of a line."""
    indentation: bool = False
    """Allow all lines to be shifted by the same blanks or tabs; new lines are shifted back."""
    offset: bool = False
    """Allow a hunk on other lines than stated, if its lines are found only once."""

    @classmethod
    def of(cls, *names: str) -> "Tolerance":
        """The tolerance with these switches on; ValueError for an unknown name."""
        known = [f.name for f in fields(cls)]
        for name in names:
            if name not in known:
                raise ValueError(f"no tolerance is called {name!r}; there are {', '.join(known)}")
        return cls(**dict.fromkeys(names, True))


EXACT = Tolerance()
LENIENT = Tolerance(line_ends=True, trailing_space=True, indentation=True, offset=True)
