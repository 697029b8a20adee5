"""`VerifierPool`: many answers judged by a few threads, each with its own toolchains. Verdicts come as they finish.

- The queue is bounded: `submit` blocks while it is full. Clients take turns; a client's own jobs go oldest first.
- A worker takes as many waiting jobs of one toolchain as its `batch` allows, and never waits for more.
- When a run of several jobs breaks, each goes again alone. When a run of one breaks, a control answer to its task
  says whether ours works, and the job is tried once more (broken.py): all of it within its limit and one second,
  counted from the start of that run. So no answer can turn its own failure into *error*, which leaves the loss. Time
  in the queue does not count. No job ends a thread.
- An answer judged before gets the same verdict (`VerdictCache`); one that is being judged is not judged
  twice. After a time-out or an *error* there is a new run.

Threat model: nothing of an answer runs here; the texts of a Verdict are hostile but plain.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from strop.core.errors import BatchFailed, TaskFault, VerificationError, WorkerDied
from strop.core.protocols import Toolchain
from strop.core.task import Task
from strop.core.verdict import Trust, Verdict
from strop.verification.pool.broken import cause_of, close_all, judge_again
from strop.verification.pool.job_queue import Job, JobQueue, PerTask, PoolBusy, answer_digest, task_digest
from strop.verification.verifier import (
    CLOSED,
    OpenVerifier,
    error_verdict,
    held_to,
    resolved,
    verdict_at_once,
)

__all__ = ["PoolBusy", "VerifierPool"]

CAPACITY = 4096
"""Answers that may wait; `submit` blocks when there are more, so that memory stays bounded."""
CACHE_BYTES = 64 * 2**20
"""Kept verdicts, in bytes."""
_CLOSE_SECONDS = 60.0
"""How long `close` waits for its threads; each ends soon after its processes."""


class VerifierPool(OpenVerifier):
    """`workers` threads that judge answers with the toolchains that `route` names and `build` makes.

    `capacity`: answers that may wait. `cache_bytes`: 0 turns the cache off; runs are shared all the same. `trust`:
    the least of a pass (`held_to`). The names of `stats`: submitted, finished, errors, cache_hits, cache_misses
    (answers that needed a run), joined, retries (runs that broke), waiting, running, cache_entries, cache_bytes,
    workers.
    """

    def __init__(
        self,
        *,
        workers: int,
        route: Callable[[Task], str],
        build: Callable[[str], Toolchain],
        capacity: int = CAPACITY,
        cache_bytes: int = CACHE_BYTES,
        trust: Trust = "same-process",
    ) -> None:
        if workers < 1 or capacity < 1:
            raise ValueError(f"workers and capacity must be at least 1, not {workers} and {capacity}")
        self._route, self._build, self._trust = route, build, trust
        self._jobs = JobQueue(capacity, cache_bytes)
        self._task_digest = PerTask(task_digest)
        self._toolchains: list[dict[str, Toolchain]] = [{} for _ in range(workers)]
        self._threads = [
            threading.Thread(target=self._serve, args=(own,), name=f"strop-verify-{number}", daemon=True)
            for number, own in enumerate(self._toolchains)
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self, task: Task, answer: str, *, client: str = "", timeout: float | None = None
    ) -> "Future[Verdict]":
        """Starts verification. See `OpenVerifier.submit`; a closed pool answers *error*."""
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
        """Answers that may wait."""
        return self._jobs.capacity

    @property
    def room(self) -> int:
        """Answers that can be submitted now without blocking."""
        return self._jobs.room()

    def stats(self) -> dict[str, int]:
        """Counters; see the class."""
        return {**self._jobs.stats(), "workers": len(self._threads)}

    def close(self) -> None:
        """Ends every process; unfinished answers get outcome *error*. Safe to call twice and from any thread."""
        for job in self._jobs.close():
            self._jobs.finish(job, error_verdict(CLOSED), active=False)
        deadline = time.monotonic() + _CLOSE_SECONDS
        others = [thread for thread in self._threads if thread is not threading.current_thread()]
        while any(thread.is_alive() for thread in others) and time.monotonic() < deadline:
            for own in self._toolchains:  # again and again: a worker may be starting a process right now
                close_all(list(own.values()))
            for thread in others:
                thread.join(0.05)

    def _digest(self, task: Task, answer: str) -> tuple[bytes, bytes] | None:
        try:
            return self._task_digest(task), answer_digest(answer)
        except (ValueError, TypeError):  # metadata that is not JSON
            return None

    def _serve(self, own: dict[str, Toolchain]) -> None:
        try:
            while (first := self._jobs.next_job()) is not None:
                self._work(first, own)
        finally:
            close_all(own.values())

    def _work(self, first: Job, own: dict[str, Toolchain]) -> None:
        try:
            toolchain = self._toolchain(first.toolchain, own)
        except Exception as error:
            self._jobs.finish(first, error_verdict(cause_of(error)), active=False)
            return
        jobs = self._jobs.batch_with(first, toolchain.batch)
        while jobs:
            began = time.monotonic()
            try:
                if self._jobs.closed:
                    raise WorkerDied(CLOSED)
                verdicts = toolchain.judge([(job.task, job.answer) for job in jobs])
                if len(verdicts) != len(jobs):
                    raise WorkerDied(f"{len(jobs)} answers gave {len(verdicts)} verdicts")
            except Exception as error:
                jobs = self._failed(error, jobs, toolchain, began)
            else:
                for job, verdict in zip(jobs, verdicts, strict=True):
                    self._settle(job, verdict, toolchain, began)
                return

    def _settle(self, job: Job, verdict: Verdict, toolchain: Toolchain, began: float) -> None:
        try:
            if verdict.scored:
                if verdict.passed and verdict.trust is None:
                    verdict = verdict.model_copy(update={"trust": job.task.check.effective().trust})
                self._jobs.finish(job, held_to(verdict, self._trust))
            else:
                self._broke(job, verdict, toolchain, began, again=False)
        except Exception as error:  # no verdict at all, or one that cannot be written down
            self._jobs.finish(job, error_verdict(cause_of(error)))

    def _toolchain(self, name: str, own: dict[str, Toolchain]) -> Toolchain:
        if name not in own:
            toolchain = self._build(name)
            version = getattr(toolchain, "version", "")
            self._jobs.versions[name] = version if isinstance(version, str) else ""
            own[name] = toolchain
        return own[name]

    def _failed(self, error: Exception, jobs: list[Job], toolchain: Toolchain, began: float) -> list[Job]:
        """Settles a run that gave no verdicts; returns the jobs that go on at once."""
        cause = CLOSED if self._jobs.closed else cause_of(error)
        verdict = error_verdict(cause, time.monotonic() - began)
        if isinstance(error, VerificationError) and not isinstance(error, WorkerDied):
            if isinstance(error, TaskFault):
                self._jobs.finish(jobs[0], verdict)
            else:
                self._broke(jobs[0], verdict, toolchain, began, again=False)
            return jobs[1:]
        if not isinstance(error, BatchFailed):
            close_all([toolchain])
        if len(jobs) == 1:
            self._jobs.count_broken_run()
            self._broke(jobs[0], verdict, toolchain, began, again=not jobs[0].alone)
        else:
            for job in jobs:
                self._jobs.requeue_alone(job)
        return []

    def _broke(self, job: Job, verdict: Verdict, toolchain: Toolchain, began: float, *, again: bool) -> None:
        """Settles a job whose own run broke."""
        found = judge_again(
            job.task, job.answer, verdict, toolchain,
            began=began, again=again, closed=lambda: self._jobs.closed,
        )  # fmt: skip
        if found.judged:
            self._settle(job, found.verdict, toolchain, began)
            return
        if again:
            self._jobs.count_broken_run()
        self._jobs.finish(job, found.verdict, keep=False)
