"""`QueuedVerifier`: answers wait in a bounded, fair queue with a cache (`JobQueue`) that threads serve.

A subclass defines what a thread does with the next job: judge it here (`VerifierPool`), or send it elsewhere.
"""

import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future

from strop_verify.core.errors import VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.verification.pool.job_queue import Job, JobQueue, PerTask, answer_digest, task_digest
from strop_verify.verification.verifier import CLOSED, OpenVerifier, error_verdict, resolved, verdict_at_once

CAPACITY = 4096
"""Answers that may wait before `submit` blocks, so that memory stays bounded."""
CACHE_BYTES = 64 * 2**20
"""Size of the verdict cache."""
_CLOSE_SECONDS = 60.0
"""How long `close` waits for its threads, each of which ends soon after the work it waits for."""


class QueuedVerifier(OpenVerifier):
    """`threads` serve the queue. A subclass calls `start` when it is ready.

    `route`: the toolchain of a task. `capacity`: answers that may wait. `cache_bytes`: 0 turns the cache off; runs are
    still shared. `stats` has submitted, finished, errors, cache_hits, cache_misses (answers that needed a run), joined,
    retries (broken runs), waiting, running, cache_entries and cache_bytes.
    """

    def __init__(
        self,
        threads: int,
        *,
        route: Callable[[Task], str] = Task.toolchain,
        capacity: int = CAPACITY,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._route = route
        self._jobs = JobQueue(capacity, cache_bytes)
        self._task_digest = PerTask(task_digest)
        self._threads = [
            threading.Thread(target=self._serve, args=(number,), name=f"strop-verify-{number}", daemon=True)
            for number in range(threads)
        ]

    def start(self) -> None:
        """Starts the threads."""
        for thread in self._threads:
            thread.start()

    @abstractmethod
    def _work(self, first: Job, number: int) -> None:
        """Settles a job, and others with it, on thread `number`; never raises."""

    @abstractmethod
    def _interrupt(self) -> None:
        """Ends whatever threads wait for. Called repeatedly until they end, since something may just be starting."""

    def submit(
        self, task: Task, answer: str, *, client: str = "", timeout: float | None = None
    ) -> "Future[Verdict]":
        """Starts verification, see `OpenVerifier.submit`. Once closed, every verdict is *error*."""
        if (verdict := verdict_at_once(task, answer)) is not None:
            return resolved(verdict)
        try:
            toolchain = self._route(task)
        except VerificationError as error:
            return resolved(error_verdict(str(error)))
        job = Job(task, answer, toolchain, client, self._digest(task, answer))
        kept = self._jobs.offer(job, timeout)
        if kept is None and not self._jobs.closed:
            return job.future
        return resolved(kept or error_verdict(CLOSED))

    @property
    def capacity(self) -> int:
        """Maximum number of answers that may wait."""
        return self._jobs.capacity

    @property
    def room(self) -> int:
        """Number of answers that can be submitted now without blocking."""
        return self._jobs.room()

    def stats(self) -> dict[str, int]:
        """Counters; see the class."""
        return self._jobs.stats()

    def close(self) -> None:
        """Ends the threads; unfinished answers get outcome *error*. Safe to call twice and from any thread."""
        for job in self._jobs.close():
            self._jobs.finish(job, error_verdict(CLOSED), active=False)
        deadline = time.monotonic() + _CLOSE_SECONDS
        others = [thread for thread in self._threads if thread is not threading.current_thread()]
        while any(thread.is_alive() for thread in others) and time.monotonic() < deadline:
            self._interrupt()
            for thread in others:
                thread.join(0.05)

    def _digest(self, task: Task, answer: str) -> tuple[bytes, bytes] | None:
        try:
            return self._task_digest(task), answer_digest(answer)
        except (ValueError, TypeError):  # metadata that is not JSON
            return None

    def _serve(self, number: int) -> None:
        while (first := self._jobs.next_job()) is not None:
            self._work(first, number)
