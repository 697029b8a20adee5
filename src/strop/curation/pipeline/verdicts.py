"""Many answers to the verifier, verdicts in order, with a bound on what is under way."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import NamedTuple, TypeVar

from strop.core.errors import TooManyErrors
from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Verdict

IN_FLIGHT = 256
"""Most answers under way."""
_BYTES = 128 * 2**20
"""Most bytes of tests under way, as far as they are easily told."""
_FEWEST = 20
"""Verdicts before the share of errors counts."""

K = TypeVar("K")


class Job(NamedTuple):
    """An answer to a task."""

    task: Task
    answer: str


def verdicts(jobs: Iterable[tuple[K, Job]], verifier: Verifier) -> Iterator[tuple[K, Verdict]]:
    """One verdict a job, in order; jobs are taken as there is room for them."""
    waiting: deque[tuple[K, int, Future[Verdict]]] = deque()
    held = 0
    for key, job in jobs:
        size = job.task.check.bulk()
        while waiting and (len(waiting) >= IN_FLIGHT or held + size > _BYTES):
            held -= waiting[0][1]
            yield _result(waiting)
        waiting.append((key, size, verifier.submit(job.task, job.answer)))
        held += size
    while waiting:
        yield _result(waiting)


def _result(waiting: deque[tuple[K, int, Future[Verdict]]]) -> tuple[K, Verdict]:
    key, _, future = waiting.popleft()
    return key, future.result()


class Errors:
    """Watches the share of verdicts that are *error*: a broken grader must not pass for broken tasks."""

    def __init__(self, most: float) -> None:
        self._most = most
        self._seen = self._errors = 0

    def see(self, verdict: Verdict) -> None:
        """Counts one verdict. Raises TooManyErrors when more than `most` of at least 20 are errors."""
        self._seen += 1
        self._errors += not verdict.scored
        if not verdict.scored and self._seen >= _FEWEST and self._errors > self._most * self._seen:
            raise TooManyErrors(
                f"{self._errors} of {self._seen} answers could not be verified, more than max_error_rate="
                f"{self._most:g}; the last cause: {verdict.detail}"
            )


def again(answer: str, number: int) -> str:
    """The same answer under another text, so that the verifier runs it anew; number 0 is the answer itself."""
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
