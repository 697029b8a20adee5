"""A task: frozen data that says what to solve and how an answer is checked."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict

from pydantic import Field, GetPydanticSchema, model_validator

from strop_verify.core.checks import Check, EditCheck
from strop_verify.core.fences import language_of
from strop_verify.core.ids import content_hash
from strop_verify.core.records import Record


class Metadata(TypedDict, total=False):
    """Optional data of a task besides its fields: every key of `Task.metadata` that Strop reads or writes, grouped by
    what writes it.

    The type checker rejects other keys. Nothing is validated when a task is read, because task lines from elsewhere may
    hold anything under these names, and other names; code that depends on a type checks it.
    """

    # Every format. `original`: what the source row holds beyond the task, or the id of the task this one is made from.
    original: Any
    broken: str
    """A complete answer that must fail."""
    references: list[str]
    """Further answers that pass."""
    base_tests: int
    """How many of the first tests are the base set."""
    public_tests: list[Any]
    """Tests whose results a play may see (`strop.tasks.public_tests`): numbers, or ids for a project."""
    date: str
    """Day of publication, YYYY-MM-DD."""
    pair: Any
    """A text; tasks that share it stay on the same side of a split."""
    examples: list[str]
    """Examples that the prompt of a Rust task shows."""
    example_tests: str
    """The test of the examples, used if the trusted tests are left out."""
    stub: str
    """The code that the answer starts from, in place of the signature."""
    thought: str
    """The thought to write before an edit, if the task asks for one."""

    warning: str
    """What a pass does not prove, as words that follow "N of them" when tasks are imported."""

    # Single formats.
    title: str
    prefix: str
    suffix: str
    middle: str
    """Code around a hole, and what fills it."""
    bug_patch: str
    """Diff that introduces the bug."""
    parameters: dict[str, Any]
    """What a generated problem was made from."""
    options: int
    """Number of equally likely values for what the statement leaves open."""
    ceiling: float
    """Best possible share of passes in one turn: one in `options`."""
    state: str
    """Kind of a next-edit task: next, finish, far, large or over."""
    edits: int
    """Number of edits before a next edit."""
    wrong: list[str]
    """The programs of the other options."""
    function: str
    path: str
    line: int
    """Where the bug of a generated repository is."""

    # Tasks to label.
    cwe: str
    vulnerable: bool
    choices: dict[str, str]
    """What each label means."""
    code_lines: int
    """Lines of the code that is shown."""
    func_name: str
    lines: list[Any]
    """Where a pair differs, as [first, last]; for a bug, the lines that it changed."""

    # `strop build`.
    kind: str
    """Kind of a generated problem, or of a fault."""
    bug: list[str]
    """Operators that introduced the bug."""
    issue: str
    """Who wrote the statement of a bug: model."""
    operator: str
    error_code: str
    message: str
    """What the compiler or the tests report on the broken program."""
    repository: str
    commit: str
    names_file: bool
    """Whether the request names a file that matters."""
    unchanged: list[str]
    """Files that an edit leaves alone."""
    function_name: str
    qualified_name: str
    docstring: str
    implementation: str
    start_line: int
    end_line: int
    mask: str
    """What was taken out of a function to implement, and where it stood."""

    prompt_id: str
    model: str
    attempt: int
    """The prompt of a Rust task, and the model and the attempt whose answer became its reference."""
    own_tests: int
    assertions: int
    strength: Any
    source_cases: Any
    """How strong that answer's own tests are, and which cases of the source agree. For a commit, `strength` is
    [noticed, tried]: faults in its changed lines."""
    tells: list[str]
    """What a statement taken from a history quotes or names that appears only in the patch."""
    instance: str
    """SWE-bench's id of the row that the task was made from."""
    quarantined: dict[str, str]
    """Tests that are not used, and why: their results depend on chance, order, hash seed or date."""

    # `strop curate`.
    set: str
    """Name of the source."""
    split: str
    """Name of the split, if it is neither train nor held-out."""
    difficulty: dict[str, Any]
    """A policy's results on the task."""


Language = str
"""Lower-case language name: "python", "rust", ..."""
_BEHIND = re.compile(r"\s*\(.*|[\s_-]*v?[0-9][0-9.x]*$", re.DOTALL)


def language_named(name: str) -> Language:
    """The language that a name such as "C++17", "js" or "Python 3 (PyPy)" denotes, by the table of
    `strop_verify.core.fences`.

    A name that is not in the table is only put in lower case.
    """
    lower = name.strip().lower()
    bare = _BEHIND.sub("", lower.removeprefix("gnu "))
    return language_of(lower) or language_of(bare) or language_of(_BEHIND.sub("", bare)) or lower


Split = Literal["train", "held-out"]

_FUNCTION = re.compile(r"^\s*(?:pub |async |export )*(?:def|fn|function|func)\s+(\w+)", re.MULTILINE)
_LONGEST_NAME = 120
_PLAIN = GetPydanticSchema(lambda _, handler: handler(dict[str, Any]))
"""Read and written as an arbitrary JSON object."""


class Task(Record):
    """One problem to solve. If no `id` is given, it is a hash of what is asked and how it is checked."""

    id: str = ""
    family: str = "function"
    language: Language = "python"
    statement: str
    """What is asked, in prose."""
    signature: str = ""
    """`def name(args) -> type:` for function tasks, with the imports and helpers above it, else empty."""
    reference: str = ""
    """A complete solution that passes, or empty when none is known."""
    check: Check
    topic: str = ""
    level: int = Field(default=0, ge=0, le=5)
    """Difficulty as the author sees it: 1 very easy to 3 moderate; 0 unknown."""
    split: Split | None = None
    source: str = ""
    """Where the task comes from: "python-functions/strings", "humaneval/HumanEval/0", a file."""
    prompt: str | None = None
    """A ready prompt that replaces the templates (HumanEval's own text), continued by the answer."""
    metadata: Annotated[Metadata, _PLAIN] = Field(default_factory=Metadata)

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(language := data.get("language"), str):
            data = {**data, "language": language_named(language)}
        if isinstance(data, dict) and not data.get("id"):
            asked = ("family", "language", "statement", "signature", "check")
            parts = {name: _plain(data.get(name)) for name in asked}
            data = {**data, "id": content_hash(parts)}
        return data

    @property
    def name(self) -> str:
        """A readable name: its entry point, else the first line of its statement, else its id."""
        called = self.check.effective().function
        if not called and (found := _FUNCTION.search(self.signature)):
            called = found[1]
        lines = (line.strip() for line in self.statement.splitlines())
        return (called or next(filter(None, lines), "") or self.id)[:_LONGEST_NAME]

    @property
    def test_count(self) -> int:
        """How many tests an answer must pass, as far as the task itself says; 0 if it checks nothing."""
        return self.check.test_count()

    @property
    def untested(self) -> bool:
        """Whether it has no tests although its answers are to be judged."""
        return self.test_count == 0 and not self.check.rewards_alone

    def toolchain(self) -> str:
        """Name of the toolchain that judges answers. Raises VerificationError when there is none."""
        return self.check.toolchain(self.language)

    def with_tests(self, numbers: Sequence[int]) -> "Task":
        """The task with only these single tests, in order, otherwise unchanged.

        Adjusts `metadata["base_tests"]`, the number of leading tests that are the base set. Raises ValueError for a
        check that is not made of single tests.
        """
        metadata = self.metadata
        if isinstance(base := metadata.get("base_tests"), int):
            metadata = {**metadata, "base_tests": sum(number < base for number in set(numbers))}
        return self.model_copy(update={"check": self.check.with_tests(numbers), "metadata": metadata})

    @property
    def edit(self) -> EditCheck | None:
        """The check if the answer is an edit, else None."""
        return self.check.maybe(EditCheck)


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, Record) else value
