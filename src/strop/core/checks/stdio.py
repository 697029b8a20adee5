"""Stdio: runs of a program, each with what it reads and what it must print."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, Self

from strop.core.checks.base import ANY, CheckBase, RevealedTests, SingleTest, longest_first, words_of
from strop.core.records import Record

_LONG = 6
"""An input and output of fewer characters may be in any text by chance, unless "input" precedes them."""


class StdioCase(Record):
    """One run of a program: what it reads and what it must print."""

    stdin: str
    stdout: str
    shown: bool = False


class StdioCheck(CheckBase):
    """Run the answer as a program on each case; its output is compared line by line, trailing space ignored."""

    optional: ClassVar[tuple[str, ...]] = ("tolerance", "checker", "preamble")
    answer = "program"
    toolchains: ClassVar[Mapping[str, str]] = {"python": "python", ANY: "command"}
    kind: Literal["stdio"] = "stdio"
    cases: list[StdioCase]
    tolerance: float = 0.0
    """Largest absolute or relative difference allowed between words that are numbers; 0 = same text."""
    checker: str = ""
    """Trusted Python code with a function `check(stdin, expected, output) -> bool`; empty = comparison."""
    preamble: str = ""
    """Python code that is put above every answer, as the original grader does."""

    def test_count(self) -> int:
        return len(self.cases)

    def single_tests(self) -> list[SingleTest]:
        return [SingleTest(case.stdin, len(case.stdin), case.shown) for case in self.cases]

    def told(self, number: int, *, public: bool = False) -> tuple[str, str] | None:
        case = self.cases[number] if number < len(self.cases) else None
        return (case.stdin, case.stdout) if case and (case.shown or public) else None

    def with_tests(self, numbers: Sequence[int]) -> Self:
        wanted = set(numbers)
        return self.model_copy(update={"cases": [c for at, c in enumerate(self.cases) if at in wanted]})

    def longest(self, most: int) -> Sequence[int] | None:
        return longest_first([(c.shown, len(c.stdin)) for c in self.cases], most)

    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((words_of(case.stdin), words_of(case.stdout)) for case in self.cases)

    def examples(self, noted: Sequence[str]) -> str:
        """What the program reads and prints in the shown cases."""
        shown = (c for c in self.cases if c.shown)
        return "\n\n".join(f"Input:\n{c.stdin.rstrip()}\nOutput:\n{c.stdout.rstrip()}" for c in shown)

    def is_lenient(self) -> bool:
        return bool(self.checker)

    def revealed(self, text: str) -> RevealedTests:
        hidden = [c for c in self.cases if not c.shown]
        told = sum(_run_told(c.stdin, c.stdout, text) for c in hidden)
        return RevealedTests(told, len(hidden), len(hidden) < len(self.cases))

    def size(self) -> int:
        return sum(len(case.stdin) + len(case.stdout) for case in self.cases)

    def largest_output(self) -> int:
        return max((len(case.stdout.encode(errors="replace")) for case in self.cases), default=0)

    def strength(self) -> str:
        return "output judged by the task's checker" if self.checker else "output compared"

    def readable(self) -> str:
        return "\n".join(case.model_dump_json() for case in self.cases)


def _run_told(stdin: str, stdout: str, text: str) -> bool:
    """Whether the text contains the input as whole lines, and the output after it."""
    lines, given, wanted = _lines(text), _lines(stdin), _lines(stdout)
    if not given or not wanted:
        return False
    for match in re.finditer(rf"(?:^|\n|[:`>\s]){re.escape(given)}(?=\n|$|[`\s])", lines):
        after = lines[match.end() : match.end() + 200 + len(wanted)]
        if re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", after):
            labelled = "input" in lines[max(0, match.start() - 30) : match.start() + 1].lower()
            if labelled or len(given) + len(wanted) >= _LONG:
                return True
    return False


def _lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
