"""Next edit: what a person changes next in the lines around the cursor, or nothing."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import ClassVar, Literal

from pydantic import Field

from strop.core.checks.base import ANY, CheckBase
from strop.core.records import Record

NUMBERS = (
    "shown", "accepted", "kept", "exact", "wrong", "silent", "saved", "utility", "utility-kept", "utility-exact",
)  # fmt: skip
"""What a verdict says of an answer (`Verdict.numbers`); see docs/next-edit.md."""


class PastEdit(Record):
    """One edit that was made: lines of a file, in place of others."""

    path: str
    old: list[str]
    """The lines that were there, without their ends; none of an insertion."""
    new: list[str]
    """The lines in their place; none of a deletion."""


class NextEditCheck(CheckBase):
    """The answer is an edit of a window of lines, or empty: silence. A simulated user accepts it or not.

    Nothing is run. Lines are without their ends.
    """

    answer = "next edit"
    judges_edits = False
    empty_is_answer = True
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "next-edit"}
    kind: Literal["next-edit"] = "next-edit"
    path: str
    first: int = Field(default=1, ge=1)
    """Number of the window's first line in the file, from 1."""
    window: list[str] = Field(min_length=1)
    """The lines that are shown and may be changed."""
    cursor: int = Field(ge=0)
    """Its line in the window, from 0."""
    history: list[PastEdit] = Field(default_factory=list)
    """The newest edits, the oldest of them first."""
    next: list[str]
    """The window after the next edit; the window itself where silence is right."""
    goal: list[str]
    """The window when everything is done."""

    @property
    def due(self) -> bool:
        """Whether an edit is right here, not silence."""
        return self.next != self.window

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {*NUMBERS} - {"exact" if not self.due else "silent"}

    def test_count(self) -> int:
        return 1

    def strength(self) -> str:
        return "a simulated user accepts or not"
