"""Commands: programs that are run in the answer's work directory."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import ClassVar, Literal

from pydantic import Field

from strop.core.checks.base import ANY, CheckBase, words_of
from strop.core.ids import canonical_json
from strop.core.records import Record
from strop.core.verdict import Trust


class CommandStep(Record):
    """One program run in the answer's work directory; it passes when its exit status and output are as expected."""

    stage: Literal["build", "lint", "test"]
    argv: list[str]
    """Program and arguments, no shell."""
    stdin: str = ""
    stdout: str | None = None
    """Expected output, compared line by line without trailing space; None = not looked at."""
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
        """An exit status is what the answer's own code can choose."""
        return "value" if self.strength() == "output compared" else "same-process"

    def strength(self) -> str:
        """A step without an expected output proves an exit status."""
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
