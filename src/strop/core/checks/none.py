"""None: nothing judges an answer, and rewards alone say how good it is."""

from collections.abc import Set as AbstractSet
from typing import ClassVar, Literal

from strop.core.checks.base import CheckBase


class NoneCheck(CheckBase):
    """No toolchain and no tests; every answer, also an empty one, is *unjudged*."""

    judges_edits = False
    rewards_alone: ClassVar[bool] = True
    empty_is_answer: ClassVar[bool] = True
    kind: Literal["none"] = "none"

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return set()

    def strength(self) -> str:
        return "nothing: rewards alone"
