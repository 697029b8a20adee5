"""`VerifierPool`: a few threads, each with its own toolchains, judge many answers. Verdicts arrive as they finish.

- The queue is bounded: `submit` blocks while it is full. Clients take turns; a client's oldest job goes first.
- A worker takes as many waiting jobs of one toolchain as its `batch` allows, and never waits for more.
- When a run of several jobs breaks, each is run again alone. When a run of one breaks, a control answer to its task
  shows whether the grader works, and the job is tried once more (attribution.py), within its limit and one second from
  the start of that run; time in the queue does not count. So no answer can turn its own failure into *error*, which is
  left out of the loss. No job ends a thread.
- An answer judged before gets the same verdict (`VerdictCache`), and one that is being judged is not judged twice.
  A time-out or an *error* is not kept.

Threat model: nothing of an answer runs here; the texts of a Verdict are hostile but plain.
"""

import time
from collections.abc import Callable

from strop_verify.core.errors import BatchFailed, TaskFault, VerificationError, WorkerDied
from strop_verify.core.protocols import Toolchain
from strop_verify.core.task import Task
from strop_verify.core.verdict import Trust, Verdict
from strop_verify.verification.pool.attribution import cause_of, close_all, judge_again
from strop_verify.verification.pool.job_queue import Job, PoolBusy
from strop_verify.verification.pool.queued_verifier import CACHE_BYTES, CAPACITY, QueuedVerifier
from strop_verify.verification.verifier import CLOSED, error_verdict, held_to

__all__ = ["PoolBusy", "VerifierPool"]


class VerifierPool(QueuedVerifier):
    """`workers` threads that judge answers with the toolchains that `route` names and `build` makes.

    `trust`: the minimum that a pass needs (`held_to`). `stats` adds `workers`. For the rest see `QueuedVerifier`.
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
        self._build, self._trust = build, trust
        self._toolchains: list[dict[str, Toolchain]] = [{} for _ in range(workers)]
        super().__init__(workers, route=route, capacity=capacity, cache_bytes=cache_bytes)
        self.start()

    def stats(self) -> dict[str, int]:
        """Counters; see the class."""
        return {**super().stats(), "workers": len(self._threads)}

    def _interrupt(self) -> None:
        for own in self._toolchains:
            close_all(list(own.values()))

    def _serve(self, number: int) -> None:
        try:
            super()._serve(number)
        finally:
            close_all(self._toolchains[number].values())

    def _work(self, first: Job, number: int) -> None:
        own = self._toolchains[number]
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
        except Exception as error:  # not a verdict, or one that cannot be written as JSON
            self._jobs.finish(job, error_verdict(cause_of(error)))

    def _toolchain(self, name: str, own: dict[str, Toolchain]) -> Toolchain:
        if name not in own:
            toolchain = self._build(name)
            version = getattr(toolchain, "version", "")
            self._jobs.versions[name] = version if isinstance(version, str) else ""
            own[name] = toolchain
        return own[name]

    def _failed(self, error: Exception, jobs: list[Job], toolchain: Toolchain, began: float) -> list[Job]:
        """Settles a run that gave no verdicts; returns the jobs to run at once."""
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
