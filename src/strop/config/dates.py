"""Dates as a recipe writes them, and the date window that an evaluation is limited to."""

from collections.abc import Iterator
from datetime import date

from pydantic import ConfigDict, Field

from strop.config.section import Complaint, Section


def day_fault(text: str | None) -> str:
    """What is wrong with a day written as text; "" when it is one, or None."""
    try:
        if text is not None and date.fromisoformat(text).isoformat() != text:
            raise ValueError
    except ValueError:
        return f"{text!r} is not a date; write it as YYYY-MM-DD, such as 2024-08-01"
    return ""


class WindowConfig(Section):
    """Only tasks that were published in these days, by their metadata["date"]: as LiveCodeBench (arXiv 2403.07974)
    does, so that no task is older than a model's training data. Tasks without a date are left out."""

    model_config = ConfigDict(populate_by_name=True)

    from_: str | None = Field(default=None, alias="from")
    """First day, as YYYY-MM-DD; null: from the beginning."""
    to: str | None = None
    """Last day, as YYYY-MM-DD, itself included; null: without end."""

    @property
    def is_open(self) -> bool:
        """Whether it leaves nothing out."""
        return self.from_ is None and self.to is None

    def __str__(self) -> str:
        return f"{self.from_ or '...'} to {self.to or '...'}"

    def complaints(self) -> Iterator[Complaint]:
        """Both are days, in order."""
        faults = {"from": day_fault(self.from_), "to": day_fault(self.to)}
        yield from ((field, fault) for field, fault in faults.items() if fault)
        if not any(faults.values()) and self.from_ and self.to and self.from_ > self.to:
            yield "to", f"{self.to} lies before the first day, {self.from_}; exchange them"
