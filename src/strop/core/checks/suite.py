"""Pytest: a suite that is run against the answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, Self

from strop.core.checks.base import CheckBase, SingleTest
from strop.core.checks.values import words_of


class PytestCheck(CheckBase):
    """Run a pytest suite against the answer, which is written to `path` in a fresh workspace with `files`."""

    answer = "module"
    toolchains: ClassVar[Mapping[str, str]] = {"python": "python"}
    kind: Literal["pytest"] = "pytest"
    path: str = "solution.py"
    files: dict[str, str]
    """Trusted test files and what they need, by relative path; they replace whatever the answer brings."""
    tests: list[str]
    """Every test id that must be reported as passed, as `pytest --collect-only -q` prints them."""

    def test_count(self) -> int:
        return len(self.tests)

    def single_tests(self) -> list[SingleTest]:
        return [SingleTest(name, len(name)) for name in self.tests]

    def with_tests(self, numbers: Sequence[int]) -> Self:
        wanted = set(numbers)
        return self.model_copy(update={"tests": [t for at, t in enumerate(self.tests) if at in wanted]})

    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((words_of(text), "") for name, text in self.files.items() if name.endswith(".py"))
