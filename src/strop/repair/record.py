"""The report of a repair: every stage, every candidate, and why one was chosen."""

from typing import Literal

from pydantic import Field

from strop.core.records import Record


class FoundFile(Record):
    """A file that stage 1 chose."""

    path: str
    votes: int
    """Samples that named it."""
    by: Literal["model", "lexical", "given"]


class SampledEdit(Record):
    """One sampled edit."""

    number: int
    """In the order of sampling, from 0."""
    answer: str
    """What the policy said, cut; hostile text."""
    fault: str = ""
    """Why it is no candidate, "" for candidates."""
    group: str = ""
    """Key of what it does; equal for samples that do the same."""


class Edit(Record):
    """One or more samples that do the same, with the scores that ranked them."""

    group: str
    samples: list[int]
    """Numbers of the samples; the diff is the smallest one's."""
    diff: str
    size: int
    """Lines of the diff that are added or removed."""
    broken: list[str] | None = None
    """Regression tests that no longer pass; None = not run."""
    reproduced: list[str] | None = None
    """Reproduction tests that pass now; None = not run."""
    score: int = 0
    """|P| |T|^2: samples that pass the same reproduction tests, times the number of those squared."""


class RerankStep(Record):
    """One rule of the reranking and how many edits it left."""

    rule: str
    left: int


class RepairReport(Record):
    """A whole repair."""

    repository: str
    model: str
    seed: int
    format: str
    files: list[FoundFile] = Field(default_factory=list)
    lines: dict[str, list[tuple[int, int]] | None] = Field(default_factory=dict)
    """Lines that the policy was shown; None = the whole file."""
    regression: list[str] = Field(default_factory=list)
    """Tests that pass before."""
    reproduction: dict[str, str] = Field(default_factory=dict)
    """Test files of the policy that fail before: name -> text."""
    samples: list[SampledEdit] = Field(default_factory=list)
    edits: list[Edit] = Field(default_factory=list)
    """Best first."""
    steps: list[RerankStep] = Field(default_factory=list)
    decided_by: str = ""
    notes: list[str] = Field(default_factory=list)
    """What fell back on something weaker, or was left out."""

    @property
    def diff(self) -> str:
        """The chosen edit; "" where nothing applied."""
        return self.edits[0].diff if self.edits else ""
