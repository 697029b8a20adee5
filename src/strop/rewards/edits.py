"""The rewards of edits by the names that a recipe uses.

The reasoning rewards apply to every task. The others apply to tasks whose check is of kind `edit`; they are None ("not
scored") for any other task, and if they need an oracle that the task lacks. The execution reward of an edit is
`passed`, as for any answer. docs/rewards.md and `edit_scores.py` define each number.

If the prompt ends in `<think>`, the completion is read as its continuation.
"""

from collections.abc import Callable
from functools import wraps

from strop.core.checks import EditCheck
from strop.core.protocols import Reward
from strop.core.rollout import Rollout
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.edits import Tolerance
from strop.rewards import edit_scores

Score = Callable[[EditCheck, str], float]
"""A number from (check, the whole of what was said)."""


def of_edits(score: Score, *, oracle: bool = True) -> Reward:
    """The reward of edit tasks that a score is; with `oracle`, only of those that have one."""

    @wraps(score)
    def reward(task: Task, rollout: Rollout, verdict: Verdict) -> float | None:
        check = task.edit
        if check is None or (oracle and not check.oracle):
            return None
        return score(check, said(rollout, task))

    return reward


def of_text(score: Callable[[str], float]) -> Reward:
    """The reward of every task that a score of what was said is."""

    def reward(task: Task, rollout: Rollout, verdict: Verdict) -> float:
        return score(said(rollout, task))

    return reward


def said(rollout: Rollout, task: Task | None = None) -> str:
    """The last turn's text, for an edit the whole answer, with the `<think>` that its prompt may have begun."""
    text = rollout.turns[-1].completion.text if rollout.turns else rollout.answer
    if task is not None and task.edit is not None:
        text = rollout.answer or text
    begun = len(rollout.turns) == 1 and rollout.prompt.rstrip().endswith("<think>")
    if begun and not text.startswith("<think>"):
        return "<think>" + ("" if text.startswith("\n") else "\n") + text
    return text


def edit_similarity(check: EditCheck, text: str) -> float:
    """How much of the oracle's change the answer's edit makes; 0 where it does not apply."""
    return edit_scores.similarity(text, check.files, oracle_of(check), check.format, tolerance_of(check))


def edit_applies(check: EditCheck, text: str) -> float:
    """1 when the edit can be read, applies and changes something."""
    return float(edit_scores.files_after(text, check.files, check.format, tolerance_of(check)) is not None)


def edit_format(check: EditCheck, text: str) -> float:
    """How well the edit is written, graded."""
    return edit_scores.format_score(text, check.format)


def oracle_of(check: EditCheck) -> dict[str, str]:
    """All files after the oracle's edit."""
    return edit_scores.oracle_after(check.files, check.oracle)


def tolerance_of(check: EditCheck) -> Tolerance:
    """How exactly the check wants an edit to fit."""
    return Tolerance.of(*check.tolerance)


EDITS: dict[str, Reward] = {
    "edit_similarity": of_edits(edit_similarity),
    "edit_applies": of_edits(edit_applies, oracle=False),
    "edit_format": of_edits(edit_format, oracle=False),
    "partial_reasoning": of_text(edit_scores.partial_reasoning),
    "strict_reasoning": of_text(edit_scores.strict_reasoning),
}
"""The rewards of this file by the names that a recipe uses."""
