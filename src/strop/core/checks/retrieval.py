"""Retrieval: an answer that names places in a tree of files."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import ClassVar, Literal

from pydantic import Field

from strop.core.checks.base import ANY, CheckBase


class RetrievalCheck(CheckBase):
    """The answer names files and lines of a tree (`strop.core.ranges`); its score is its agreement with `truth`.

    Nothing is run. An answer passes that agrees wholly.
    """

    optional: ClassVar[tuple[str, ...]] = ("commit", "digest", "files")
    answer = "places"
    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "retrieval"}
    kind: Literal["retrieval"] = "retrieval"
    tree: str
    """The files: a bare git repository that holds `commit`; else a packed snapshot or a data URI, as of a project
    check, whose content hash is `digest`; else a folder."""
    commit: str = ""
    digest: str = ""
    files: dict[str, str] = Field(default_factory=dict)
    """Path to text of what differs from the tree."""
    truth: dict[str, list[tuple[int, int]]]
    """Path to ranges of lines, ends included, that matter."""

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {"score"}

    def test_count(self) -> int:
        return 1

    def strength(self) -> str:
        return "places compared"
