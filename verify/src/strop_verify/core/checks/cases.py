"""Cases: calls of a function with the values that it must return, runs of a program with what it must print."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import not_
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from strop_verify.core.checks.base import (
    ANY,
    CheckBase,
    EntryPoint,
    RevealedTests,
    SingleTest,
    longest_first,
    one_text,
    plain_json,
    words_of,
)
from strop_verify.core.records import Record
from strop_verify.core.text import squeeze

_NEAR = 60
"""Characters after a call's input within which its result reveals the test."""


class Case(Record):
    """One call of the entry point and the value that it must return (JSON values)."""

    args: list[Any] = Field(default_factory=list)
    kwargs: dict[str, Any] = Field(default_factory=dict)
    expected: Any
    shown: bool = False
    """Whether the prompt shows this case; hidden cases only judge."""

    def call(self, name: str) -> str:
        """The call as Python writes it."""
        named = (f"{key}={value!r}" for key, value in self.kwargs.items())
        return f"{name}({', '.join([*map(repr, self.args), *named])})"


class CasesCheck(CheckBase):
    """Call `entry_point` on each case; `expected` is compared with what it returns, outside the candidate's process."""

    answer = "function"
    toolchains: ClassVar[Mapping[str, str]] = {"python": "python"}
    kind: Literal["cases"] = "cases"
    entry_point: EntryPoint
    cases: list[Case]
    tolerance: float = 0.0
    """Largest absolute or relative difference allowed between floats; 0 = equal."""
    any_order: bool = Field(default=False, exclude_if=not_)
    """Whether the items of a returned list or tuple may be in any order; outermost level only."""
    checker: str = Field(default="", exclude_if=not_)
    """Trusted Python code with a function `check(args, kwargs, expected, result) -> bool`; empty = equality."""
    preamble: str = Field(default="", exclude_if=not_)
    """Python code that is put above every answer, as the original grader does."""

    def test_count(self) -> int:
        return len(self.cases)

    def single_tests(self) -> list[SingleTest]:
        given = (plain_json([case.args, case.kwargs]) for case in self.cases)
        return [SingleTest(text, len(text), case.shown) for text, case in zip(given, self.cases, strict=True)]

    def told(self, number: int, *, public: bool = False) -> tuple[str, str] | None:
        case = self.cases[number] if number < len(self.cases) else None
        return (case.call(self.entry_point), repr(case.expected)) if case and (case.shown or public) else None

    def with_tests(self, numbers: Sequence[int]) -> Self:
        wanted = set(numbers)
        return self.model_copy(update={"cases": [c for at, c in enumerate(self.cases) if at in wanted]})

    def longest(self, most: int) -> Sequence[int] | None:
        if len(self.cases) <= most:
            return None
        texts = (json.dumps([c.args, c.kwargs], ensure_ascii=False) for c in self.cases)
        return longest_first([(c.shown, len(text)) for c, text in zip(self.cases, texts, strict=True)], most)

    def functions(self) -> tuple[str, ...]:
        return (self.entry_point,)

    def calls(self) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        return ((case.args, case.kwargs) for case in self.cases)

    def pairs(self) -> Iterator[tuple[str, str]]:
        for case in self.cases:
            given = [*case.args, case.kwargs] if case.kwargs else case.args
            yield one_text(given), one_text(case.expected)

    def examples(self, noted: Sequence[str]) -> str:
        """The shown cases as doctests."""
        return "\n".join(
            f">>> {c.call(self.entry_point)}" + ("" if c.expected is None else f"\n{c.expected!r}")
            for c in self.cases
            if c.shown
        )

    def revealed(self, text: str) -> RevealedTests:
        hidden, plain = [c for c in self.cases if not c.shown], squeeze(text).replace('"', "'")
        told = sum(_call_told(self.entry_point, c.args, c.expected, plain) for c in hidden)
        return RevealedTests(told, len(hidden), len(hidden) < len(self.cases))

    def readable(self) -> str:
        return "\n".join(case.model_dump_json() for case in self.cases)

    def strength(self) -> str:
        return "values judged by the task's checker" if self.checker else "values compared"

    def is_lenient(self) -> bool:
        return bool(self.checker or self.any_order)


def _call_told(name: str, args: list[Any], expected: Any, plain: str) -> bool:
    """Whether the text contains the call and, soon after it, its result."""
    call = squeeze(f"{name}({','.join(map(repr, args))})").replace('"', "'")
    results = {squeeze(text).replace('"', "'") for text in (repr(expected), _json(expected))}
    for match in re.finditer(re.escape(call), plain):
        after = plain[match.end() : match.end() + _NEAR + max(map(len, results))]
        after = after.split(f"{name}(")[0]
        if any(_word_in(result, after) for result in results):
            return True
    return False


def _word_in(result: str, text: str) -> bool:
    """Whether the result occurs, not as part of a longer number."""
    return re.search(rf"(?<![\d.]){re.escape(result)}(?!\d|\.\d)", text) is not None


def _json(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


_LONG = 6
"""Shorter inputs and outputs may occur by chance, unless "input" precedes them."""


class StdioCase(Record):
    """One run of a program: what it reads and what it must print."""

    stdin: str
    stdout: str
    shown: bool = False


class StdioCheck(CheckBase):
    """Run the answer as a program on each case; its output is compared line by line, trailing space ignored."""

    answer = "program"
    toolchains: ClassVar[Mapping[str, str]] = {"python": "python", ANY: "command"}
    kind: Literal["stdio"] = "stdio"
    cases: list[StdioCase]
    tolerance: float = Field(default=0.0, exclude_if=not_)
    """Largest absolute or relative difference allowed between words that are numbers; 0 = same text."""
    checker: str = Field(default="", exclude_if=not_)
    """Trusted Python code with a function `check(stdin, expected, output) -> bool`; empty = comparison."""
    preamble: str = Field(default="", exclude_if=not_)
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
