"""Sends many answers to the verifier and yields verdicts in order, with a bound on those in flight."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.core.window import ahead
from strop.curation.engine.tally import ErrorBudget

IN_FLIGHT = 256
"""Most answers under way."""
_BYTES = 128 * 2**20
"""Most bytes of tests under way, as far as their checks say."""
_FEWEST = 20
"""Verdicts before the share of errors counts."""

K = TypeVar("K")


def verdicts(jobs: Iterable[tuple[K, Task, str]], verifier: Verifier) -> Iterator[tuple[K, Verdict]]:
    """(key, verdict) of each (key, task, answer), in order; jobs are taken as room allows."""
    begun = ((key, verifier.submit(task, answer), task.check.size()) for key, task, answer in jobs)
    for key, future, _ in ahead(begun, IN_FLIGHT, weight=lambda item: item[2], heaviest=_BYTES):
        yield key, future.result()


def error_budget(share: float) -> ErrorBudget:
    """Of the verdicts of a step whose `max_error_rate` is `share`."""
    return ErrorBudget(share, fewest=_FEWEST, what="answers could not be verified (max_error_rate)")


def again(answer: str, number: int) -> str:
    """The same answer as a different text, so that the verifier reruns it; number 0 is the answer itself."""
    return answer + "\n" * number


def known_answers(task: Task) -> list[str]:
    """The task's reference and the further known-good answers of its set, each once."""
    further = task.metadata.get("references")
    texts = [task.reference, *(further if isinstance(further, list) else [])]
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text.strip()))


def why(verdict: Verdict) -> str:
    """One line: why an answer did not pass."""
    failed = next((f"{t.id}: {t.message}" for t in verdict.tests if t.outcome != "passed"), "")
    return f"{verdict.outcome}: {' '.join((verdict.detail or failed).split())}"[:300]
