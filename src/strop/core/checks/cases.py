"""Cases: calls of a function, each with the value that it must return."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from strop.core.checks.base import CheckBase, RevealedTests, SingleTest, longest_first, one_text, plain_json
from strop.core.records import Record
from strop.core.text import squeeze

_NEAR = 60
"""Characters after a call's input within which its result gives the test away."""


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

    optional: ClassVar[tuple[str, ...]] = ("any_order", "checker", "preamble")
    answer = "function"
    toolchains: ClassVar[Mapping[str, str]] = {"python": "python"}
    kind: Literal["cases"] = "cases"
    entry_point: str
    cases: list[Case]
    tolerance: float = 0.0
    """Largest absolute or relative difference allowed between floats; 0 = equal."""
    any_order: bool = False
    """Whether the items of a returned list or tuple may be in any order; outermost level only."""
    checker: str = ""
    """Trusted Python code with a function `check(args, kwargs, expected, result) -> bool`; empty = equality."""
    preamble: str = ""
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
    """Whether the result is there and not part of a longer number."""
    return re.search(rf"(?<![\d.]){re.escape(result)}(?!\d|\.\d)", text) is not None


def _json(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)
