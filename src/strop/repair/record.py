"""The report of a repair: every stage, every candidate, and why one was chosen.

Edits are ranked by broken regression tests, then by the score |P| |T|^2, then by majority, as in Agentless Mini (arXiv
2502.18449, section 3): T are the reproduction tests that an edit passes, P the samples that pass exactly those (CodeT's
dual agreement, arXiv 2207.10397, with more weight on tests). Deviations: 1. P counts samples among the edits that break
equally few tests: edits that break more lend no votes; 2. ties end in the smaller diff, then in the first sample.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import Field

from strop_verify.core.records import Record


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


RULES: tuple[tuple[str, Callable[[Edit], int]], ...] = (
    ("regression tests", lambda edit: len(edit.broken or ())),
    ("reproduction tests", lambda edit: -edit.score),
    ("majority", lambda edit: -len(edit.samples)),
    ("smaller edit", lambda edit: edit.size),
    ("first sampled", lambda edit: min(edit.samples)),
)
"""(name, what is least for the best), each asked only of the edits that the ones before left."""


def scored(edits: Sequence[Edit]) -> list[Edit]:
    """The edits with their reproduction scores."""

    def agreement(edit: Edit) -> tuple[int, frozenset[str]]:
        return len(edit.broken or ()), frozenset(edit.reproduced or ())

    agreeing: Counter[tuple[int, frozenset[str]]] = Counter()
    for edit in edits:
        agreeing[agreement(edit)] += len(edit.samples)
    return [
        edit.model_copy(update={"score": agreeing[agreement(edit)] * len(edit.reproduced or ()) ** 2})
        for edit in edits
    ]


def passes(edit: Edit) -> str:
    """What an edit passes, in words; "" where no reproduction test was run on it."""
    if edit.reproduced is None:
        return ""
    return f", which passes {len(edit.reproduced)} reproduction tests"


def why_not_most(order: Sequence[Edit]) -> str:
    """Why the first of these edits is chosen although another passes more reproduction tests; "" where none does."""
    best = order[0]
    most = max(order, key=lambda edit: len(edit.reproduced or ()))
    if len(most.reproduced or ()) <= len(best.reproduced or ()):
        return ""
    shares = [
        f"{e.score // n**2 if (n := len(e.reproduced or ())) else 0} x {n}² = {e.score}" for e in (best, most)
    ]
    return (
        f"; another edit passes {len(most.reproduced or ())}, but counts less: samples that pass the same tests, times "
        f"tests squared, is {shares[0]} for the chosen edit and {shares[1]} for the other"
    )


def rerank(edits: Sequence[Edit]) -> tuple[list[Edit], list[RerankStep], str]:
    """(edits with scores, best first; what each rule left; the rule that decided). Needs at least one edit."""
    order = sorted(scored(edits), key=lambda edit: tuple(measure(edit) for _, measure in RULES))
    left, steps = order, []
    for name, measure in RULES:
        if len(left) == 1:
            break
        best = min(measure(edit) for edit in left)
        left = [edit for edit in left if measure(edit) == best]
        steps.append(RerankStep(rule=name, left=len(left)))
    return order, steps, steps[-1].rule if steps else "the only edit"
