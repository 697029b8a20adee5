"""Checks that run programs: commands in the answer's work directory, a crate, a script in a small machine."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import not_
from typing import ClassVar, Literal, Self

from pydantic import Field

from strop_verify.core.checks.base import ANY, CheckBase, words_of
from strop_verify.core.ids import canonical_json
from strop_verify.core.records import Record
from strop_verify.core.verdict import Trust


class CommandStep(Record):
    """One program run in the answer's work directory; it passes when its exit status and output are as expected."""

    stage: Literal["build", "lint", "test"]
    argv: list[str]
    """Program and arguments, no shell."""
    stdin: str = ""
    stdout: str | None = None
    """Expected output, compared line by line without trailing space; None = ignored."""
    status: int = 0


class CommandCheck(CheckBase):
    """Write the answer to `path` with `files`, then run the steps in order until one fails."""

    toolchains: ClassVar[Mapping[str, str]] = {ANY: "command"}
    kind: Literal["command"] = "command"
    path: str
    files: dict[str, str] = Field(default_factory=dict)
    steps: list[CommandStep]

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {step.stage for step in self.steps}

    def test_count(self) -> int:
        return sum(step.stage == "test" for step in self.steps)

    def largest_output(self) -> int:
        return max(
            (len(step.stdout.encode(errors="replace")) for step in self.steps if step.stdout), default=0
        )

    @property
    def trust(self) -> Trust:
        """An exit status alone is weak: the answer's own code can choose it."""
        return "value" if self.strength() == "output compared" else "same-process"

    def strength(self) -> str:
        """A step without an expected output proves only an exit status."""
        tests = [step for step in self.steps if step.stage == "test"]
        told = sum(bool(step.stdout) for step in tests)
        if told == len(tests):
            return "output compared"
        return "exit status only" if not told else "output compared, in part exit status only"

    def pairs(self) -> Iterator[tuple[str, str]]:
        files = canonical_json(self.files)
        for step in self.steps:
            if step.stdout is not None:
                yield f"{step.argv}{words_of(step.stdin)}{files}", words_of(step.stdout)


_TEST = "#[test]"


class RustCheck(CheckBase):
    """Build, lint and test a Rust answer as cargo would; it is the only source file of a library crate."""

    answer = "crate"
    toolchains: ClassVar[Mapping[str, str]] = {"rust": "rust"}
    kind: Literal["rust"] = "rust"
    tests: str = ""
    """Trusted test code. Empty: the answer carries its own tests."""
    crate: str = Field(default="", exclude_if=not_)
    """Name under which `tests` is an integration test (`use NAME::*;`); empty: `tests` is appended to the answer."""
    edition: Literal["2018", "2021", "2024"] = "2021"
    crates: list[str] = Field(default_factory=list, exclude_if=not_)
    """Vendored third-party crates that the answer or the tests may use: each a name, or a line as in the
    dependencies of Cargo.toml (`rand = "0.10"`)."""
    files: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
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
        """The text of each test, regardless of its name."""
        bodies = self.tests.split(_TEST)[1:]
        return ((words_of(re.sub(r"\bfn\s+\w+", "fn", body)), "") for body in bodies)

    def examples(self, noted: Sequence[str]) -> str:
        return "\n".join(noted)

    def test_code(self) -> str:
        return self.tests


class TerminalCheck(CheckBase):
    """Run the answer, a bash script, in a machine built from `image`, then `tests/test.sh`, which writes its reward to
    /logs/verifier/reward.json or reward.txt; 1 passes.
    """

    toolchains: ClassVar[Mapping[str, str]] = {ANY: "terminal"}
    judges_edits = False
    kind: Literal["terminal"] = "terminal"
    image: str = Field(default="", exclude_if=not_)
    """Text of a Dockerfile, or the name of an image."""
    workdir: str = Field(default="", exclude_if=not_)
    """Working directory of script and tests, if not that of the Dockerfile."""
    environment: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    """Environment variables of script and tests."""
    test_environment: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    """Further environment variables for the tests."""
    files: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    """Text files below `environment/`, beside the Dockerfile, and `tests/`, which are added after the script ends."""
    binary: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    """Further such files in base64."""
    programs: list[str] = Field(default_factory=list, exclude_if=not_)
    """The files that are executable."""
    artifacts: list[str] = Field(default_factory=list, exclude_if=not_)
    """Files and folders to copy into a fresh machine for the tests; if empty, they run where the script ran."""
    seconds: float = 900.0
    """Wall-time limit of the script."""
    test_seconds: float = 600.0
    """Wall-time limit of the tests."""

    @property
    def trust(self) -> Trust:
        """The tests run programs of the answer, or run beside what it left."""
        return "same-process"

    def strength(self) -> str:
        return "a reward of the task's own tests"

    def test_count(self) -> int:
        return 1

    def pairs(self) -> Iterator[tuple[str, str]]:
        yield canonical_json([self.image, self.files, self.binary]), ""
