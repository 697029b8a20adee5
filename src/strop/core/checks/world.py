"""World: an answer that calls tools, whose world is to be as a goal says."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Literal

from pydantic import Field

from strop.core.checks.base import ANY, CheckBase


class WorldCheck(CheckBase):
    """The answer's calls, a line of JSON each, are made in a world as it was at first; then its state is looked at.

    An answer passes where one of the goals is met and everything else is as it was.
    """

    optional: ClassVar[tuple[str, ...]] = ("free",)
    answer = "calls"
    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "world"}
    kind: Literal["world"] = "world"
    world: str
    """The kind, by its name in `strop.tasks.tool_worlds`."""
    start: dict[str, Any]
    """The state at first."""
    goals: list[dict[str, Any]] = Field(min_length=1)
    """Each: values of parts of the state by path, null for a part that has to be gone."""
    free: list[str] = Field(default_factory=list)
    """Patterns of paths that may change."""

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {"test"}

    def test_count(self) -> int:
        return len(self.goals[0])

    def strength(self) -> str:
        return "the state that the calls leave"
