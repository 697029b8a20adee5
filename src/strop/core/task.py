"""A task: frozen data that says what is asked and how an answer is checked. Behaviour lives elsewhere."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from strop.core.ids import content_hash
from strop.core.records import Record

Language = str
"""Lower-case language name: "python", "rust", ..."""

Split = Literal["train", "held-out"]


class Case(Record):
    """One call of the entry point and the value that it must return (JSON values)."""

    args: list[Any] = Field(default_factory=list)
    kwargs: dict[str, Any] = Field(default_factory=dict)
    expected: Any
    shown: bool = False
    """Whether the prompt shows this case; hidden cases only judge."""


class StdioCase(Record):
    """One run of a program: what it reads and what it must print."""

    stdin: str
    stdout: str
    shown: bool = False


class CasesCheck(Record):
    """Call `entry_point` on each case; the parent compares what it returns with `expected`."""

    kind: Literal["cases"] = "cases"
    entry_point: str
    cases: list[Case]
    tolerance: float = 0.0
    """Largest absolute or relative difference allowed between floats; 0 = equal."""


class AssertsCheck(Record):
    """Trusted Python test code that calls `entry_point`; every top-level statement with an assert is one test."""

    kind: Literal["asserts"] = "asserts"
    entry_point: str
    code: str


class StdioCheck(Record):
    """Run the answer as a program on each case; its output is compared line by line, trailing space ignored."""

    kind: Literal["stdio"] = "stdio"
    cases: list[StdioCase]


Check = Annotated[CasesCheck | AssertsCheck | StdioCheck, Field(discriminator="kind")]


class Task(Record):
    """One thing to solve. `id` is a hash of what is asked and how it is checked when none is given."""

    id: str = ""
    family: str = "function"
    language: Language = "python"
    statement: str
    """What is asked, in prose."""
    signature: str = ""
    """`def name(args) -> type:` for function tasks, with the imports and helpers that stand above it, else empty."""
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
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _fill_id(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("id"):
            parts = {
                k: _plain(data.get(k)) for k in ("family", "language", "statement", "signature", "check")
            }
            data = {**data, "id": content_hash(parts)}
        return data

    @property
    def test_count(self) -> int:
        """How many tests an answer must pass; 0 when the task checks nothing."""
        if isinstance(self.check, AssertsCheck):
            return 1 if self.check.code.strip() else 0
        return len(self.check.cases)


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, Record) else value
