"""The interface of every check kind, and the texts by which kinds compare values of tests.

`CheckBase` has the defaults. A new kind overrides what differs; `strop_verify.core.checks` says where it is named. Its
`kind` is a Literal of its name, and `toolchains` says who judges it (docs/api.md).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from pydantic import AfterValidator

from strop_verify.core.errors import VerificationError
from strop_verify.core.records import Record
from strop_verify.core.verdict import Trust

Answer = Literal[
    "function", "program", "module", "crate", "file", "label", "edit", "patch", "places", "next edit", "calls"
]
"""What a check wants: a function that it calls, a program with input and output, a Python module with functions of any
name, the source of a crate, a file for commands, one of its labels, an edit of files, a patch of a repository, places
in files, an edit of a few lines or silence, calls of tools.
"""

ANY = "*"
"""Every other language, in `CheckBase.toolchains`."""

C = TypeVar("C", bound="CheckBase")

_METHOD = re.compile(r"Solution(?:\(\))?\.(\w+)")


def _entry_point(name: str) -> str:
    if method := _METHOD.fullmatch(name.strip()):
        return method[1]
    if "." in name or "(" in name:
        raise ValueError("an entry point is the name of a function, or of a method: Solution().NAME")
    return name


EntryPoint = Annotated[str, AfterValidator(_entry_point)]
"""Name of the answer's function, or of the method of its class `Solution`; `Solution().NAME` is read as NAME."""


class SingleTest(NamedTuple):
    """One test; its place in the list is its number."""

    given: str
    """What it gives the answer: two tests that give the same are one test and its repetition."""
    size: int
    """Characters of its input."""
    shown: bool = False
    """Whether the prompt shows it."""


class RevealedTests(NamedTuple):
    """How many hidden tests a text reveals."""

    found: int
    hidden: int
    """Number of hidden tests."""
    marked: bool
    """Whether the check says which tests are shown, so that a hidden one in the text is one too many."""


class CheckBase(Record):
    """How an answer is judged.

    A field with `exclude_if=not_` is written, and counts for a task's id, only where it is set. (A serializer in Python
    will not do: what is raised while it runs, such as by Ctrl-C, pydantic drops and tries another kind.)
    """

    answer: ClassVar[Answer] = "file"
    toolchains: ClassVar[Mapping[str, str]] = {}
    """Language to name of the toolchain that judges it; empty: such tasks are carried, not played yet."""
    judges_edits: ClassVar[bool] = True
    """Whether it can judge the file, or the files, that an edit makes."""
    rewards_alone: ClassVar[bool] = False
    """Whether nothing but rewards says how good an answer is: no toolchain, no tests, outcome *unjudged*."""
    empty_is_answer: ClassVar[bool] = False
    """Whether an answer without a character is judged like any other; else it is *no answer*."""
    kind: str

    @property
    def trust(self) -> Trust:
        """How far a pass is separate from the answer, where the toolchain does not know it better."""
        return "value"

    def lowered(self, trust: Trust | None) -> bool:
        """Whether a pass has less trust than this check mostly gives: its tests share a process with the answer."""
        return trust == "same-process" != self.trust

    def toolchain(self, language: str) -> str:
        """Name of the toolchain for a task in that language. Raises VerificationError when there is none."""
        if not self.toolchains:
            raise VerificationError(f"tasks of kind {self.kind} are carried, not played yet")
        name = self.toolchains.get(language) or self.toolchains.get(ANY)
        if name is None:
            raise VerificationError(
                f"no toolchain for language {language!r} with a check of kind {self.kind!r}"
            )
        return name

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        """Stages that an answer goes through; `seen` are those of verdicts on like tasks."""
        return {"build", "test"} | seen

    def test_count(self) -> int:
        """How many tests an answer must pass, if the check says; 0 when it checks nothing."""
        return 0

    def different_tests(self, *, hidden: bool = False) -> int:
        """How many tests have distinct inputs; `hidden`: among those not shown."""
        tests = self.single_tests()
        return len({t.given for t in tests if not (hidden and t.shown)}) if tests else self.test_count()

    def assertions(self) -> int | None:
        """Number of assertions in its test code; one in a loop counts as many. None without test code."""
        return None

    def single_tests(self) -> list[SingleTest]:
        """Its tests in their order; empty for a kind that is not made of single tests."""
        return []

    def told(self, number: int, *, public: bool = False) -> tuple[str, str] | None:
        """What the single test of that number gives and expects, as text; None unless the prompt shows it or it is
        `public`.
        """
        return None

    def with_tests(self, numbers: Sequence[int]) -> Self:
        """The check with these of its single tests, in their order, and nothing else of it changed.

        Raises ValueError for a kind that is not made of single tests.
        """
        raise ValueError(f"a check of kind {self.kind} is not made of single tests")

    def longest(self, most: int) -> Sequence[int] | None:
        """Numbers of at most `most` tests: the shown ones, then those with the longest inputs.

        None where there are no more, or its tests are code, of which none can be chosen by its input.
        """
        return None

    def without_tests(self) -> Self:
        """The check with its trusted tests left out, for kinds in which an answer can have its own; else itself."""
        return self

    def functions(self) -> tuple[str, ...]:
        """The answer's functions that it calls, the entry point first."""
        return ()

    @property
    def function(self) -> str:
        """Name of the entry point; "" where it calls none."""
        return next(iter(self.functions()), "")

    def is_lenient(self) -> bool:
        """Whether it takes other results than the one that is expected: by a checker, or in any order."""
        return False

    def calls(self) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """Arguments and keywords of the calls that it makes, as far as it says."""
        return iter(())

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Input and expected output of each test, as texts that are equal if two tests are the same."""
        return iter(())

    def examples(self, noted: Sequence[str]) -> str:
        """The tests that the prompt shows, as text; `noted` are the examples that the task has."""
        return ""

    def test_code(self) -> str:
        """The trusted test code, for kinds that have one text of it."""
        return ""

    def labels(self) -> Sequence[str]:
        """The labels that an answer may name."""
        return ()

    def revealed(self, text: str) -> RevealedTests:
        """How many of its hidden tests appear in the text with their results."""
        return RevealedTests(0, 0, False)

    def size(self) -> int:
        """Characters of its data, for kinds whose data may be large."""
        return 0

    def largest_output(self) -> int:
        """Bytes of the longest output that a program is to print in one run."""
        return 0

    def strength(self) -> str:
        """What a pass is evidence of, in a few words for a table."""
        return ""

    def takes_nothing(self) -> bool:
        """Whether the answer is a function that is only called without arguments: one value is all that is asked."""
        return False

    def shares_process(self) -> bool:
        """Whether its tests visibly need the answer's process, in which they may be forged more easily."""
        return False

    def beyond_values(self) -> bool:
        """Whether its tests may tell an object from an equal copy of it, which is what they have of another process."""
        return False

    def never_fails(self) -> str:
        """Why no answer can fail it, in words; "" where that is not seen."""
        return ""

    def effective(self) -> "CheckBase":
        """The check that judges what the answer makes: an edit's judge where it has one, else the check itself."""
        return self

    def readable(self) -> str:
        """The check as a person reads it."""
        return self.model_dump_json(indent=2)

    def maybe(self, kind: type[C]) -> C | None:
        """Itself as that kind; None for another."""
        return self if isinstance(self, kind) else None

    def only(self, kind: type[C]) -> C:
        """Itself as that kind. Raises VerificationError for another."""
        if not isinstance(self, kind):
            raise VerificationError(f"a check of kind {self.kind!r} is none of kind {_name(kind)!r}")
        return self


def _name(kind: type[CheckBase]) -> str:
    return str(kind.model_fields["kind"].default)


def plain_json(value: Any) -> str:
    """The JSON text of test data that two tests have in common; NaN is allowed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def longest_first(lengths: Sequence[tuple[bool, int]], most: int) -> Sequence[int] | None:
    """Of tests as (shown, length of the input) the numbers of `most`, sorted; see `CheckBase.longest`.

    Of inputs of one length the earlier is taken.
    """
    if len(lengths) <= most:
        return None
    rank = [(not shown, 0 if shown else -length, at) for at, (shown, length) in enumerate(lengths)]
    return sorted(at for _, _, at in sorted(rank)[:most])


def one_text(value: Any) -> str:
    """One text for values that count as equal: tuples and lists, floats of nine equal digits, 1.0 and 1."""
    return repr(_settled(value))


def words_of(text: str) -> str:
    """The text with single spaces for all white space."""
    return " ".join(text.split())


def _settled(value: Any) -> Any:
    if type(value) in (int, str, bool):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else float(f"{value:.9g}")
    if isinstance(value, list | tuple):
        return [_settled(v) for v in value]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(map(repr, value))]
    if isinstance(value, dict):
        return [[_settled(k), _settled(v)] for k, v in sorted(value.items(), key=repr)]
    return value
