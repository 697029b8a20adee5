"""Which edit is the best: fewest broken regression tests, reproduction score, majority, smaller diff, first sample.

The order is that of Agentless Mini (arXiv 2502.18449, section 3). The score of an edit is |P| |T|^2: T are the
reproduction tests that it passes, P the samples that pass exactly those (CodeT's dual agreement, arXiv 2207.10397,
with more weight on tests). Deviations: 1. P counts samples among the edits that break equally few tests, so that
edits which break more lend no votes; 2. ties end in the smaller diff, then in the sample that came first.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from strop.repair.record import Edit, RerankStep

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
