"""Labels: an answer that names one of several."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, Literal

from strop.core.checks.base import ANY, CheckBase


class LabelCheck(CheckBase):
    """The answer names one of `choices`; it passes when that is `expected`. Nothing is run."""

    answer = "label"
    judges_edits = False
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "label"}
    kind: Literal["label"] = "label"
    choices: list[str]
    expected: str

    def stages(self, seen: AbstractSet[str]) -> AbstractSet[str]:
        return {"test"}

    def test_count(self) -> int:
        return 1

    def labels(self) -> Sequence[str]:
        return self.choices

    def strength(self) -> str:
        return "label compared"
