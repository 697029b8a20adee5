"""Terminal tasks: a script works in a small machine, then tests of the task look at it and write a reward."""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from strop.core.checks.base import ANY, CheckBase
from strop.core.ids import canonical_json
from strop.core.verdict import Trust


class TerminalCheck(CheckBase):
    """Run the answer, a script of bash, in a machine that is as `image` says, then `tests/test.sh`, which writes its
    reward to /logs/verifier/reward.json or reward.txt; 1 passes.
    """

    optional: ClassVar[tuple[str, ...]] = (
        "image", "workdir", "environment", "test_environment", "files", "binary", "programs", "artifacts"
    )  # fmt: skip
    toolchains: ClassVar[Mapping[str, str]] = {ANY: "terminal"}
    judges_edits = False
    kind: Literal["terminal"] = "terminal"
    image: str = ""
    """Text of a Dockerfile, or the name of an image."""
    workdir: str = ""
    """Where script and tests run, if not where the Dockerfile says."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Variables of script and tests."""
    test_environment: dict[str, str] = Field(default_factory=dict)
    """Further ones of the tests."""
    files: dict[str, str] = Field(default_factory=dict)
    """Texts below `environment/`, beside the Dockerfile, and `tests/`, which come when the script has ended."""
    binary: dict[str, str] = Field(default_factory=dict)
    """Further such files as base64."""
    programs: list[str] = Field(default_factory=list)
    """Those of the files that can be run."""
    artifacts: list[str] = Field(default_factory=list)
    """Files and folders that are carried into a fresh machine for the tests; none: they run where the script ran."""
    seconds: float = 900.0
    """Wall time of the script."""
    test_seconds: float = 600.0
    """Wall time of the tests."""

    @property
    def trust(self) -> Trust:
        """The tests run programs of the answer, or beside what it left."""
        return "same-process"

    def strength(self) -> str:
        return "a reward of the task's own tests"

    def test_count(self) -> int:
        return 1

    def pairs(self) -> Iterator[tuple[str, str]]:
        yield canonical_json([self.image, self.files, self.binary]), ""
