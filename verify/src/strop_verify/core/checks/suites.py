"""Suites: tests of a module, of a project, of a repository or container, each test with a name."""

from collections.abc import Iterator, Mapping, Sequence
from operator import not_
from pathlib import PurePosixPath
from typing import ClassVar, Literal, Self

from pydantic import Field

from strop_verify.core.checks.base import ANY, CheckBase, SingleTest, words_of
from strop_verify.core.checks.beyond_values import imported, shares_process
from strop_verify.core.errors import VerificationError
from strop_verify.core.ids import canonical_json
from strop_verify.core.verdict import Trust


class PytestCheck(CheckBase):
    """Run a pytest suite against the answer, which is written to `path` in a fresh workspace with `files`."""

    answer = "module"
    toolchains: ClassVar[Mapping[str, str]] = {"python": "python"}
    kind: Literal["pytest"] = "pytest"
    path: str = "solution.py"
    files: dict[str, str]
    """Trusted test files and what they need, by relative path; they replace the answer's files of the same names."""
    tests: list[str]
    """Every test id that must be reported as passed, as `pytest --collect-only -q` prints them."""

    @property
    def trust(self) -> Trust:
        return "typed"

    def strength(self) -> str:
        return "suite of tests"

    def shares_process(self) -> bool:
        module = PurePosixPath(self.path).stem
        texts = (text for name, text in self.files.items() if name.endswith(".py"))
        return any(shares_process(text, imported(text, module)) for text in texts)

    def beyond_values(self) -> bool:
        return True  # contents of an answer's object are passed as a copy

    def test_count(self) -> int:
        return len(self.tests)

    def single_tests(self) -> list[SingleTest]:
        return [SingleTest(name, len(name)) for name in self.tests]

    def with_tests(self, numbers: Sequence[int]) -> Self:
        wanted = set(numbers)
        return self.model_copy(update={"tests": [t for at, t in enumerate(self.tests) if at in wanted]})

    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((words_of(text), "") for name, text in self.files.items() if name.endswith(".py"))


class ProjectCheck(CheckBase):
    """Run a project's own tests in a copy in which `files` replace or add files. The task's language determines how."""

    answer = "patch"
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "project"}
    kind: Literal["project"] = "project"
    project: str
    """Packed snapshot of the project: a .tar.gz of its files, named by `strop build`, or a data URI with one."""
    digest: str
    """Content hash of the snapshot's files; if it differs, the verdict is *error*."""
    packages: str = Field(default="", exclude_if=not_)
    """Folder of packages that its tests import, ahead of those of the Python that runs Strop (`strop build env`)."""
    files: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    """Path to text of files that differ from the snapshot."""
    removed: list[str] = Field(default_factory=list, exclude_if=not_)
    """Paths of the snapshot that are missing."""
    failing: list[str]
    """Tests that fail before the task is solved; each must be reported as passed."""
    passing: list[str] = Field(default_factory=list, exclude_if=not_)
    """Tests that pass before and must pass after."""

    def strength(self) -> str:
        return "the project's own tests"

    def test_count(self) -> int:
        return len(self.failing) + len(self.passing)


class WorkspaceCheck(CheckBase):
    """Tests that run in a repository named by the task. They judge if it is in a container image; else they are only
    data.
    """

    answer = "patch"
    toolchains: ClassVar[Mapping[str, str]] = {"python": "workspace"}
    judges_edits = False
    kind: Literal["workspace"] = "workspace"
    image: str = Field(default="", exclude_if=not_)
    """Container image, or the text of a Dockerfile."""
    repository: str = Field(default="", exclude_if=not_)
    commit: str = Field(default="", exclude_if=not_)
    """Revision of the repository that the answer starts from."""
    patch: str = Field(default="", exclude_if=not_)
    """Unified diff that adds the tests."""
    files: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    """Trusted files by relative path."""
    argv: list[str] = Field(default_factory=list, exclude_if=not_)
    """The command that runs the tests."""
    failing: list[str] = Field(default_factory=list, exclude_if=not_)
    """Tests that fail before and must pass after (FAIL_TO_PASS)."""
    passing: list[str] = Field(default_factory=list, exclude_if=not_)
    """Tests that pass before and after (PASS_TO_PASS)."""

    def toolchain(self, language: str) -> str:
        if not self.image:
            raise VerificationError(
                "a check of kind workspace is judged in a container image, but this one names none"
            )
        return super().toolchain(language)

    @property
    def trust(self) -> Trust:
        return "same-process"

    def strength(self) -> str:
        return "the repository's own tests" if self.image else "stored, not judged"

    def test_count(self) -> int:
        return len(self.failing) + len(self.passing) or int(bool(self.argv))

    def pairs(self) -> Iterator[tuple[str, str]]:
        yield canonical_json([self.repository, self.commit, self.patch, self.files, self.failing]), ""
