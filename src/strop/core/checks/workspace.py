"""Workspaces: tests in a repository or container that the task names."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from strop.core.checks.base import CheckBase
from strop.core.ids import canonical_json


class WorkspaceCheck(CheckBase):
    """Tests that run in a repository or container which the task names. Carried as data; no toolchain plays it yet."""

    optional: ClassVar[tuple[str, ...]] = (
        "image", "repository", "commit", "patch", "files", "argv", "failing", "passing"
    )  # fmt: skip
    answer = "patch"
    judges_edits = False
    kind: Literal["workspace"] = "workspace"
    image: str = ""
    """Container image, or the text of a Dockerfile."""
    repository: str = ""
    commit: str = ""
    """Revision of the repository that the answer starts from."""
    patch: str = ""
    """Unified diff that brings the tests."""
    files: dict[str, str] = Field(default_factory=dict)
    """Trusted files by relative path."""
    argv: list[str] = Field(default_factory=list)
    """What runs the tests."""
    failing: list[str] = Field(default_factory=list)
    """Tests that fail before and must pass after (FAIL_TO_PASS)."""
    passing: list[str] = Field(default_factory=list)
    """Tests that pass before and after (PASS_TO_PASS)."""

    def test_count(self) -> int:
        return len(self.failing) + len(self.passing) or int(bool(self.argv))

    def pairs(self) -> Iterator[tuple[str, str]]:
        yield canonical_json([self.repository, self.commit, self.patch, self.files, self.failing]), ""
