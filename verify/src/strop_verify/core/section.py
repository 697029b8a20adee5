"""The base class of every part of a recipe: frozen, no unknown keys, checks across fields. Nested data, and days."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

Path = tuple[str | int, ...]
"""Keys and list indices from the root to a value."""
Complaint = tuple[str, str]
"""(field, what is wrong with it and what to do); the field is relative to the section, dotted where deeper."""


class Section(BaseModel):
    """One part of a recipe. The text under a field is its description: meaning, unit, source."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True, validate_default=True
    )

    def complaints(self) -> Iterator[Complaint]:
        """Yields conflicts between fields that are each valid alone. Sections override this."""
        yield from ()

    @model_validator(mode="after")
    def _check_across_fields(self) -> Self:
        found = list(self.complaints())
        if found:
            text = "; ".join(f"{field}: {what}" for field, what in found)
            raise PydanticCustomError("complaints", "{text}", {"text": text, "complaints": found})
        return self

    def having(self, changes: Mapping[str, Any]) -> Self:
        """A copy with these values by dotted key, without validation."""
        made = self
        for key, value in changes.items():
            name, _, inner = key.partition(".")
            new = getattr(made, name).having({inner: value}) if inner else value
            made = made.model_copy(update={name: new})
        return made


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Nested data in which `above` wins: mappings are merged, anything else is replaced as a whole."""
    both = {key: below.get(key) for key, new in above.items() if isinstance(new, Mapping)}
    nested = {key: laid_over(old, above[key]) for key, old in both.items() if isinstance(old, Mapping)}
    return {**below, **above, **nested}


def day_fault(text: str | None) -> str:
    """What is wrong with a date given as text; "" if it is valid or None."""
    try:
        if text is not None and date.fromisoformat(text).isoformat() != text:
            raise ValueError
    except ValueError:
        return f"{text!r} is not a date; write it as YYYY-MM-DD, such as 2024-08-01"
    return ""
