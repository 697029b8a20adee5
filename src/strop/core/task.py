"""A task: frozen data that says what to solve and how an answer is checked."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, GetPydanticSchema, model_validator

from strop.core.checks import Check, EditCheck
from strop.core.ids import content_hash
from strop.core.metadata import Metadata
from strop.core.records import Record

Language = str
"""Lower-case language name: "python", "rust", ..."""

Split = Literal["train", "held-out"]

_FUNCTION = re.compile(r"^\s*(?:pub |async |export )*(?:def|fn|function|func)\s+(\w+)", re.MULTILINE)
_LONGEST_NAME = 120
_PLAIN = GetPydanticSchema(lambda _, handler: handler(dict[str, Any]))
"""Read and written as any object of JSON."""


class Task(Record):
    """One thing to solve. `id` is a hash of what is asked and how it is checked when none is given."""

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
    def _fill_id(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("id"):
            asked = ("family", "language", "statement", "signature", "check")
            parts = {name: _plain(data.get(name)) for name in asked}
            data = {**data, "id": content_hash(parts)}
        return data

    @property
    def name(self) -> str:
        """What people call it: its entry point, else the first line of what it asks, else its id."""
        called = self.check.effective().function
        if not called and (found := _FUNCTION.search(self.signature)):
            called = found[1]
        lines = (line.strip() for line in self.statement.splitlines())
        return (called or next(filter(None, lines), "") or self.id)[:_LONGEST_NAME]

    @property
    def test_count(self) -> int:
        """How many tests an answer must pass, as far as the task itself says; 0 when it checks nothing."""
        return self.check.test_count()

    @property
    def untested(self) -> bool:
        """Whether it has no tests though an answer is to be judged."""
        return self.test_count == 0 and not self.check.rewards_alone

    def toolchain(self) -> str:
        """Name of the toolchain that judges answers. Raises VerificationError when there is none."""
        return self.check.toolchain(self.language)

    def with_tests(self, numbers: Sequence[int]) -> "Task":
        """The task with these of its single tests, in their order, and nothing else of it changed.

        `metadata["base_tests"]`, how many of the first tests are the base set, follows. Raises ValueError for a check
        that is not made of single tests.
        """
        metadata = self.metadata
        if isinstance(base := metadata.get("base_tests"), int):
            metadata = {**metadata, "base_tests": sum(number < base for number in set(numbers))}
        return self.model_copy(update={"check": self.check.with_tests(numbers), "metadata": metadata})

    @property
    def edit(self) -> EditCheck | None:
        """The check, where the answer is an edit."""
        return self.check.maybe(EditCheck)


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, Record) else value
