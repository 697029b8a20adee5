"""Projects: a project's own tests, run in a copy of it."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from strop.core.checks.base import ANY, CheckBase


class ProjectCheck(CheckBase):
    """Run a project's own tests in a copy of it in which `files` replace or add files. The task's language says how."""

    optional: ClassVar[tuple[str, ...]] = ("files", "removed", "passing")
    answer = "patch"
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "project"}
    kind: Literal["project"] = "project"
    project: str
    """Packed snapshot of the project: a .tar.gz of its files, named by `strop build`."""
    digest: str
    """Content hash of the snapshot's files; with another one the verdict is *error*."""
    files: dict[str, str] = Field(default_factory=dict)
    """Path to text of what differs from the snapshot."""
    removed: list[str] = Field(default_factory=list)
    """Paths of the snapshot that are not there."""
    failing: list[str]
    """Tests that fail before the task is solved; each must be reported as passed."""
    passing: list[str] = Field(default_factory=list)
    """Tests that pass before and must pass after."""

    def test_count(self) -> int:
        return len(self.failing) + len(self.passing)
