"""Rust: an answer that is built, linted and tested as a crate."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, Literal, Self

from pydantic import Field

from strop.core.checks.base import CheckBase, words_of

_TEST = "#[test]"


class RustCheck(CheckBase):
    """Build, lint and test a Rust answer as cargo would; it is the only source file of a library crate."""

    optional: ClassVar[tuple[str, ...]] = ("crate", "crates", "files")
    answer = "crate"
    toolchains: ClassVar[Mapping[str, str]] = {"rust": "rust"}
    kind: Literal["rust"] = "rust"
    tests: str = ""
    """Trusted test code. Empty: the answer carries its own tests."""
    crate: str = ""
    """Name under which `tests` is an integration test (`use NAME::*;`); empty: `tests` is appended to the answer."""
    edition: Literal["2018", "2021", "2024"] = "2021"
    crates: list[str] = Field(default_factory=list)
    """Third-party crates that answer or tests may use, out of the vendored ones: a name each, or a line as in the
    dependencies of Cargo.toml (`rand = "0.10"`)."""
    files: dict[str, str] = Field(default_factory=dict)
    """Further trusted files of the package by relative path (`src/helpers.rs`: the answer says `mod helpers;`)."""

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {"build", "lint", "test"}

    def strength(self) -> str:
        return "unit tests" if self.tests.strip() else "the answer's own tests"

    def test_count(self) -> int:
        return max(1, self.tests.count(_TEST))

    def assertions(self) -> int | None:
        if not self.tests.strip():
            return None
        return self.tests.count("assert") + self.tests.count("#[should_panic")

    def without_tests(self) -> Self:
        return self.model_copy(update={"tests": "", "crate": ""})

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The text of each test, whatever its name."""
        bodies = self.tests.split(_TEST)[1:]
        return ((words_of(re.sub(r"\bfn\s+\w+", "fn", body)), "") for body in bodies)

    def examples(self, noted: Sequence[str]) -> str:
        return "\n".join(noted)

    def test_code(self) -> str:
        return self.tests
