"""Edits: an answer that changes files, and what judges them then."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from strop.core.checks.base import ANY, CheckBase

if TYPE_CHECKING:
    from strop.core.checks import Check


class EditCheck(CheckBase):
    """The answer edits `files`; `judge` then judges the file at `path`, or the files must be the oracle's."""

    optional: ClassVar[tuple[str, ...]] = ("oracle", "tolerance", "judge", "path")
    answer = "edit"
    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "edit"}
    kind: Literal["edit"] = "edit"
    format: str
    """How the edit is written: a name of `strop.edits.FORMATS`."""
    files: dict[str, str]
    """Path to text before the edit."""
    oracle: dict[str, str | None] = Field(default_factory=dict)
    """Path to text after the right edit, of the files that it changes; None = deleted."""
    tolerance: list[str] = Field(default_factory=list)
    """Where the edit may differ from the files: names of switches of `strop.edits.Tolerance`."""
    judge: "Check | None" = None
    """What judges the edited file at `path`, or all edited files where it is a *project* check; None = the edited
    files are compared with the oracle's."""
    path: str = ""

    def toolchain(self, language: str) -> str:
        """Includes the judge's toolchain, so that edits queue with others of the same judge."""
        return "edit" if self.judge is None else f"edit:{self.judge.toolchain(language)}"

    def test_count(self) -> int:
        return 1 if self.judge is None else self.judge.test_count()

    def effective(self) -> "Check":
        return self if self.judge is None else self.judge

    def strength(self) -> str:
        return self.judge.strength() if self.judge else "files compared"
