"""The report of a repair: every stage, every candidate, and why one was chosen.

Edits are ranked by broken regression tests, then by the score |P| |T|^2, then by majority, as in Agentless Mini (arXiv
2502.18449, section 3): T are the reproduction tests that an edit passes, P the samples that pass exactly those (CodeT's
dual agreement, arXiv 2207.10397, with more weight on tests). Deviations: 1. P counts only samples of edits that break
equally many tests: edits that break more add no votes; 2. ties go to the smaller diff, then to the first sample.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import Field

from strop_verify.core.records import Record


class FoundFile(Record):
    """A file that stage 1 chose. `votes`: the number of samples that named it."""

    path: str
    votes: int
    by: Literal["model", "lexical", "given"]


class SampledEdit(Record):
    """One sampled edit.

    number  index in the order of sampling
    answer  the policy's completion, shortened; hostile text
    fault   why it is not a candidate, "" for candidates
    group   a key that is equal for samples with the same effect
    """

    number: int
    answer: str
    fault: str = ""
    group: str = ""


class Edit(Record):
    """One or more samples with the same effect, and the scores that ranked them.

    samples     numbers of the samples; the diff is the smallest one's
    size        lines that the diff adds or removes
    broken      regression tests that no longer pass; None = not run
    reproduced  reproduction tests that pass now; None = not run
    score       |P| |T|^2: samples that pass the same reproduction tests, times the number of these tests squared
    """

    group: str
    samples: list[int]
    diff: str
    size: int
    broken: list[str] | None = None
    reproduced: list[str] | None = None
    score: int = 0


class RerankStep(Record):
    """One rule of the reranking and how many edits it left."""

    rule: str
    left: int


class RepairReport(Record):
    """The report of a repair.

    lines         path -> lines that the policy was shown; None = the whole file
    regression    tests that pass before
    reproduction  name -> text of the policy's test files that fail before
    edits         best first
    notes         what used a weaker method or was left out
    """

    repository: str
    model: str
    seed: int
    format: str
    files: list[FoundFile] = Field(default_factory=list)
    lines: dict[str, list[tuple[int, int]] | None] = Field(default_factory=dict)
    regression: list[str] = Field(default_factory=list)
    reproduction: dict[str, str] = Field(default_factory=dict)
    samples: list[SampledEdit] = Field(default_factory=list)
    edits: list[Edit] = Field(default_factory=list)
    steps: list[RerankStep] = Field(default_factory=list)
    decided_by: str = ""
    notes: list[str] = Field(default_factory=list)

    @property
    def diff(self) -> str:
        """The diff of the chosen edit; "" if no edit applied."""
        return self.edits[0].diff if self.edits else ""


RULES: tuple[tuple[str, Callable[[Edit], int]], ...] = (
    ("regression tests", lambda edit: len(edit.broken or ())),
    ("reproduction tests", lambda edit: -edit.score),
    ("majority", lambda edit: -len(edit.samples)),
    ("smaller edit", lambda edit: edit.size),
    ("first sampled", lambda edit: min(edit.samples)),
)
"""(name, measure): each rule keeps the edits with the least measure among those that the rules before it left."""


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
    """A clause on the reproduction tests that an edit passes; "" if none was run on it."""
    if edit.reproduced is None:
        return ""
    return f", which passes {len(edit.reproduced)} reproduction tests"


def why_not_most(order: Sequence[Edit]) -> str:
    """Why the first edit is chosen although another passes more reproduction tests; "" if none does."""
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
    """(scored edits, best first; how many edits each rule left; the rule that decided). Needs at least one edit."""
    order = sorted(scored(edits), key=lambda edit: tuple(measure(edit) for _, measure in RULES))
    left, steps = order, []
    for name, measure in RULES:
        if len(left) == 1:
            break
        best = min(measure(edit) for edit in left)
        left = [edit for edit in left if measure(edit) == best]
        steps.append(RerankStep(rule=name, left=len(left)))
    return order, steps, steps[-1].rule if steps else "the only edit"
