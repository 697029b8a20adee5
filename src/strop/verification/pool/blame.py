"""Whose failure it was: ours, or the judged answer's.

An answer must not be able to turn its own failure into *error*, which leaves the loss: a model would learn that. So
when our side breaks on an answer, a known good answer to the same task is judged by the same toolchain. If that gets a
verdict, our side works, and the answer broke it.
"""

from collections.abc import Callable, Sequence

from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict

_HARMLESS = {"python": "pass\n", "rust": "fn harmless() {}\n"}
"""Answers that do nothing, for tasks without a reference."""
_DETAIL = 500


def blamed(task: Task, answer: str, verdict: Verdict, judge: Callable[[str], Sequence[Verdict]]) -> Verdict:
    """The verdict of an answer over which ours broke: *failed* if a known good answer gets a verdict, else *error*.

    `judge` judges one answer to the task in fresh processes.
    """
    known = task.reference if task.reference.strip() else _HARMLESS.get(task.language, "")
    if not known or known == answer:
        return verdict
    try:
        (proof,) = judge(known)
    except Exception:  # ours is broken without this answer too
        return verdict
    if not proof.scored:
        return verdict
    detail = f"the grader broke on this answer, and not on a known good one: {verdict.detail}"
    return verdict.model_copy(update={"outcome": Outcome.FAILED, "detail": detail[:_DETAIL]})
