"""References judged like answers. A task whose own reference fails would be trained on with reward 0 for ever."""

from collections.abc import Sequence

from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict


def reference_verdicts(verifier: Verifier, tasks: Sequence[Task]) -> dict[str, Verdict]:
    """{task id: the verdict on its reference}; one that did not pass is tried twice, as the machine may be busy."""
    first = [verifier.submit(task, task.reference) for task in tasks]
    found = {task.id: future.result() for task, future in zip(tasks, first, strict=True)}
    doubtful = [task for task in tasks if failed(found[task.id])]
    again = [verifier.submit(task, task.reference) for task in doubtful]
    for task, future in zip(doubtful, again, strict=True):
        found[task.id] = future.result()
    return found


def failed(verdict: Verdict) -> bool:
    """Whether the reference failed, not the grader."""
    return verdict.scored and not verdict.passed


def why(verdict: Verdict) -> str:
    """What a verdict says of a reference that did not pass, in a few words."""
    wrong = next((test for test in verdict.tests if test.outcome is not Outcome.PASSED), None)
    cause = verdict.detail or (f"{wrong.id}: {wrong.message}" if wrong else "")
    return " ".join(f"{verdict.outcome}: {cause}".removesuffix(": ").split())[:300]
