"""Fewer tests for a task: the ones with the longest inputs, as DeepCoder's rewards take at most 15.

Long inputs are the telling ones where tests are input and output: they hold the corner cases and the slow ones. Only
tests that are data can be chosen (calls with arguments, programs with their input); test code stays as it is.
"""

import json

from strop.core.checks import Case, CasesCheck, StdioCase, StdioCheck
from strop.core.task import Task


def at_most(task: Task, most: int) -> Task:
    """The task with at most `most` tests, in their order: those that the prompt shows, then the longest inputs.

    Shown ones count too, and stay, as the question would change without them; of more than `most` the first do. Of
    inputs of one length the earlier is taken. `metadata["base_tests"]` becomes the number of base tests that are left.
    """
    check = task.check
    if not isinstance(check, CasesCheck | StdioCheck) or len(check.cases) <= most:
        return task
    cases: list[Case] | list[StdioCase] = check.cases
    order = sorted(range(len(cases)), key=lambda at: (not cases[at].shown, _rank(cases[at]), at))
    kept = sorted(order[:most])
    changed = check.model_copy(update={"cases": [cases[at] for at in kept]})
    metadata = task.metadata
    if isinstance(base := metadata.get("base_tests"), int):
        metadata = {**metadata, "base_tests": sum(at < base for at in kept)}
    return task.model_copy(update={"check": changed, "metadata": metadata})


def _rank(case: Case | StdioCase) -> int:
    """Longest first; shown ones in their order."""
    return 0 if case.shown else -input_length(case)


def input_length(case: Case | StdioCase) -> int:
    """Characters of what a program reads, or of a call's arguments as JSON."""
    if isinstance(case, StdioCase):
        return len(case.stdin)
    return len(json.dumps([case.args, case.kwargs], ensure_ascii=False))
