"""Checks that run nothing: the answer is compared, or not judged at all. An edit may have a judge that runs."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import not_
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from strop_verify.core.checks.base import ANY, CheckBase
from strop_verify.core.records import Record

if TYPE_CHECKING:
    from strop_verify.core.checks import Check


class EditCheck(CheckBase):
    """The answer edits `files`; `judge` then judges the file at `path`, or the files must be the oracle's."""

    answer = "edit"
    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "edit"}
    kind: Literal["edit"] = "edit"
    format: str
    """How the edit is written: a name of `strop_verify.edits.FORMATS`."""
    files: dict[str, str]
    """Path to text before the edit."""
    oracle: dict[str, str | None] = Field(default_factory=dict, exclude_if=not_)
    """Path to text after the right edit, for the files that it changes; None = deleted."""
    tolerance: list[str] = Field(default_factory=list, exclude_if=not_)
    """Where the edit may differ from the files: names of switches of `strop_verify.edits.Tolerance`."""
    judge: "Check | None" = Field(default=None, exclude_if=not_)
    """What judges the edited file at `path`, or all edited files where it is a *project* check; None: the edited
    files are compared with the oracle's."""
    path: str = Field(default="", exclude_if=not_)

    def toolchain(self, language: str) -> str:
        """Includes the judge's toolchain, so that edits queue with others of the same judge."""
        return "edit" if self.judge is None else f"edit:{self.judge.toolchain(language)}"

    def test_count(self) -> int:
        return 1 if self.judge is None else self.judge.test_count()

    def effective(self) -> "Check":
        return self if self.judge is None else self.judge

    def strength(self) -> str:
        return self.judge.strength() if self.judge else "files compared"


class LabelCheck(CheckBase):
    """The answer names one of `choices`; it passes when that is `expected`. Nothing is run."""

    answer = "label"
    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "label"}
    kind: Literal["label"] = "label"
    choices: list[str]
    expected: str

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {"test"}

    def test_count(self) -> int:
        return 1

    def labels(self) -> Sequence[str]:
        return self.choices

    def strength(self) -> str:
        return "label compared"


NUMBERS = (
    "shown", "accepted", "kept", "exact", "lines", "wrong", "silent", "saved", "utility", "utility-kept",
    "utility-exact",
)  # fmt: skip
"""Numbers of a verdict (`Verdict.numbers`); see docs/next-edit.md."""


class PastEdit(Record):
    """One edit: lines of a file that replaced others."""

    path: str
    old: list[str]
    """The old lines, without line ends; none for an insertion."""
    new: list[str]
    """The new lines; none for a deletion."""


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
    """The shown lines, which may be changed."""
    cursor: int = Field(ge=0)
    """The cursor's line in the window, from 0."""
    history: list[PastEdit] = Field(default_factory=list)
    """The newest edits, oldest first."""
    next: list[str]
    """The window after the next edit; unchanged if silence is right."""
    goal: list[str]
    """The window at the end of all edits."""

    @property
    def due(self) -> bool:
        """Whether an edit is right here, not silence."""
        return self.next != self.window

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {*NUMBERS} - ({"silent"} if self.due else {"exact", "lines"})

    def test_count(self) -> int:
        return 1

    def strength(self) -> str:
        return "a simulated user accepts or not"


class NoneCheck(CheckBase):
    """No toolchain and no tests; every answer, even an empty one, is *unjudged*."""

    judges_edits = False
    rewards_alone: ClassVar[bool] = True
    empty_is_answer: ClassVar[bool] = True
    kind: Literal["none"] = "none"

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return set()

    def strength(self) -> str:
        return "nothing: rewards alone"


class RetrievalCheck(CheckBase):
    """The answer names files and lines of a tree (`strop_verify.core.ranges`); its score is its agreement with `truth`.

    Nothing is run. An answer passes if it agrees completely.
    """

    answer = "places"
    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "retrieval"}
    kind: Literal["retrieval"] = "retrieval"
    tree: str
    """The files: a bare git repository that holds `commit`; else a packed snapshot or a data URI, as of a project
    check, whose content hash is `digest`; else a folder."""
    commit: str = Field(default="", exclude_if=not_)
    digest: str = Field(default="", exclude_if=not_)
    files: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    """Path to text of files that differ from the tree."""
    truth: dict[str, list[tuple[int, int]]]
    """Path to ranges of lines, ends included, that matter."""

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {"score", *HALVES}

    def test_count(self) -> int:
        return 1

    def strength(self) -> str:
        return "places compared"


HALVES = ("score-files", "score-lines")
"""Numbers of a verdict on named places: F0.5 over files, and over lines."""


class WorldCheck(CheckBase):
    """The answer's calls, one line of JSON each, are made in the initial world, then its state is compared.

    An answer passes if one of the goals is met and everything else is unchanged.
    """

    answer = "calls"
    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "world"}
    kind: Literal["world"] = "world"
    world: str
    """The kind, by its name in `strop.tasks.tool_worlds`."""
    start: dict[str, Any]
    """The initial state."""
    goals: list[dict[str, Any]] = Field(min_length=1)
    """Each goal: values of parts of the state by path, null for a part that must be removed."""
    free: list[str] = Field(default_factory=list, exclude_if=not_)
    """Patterns of paths that may change."""

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {"test"}

    def test_count(self) -> int:
        return len(self.goals[0])

    def strength(self) -> str:
        return "the state that the calls leave"
