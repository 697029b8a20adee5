"""The interface of check kinds, and the texts by which they compare test values.

`CheckBase` has the defaults, which a new kind overrides; `strop_verify.core.checks` says how to register it. `kind`
is a Literal of its name, and `toolchains` names what judges it (docs/api.md).
"""

import json
import re
import unicodedata
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
"""The form of the answer: a function to call, a program with input and output, a Python module with functions of any
name, the source of a crate, a file for commands, one of the check's labels, an edit of files, a patch of a repository,
places in files, an edit of a few lines or silence, tool calls.
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


Identifier = Annotated[str, AfterValidator(lambda name: unicodedata.normalize("NFKC", name))]
"""A Python name in NFKC form, to which Python normalises the names that it compiles."""
EntryPoint = Annotated[Identifier, AfterValidator(_entry_point)]
"""Name of the answer's function, or of the method of its class `Solution`; `Solution().NAME` is read as NAME."""


class SingleTest(NamedTuple):
    """One test; its place in the list is its number."""

    given: str
    """Its input for the answer; tests with equal inputs are repetitions."""
    size: int
    """Characters of its input."""
    shown: bool = False
    """Whether the prompt shows it."""


class RevealedTests(NamedTuple):
    """How many hidden tests appear in a text."""

    found: int
    hidden: int
    """Number of hidden tests."""
    marked: bool
    """Whether the check marks shown tests, so that any hidden one in the text is a leak."""


class CheckBase(Record):
    """How an answer is judged.

    A field with `exclude_if=not_` is written, and counts for a task's id, only if set. (A serializer in Python does
    not work: pydantic drops exceptions in it, such as Ctrl-C, and tries another kind.)
    """

    answer: ClassVar[Answer] = "file"
    toolchains: ClassVar[Mapping[str, str]] = {}
    """Language to name of its toolchain; empty: such tasks can be converted, not played."""
    judges_edits: ClassVar[bool] = True
    """Whether it can judge the file, or the files, that an edit makes."""
    rewards_alone: ClassVar[bool] = False
    """Whether only rewards judge an answer: no toolchain, no tests, outcome *unjudged*."""
    empty_is_answer: ClassVar[bool] = False
    """Whether an empty answer is judged like any other; else it is *no answer*."""
    kind: str

    @property
    def trust(self) -> Trust:
        """The trust of a pass, unless the toolchain knows better."""
        return "value"

    def lowered(self, trust: Trust | None) -> bool:
        """Whether a pass has less trust than usual for this check, because its tests share a process with the
        answer."""
        return trust == "same-process" != self.trust

    def toolchain(self, language: str) -> str:
        """Name of the toolchain for a task in that language. Raises VerificationError when there is none."""
        if not self.toolchains:
            raise VerificationError(f"tasks of kind {self.kind} can be stored, but not played yet")
        name = self.toolchains.get(language) or self.toolchains.get(ANY)
        if name is None:
            raise VerificationError(
                f"no toolchain for language {language!r} with a check of kind {self.kind!r}"
            )
        return name

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        """Stages that an answer goes through; `seen` are those of verdicts on similar tasks."""
        return {"build", "test"} | seen

    def test_count(self) -> int:
        """How many tests an answer must pass, if known; 0 if it checks nothing."""
        return 0

    def different_tests(self, *, hidden: bool = False) -> int:
        """How many tests have distinct inputs; `hidden`: among those not shown."""
        tests = self.single_tests()
        return len({t.given for t in tests if not (hidden and t.shown)}) if tests else self.test_count()

    def assertions(self) -> int | None:
        """Number of assertions in its test code; one in a loop counts as many. None without test code."""
        return None

    def single_tests(self) -> list[SingleTest]:
        """Its single tests in order; empty for kinds without any."""
        return []

    def told(self, number: int, *, public: bool = False) -> tuple[str, str] | None:
        """Input and expected value of a single test as text; None unless the prompt shows it or it is `public`."""
        return None

    def with_tests(self, numbers: Sequence[int]) -> Self:
        """The check with only these single tests, in order, otherwise unchanged.

        Raises ValueError for a kind without single tests.
        """
        raise ValueError(f"a check of kind {self.kind} is not made of single tests")

    def longest(self, most: int) -> Sequence[int] | None:
        """Numbers of at most `most` tests: the shown ones, then those with the longest inputs.

        None if there are no more, or if its tests are code, without inputs to choose by.
        """
        return None

    def without_tests(self) -> Self:
        """The check without its trusted tests, for kinds whose answers can bring tests; else itself."""
        return self

    def functions(self) -> tuple[str, ...]:
        """The answer's functions that it calls, the entry point first."""
        return ()

    @property
    def function(self) -> str:
        """Name of the entry point; "" if it calls none."""
        return next(iter(self.functions()), "")

    def is_lenient(self) -> bool:
        """Whether it accepts other results than the expected one: by a checker, or in any order."""
        return False

    def calls(self) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """Arguments and keywords of its calls, as far as known."""
        return iter(())

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Input and expected output of each test, as texts that are equal for equal tests."""
        return iter(())

    def examples(self, noted: Sequence[str]) -> str:
        """The shown tests as text; `noted` are the task's own examples."""
        return ""

    def test_code(self) -> str:
        """The trusted test code, for kinds with a single text."""
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
        """Bytes of the longest expected output of one run."""
        return 0

    def strength(self) -> str:
        """What a pass proves, in a few words for a table."""
        return ""

    def takes_nothing(self) -> bool:
        """Whether the answer is a function called only without arguments, hence a single value."""
        return False

    def shares_process(self) -> bool:
        """Whether its tests visibly need the answer's process, in which they may be forged more easily."""
        return False

    def beyond_values(self) -> bool:
        """Whether its tests may distinguish an object from an equal copy, which is what crosses from another
        process."""
        return False

    def never_fails(self) -> str:
        """Why no answer can fail it, in words; "" if no such reason is visible."""
        return ""

    def effective(self) -> "CheckBase":
        """The check that judges the result: an edit's judge if it has one, else the check itself."""
        return self

    def readable(self) -> str:
        """The check in readable form."""
        return self.model_dump_json(indent=2)

    def maybe(self, kind: type[C]) -> C | None:
        """The check, if it is of that kind; else None."""
        return self if isinstance(self, kind) else None

    def only(self, kind: type[C]) -> C:
        """The check, if it is of that kind. Raises VerificationError otherwise."""
        if not isinstance(self, kind):
            wanted = kind.model_fields["kind"].default
            raise VerificationError(f"a check of kind {self.kind!r} is not of kind {wanted!r}")
        return self


def plain_json(value: Any) -> str:
    """The JSON text of test data, equal for tests with equal data; NaN is allowed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def longest_first(lengths: Sequence[tuple[bool, int]], most: int) -> Sequence[int] | None:
    """The sorted numbers of `most` tests, given as (shown, length of the input); see `CheckBase.longest`.

    Ties go to the earlier test.
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
