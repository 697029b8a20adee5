"""The forms that a recipe section can have, including those that packages add; one of its keys selects the form."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from strop_verify.core.registry import added
from strop_verify.core.section import Section

ADDED_TAG = "another package's"
"""pydantic's tag for every form that is not built in; no form has that name."""

S = TypeVar("S", bound=Section)


def by_key(union: object, key: str = "type") -> dict[str, type[Any]]:
    """The section classes of a union, by their value of `key`."""
    return {section.model_fields[key].default: section for section in get_args(union)}


class Forms(Mapping[str, type[S]]):
    """The section class of each form: the built-in ones first, then `other` for those that packages add."""

    def __init__(
        self, group: str, builtin: object, other: type[S], *, key: str = "type", files: bool = True
    ) -> None:
        """`group`: of entry points; `builtin`: a union of sections; `files`: whether any file.py:Name is a form."""
        self._group, self._key, self._files = group, key, files
        self.builtin: Mapping[str, type[S]] = by_key(builtin, key)
        self.other = other

    def __getitem__(self, name: str) -> type[S]:
        if name not in self.builtin and ((self._files and ":" in name) or name in added(self._group)):
            return self.other
        return self.builtin[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.builtin, *added(self._group))))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def tag(self, value: Any) -> str | None:
        """pydantic's tag for the form of a section, or of its data."""
        name = value.get(self._key) if isinstance(value, dict) else getattr(value, self._key, None)
        if name is None:
            return None
        return ADDED_TAG if self.get(str(name)) is self.other else str(name)

    def schema(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The pydantic schema of a section with one of these forms."""
        forms = {**self.builtin, ADDED_TAG: self.other}
        choices = {tag: handler.generate_schema(section) for tag, section in forms.items()}
        return core_schema.tagged_union_schema(choices, self.tag)
