"""What the pool knows of its jobs: who waits, who is judged, who joined whom, what is kept. One lock over all of it.

A future is given its verdict only outside the lock, because its callbacks are the caller's code.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from strop.core.errors import StropError
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.verification.pool.cache import Key, VerdictCache
from strop.verification.pool.fair import FairQueue
from strop.verification.verifier import CLOSED, error_verdict, resolve, writable

COUNTERS = ("submitted", "finished", "errors", "cache_hits", "cache_misses", "joined", "retries")


class PoolBusy(StropError):
    """The queue stayed full for longer than the caller would wait."""


@dataclass(eq=False, slots=True)
class Job:
    """One answer to judge."""

    task: Task
    answer: str
    toolchain: str
    client: str
    digests: tuple[bytes, bytes] | None
    """Of task and answer; None = neither cached nor shared."""
    future: "Future[Verdict]" = field(default_factory=Future)
    key: Key | None = None
    """Set when it starts; from then on others may join its run."""
    alone: bool = False
    """Whether a run with others broke, so that it goes alone."""
    followers: "list[Job]" = field(default_factory=list)

    @property
    def lane(self) -> tuple[str, bool]:
        """(toolchain, whether it must go alone)."""
        return self.toolchain, self.alone


class Ledger:
    """Shared by the pool's threads and its callers; every method is safe from any thread."""

    def __init__(self, capacity: int, cache_bytes: int) -> None:
        self.capacity = capacity
        self.closed = False
        self.versions: dict[str, str] = {}
        """Of the toolchains seen so far, by name."""
        self._queue: FairQueue[Job] = FairQueue()
        self._cache = VerdictCache(cache_bytes)
        self._runs: dict[Key, Job] = {}
        self._joined = 0  # jobs that wait for another's run; they count as waiting
        self._active = 0
        self._cancelled = False  # whether some that wait may have been cancelled
        self._counts = dict.fromkeys(COUNTERS, 0)
        self._changed = threading.Condition()

    def offer(self, job: Job, timeout: float | None) -> Verdict | None:
        """Queues a job, or gives its kept verdict. Blocks while full; raises PoolBusy after `timeout` seconds.

        A closed ledger queues nothing: look at `closed` when None is returned.
        """
        with self._changed:
            version = self.versions.get(job.toolchain)
            if job.digests and version is not None and not self.closed:
                kept = self._cache.get((*job.digests, job.toolchain, version))
                if kept is not None:
                    self._count(submitted=1, finished=1, cache_hits=1)
                    return kept
            if not self._changed.wait_for(lambda: self.closed or self._room() > 0, timeout):
                raise PoolBusy(
                    f"{self.capacity} answers wait already, and none began within {timeout:g} s; "
                    "submit fewer at a time"
                )
            if self.closed:
                return None
            self._count(submitted=1)
            self._queue.put(job.client, job.lane, job)
            self._changed.notify_all()
        job.future.add_done_callback(self._perhaps_cancelled)
        return None

    def _perhaps_cancelled(self, future: "Future[Verdict]") -> None:
        if future.cancelled():
            with self._changed:
                self._cancelled = True
                self._changed.notify_all()

    def first(self) -> Job | None:
        """Waits for the next job; None when the ledger is closed."""
        with self._changed:
            while not self.closed:
                job = self._queue.take()
                if job is not None:
                    return job
                self._changed.wait()
            return None

    def gather(self, first: Job, batch: int) -> list[Job]:
        """The jobs of one run: `first` and waiting ones of its toolchain, at most `batch`.

        Left out are those that need no run: cancelled, kept, or judged right now by another. May be empty.
        """
        jobs: list[Job] = []
        settled: list[tuple[Job, Verdict]] = []
        with self._changed:
            job: Job | None = first
            while job is not None:
                if self._starts(job, settled):
                    jobs.append(job)
                full = first.alone or len(jobs) >= batch
                job = None if full else self._queue.take(first.lane)
            self._active += len(jobs)
            self._changed.notify_all()
        for done, verdict in settled:
            resolve(done.future, verdict)
        return jobs

    def _starts(self, job: Job, settled: list[tuple[Job, Verdict]]) -> bool:
        if job.alone:
            return True
        if not job.future.set_running_or_notify_cancel():
            self._count(finished=1)
            return False
        if job.digests is not None:
            key = (*job.digests, job.toolchain, self.versions.get(job.toolchain, ""))
            kept = self._cache.get(key)
            if kept is not None:
                self._count(finished=1, cache_hits=1)
                settled.append((job, kept))
                return False
            if key in self._runs:
                self._count(joined=1)
                self._joined += 1
                self._runs[key].followers.append(job)
                return False
            job.key = key
            self._runs[key] = job
        self._count(cache_misses=1)
        return True

    def alone(self, job: Job) -> None:
        """Requeues a job of a run that broke at the front, to run alone; *error* when closing."""
        with self._changed:
            self._count(retries=1)
            if not self.closed:
                job.alone = True
                self._active -= 1
                self._queue.put_first(job.client, job.lane, job)
                self._changed.notify_all()
                return
        self.finish(job, error_verdict(CLOSED), keep=False)

    def broken(self) -> None:
        """Counts a run that broke, of a job that is retried by the same thread."""
        with self._changed:
            self._count(retries=1)

    def finish(self, job: Job, verdict: Verdict, *, active: bool = True, keep: bool = True) -> None:
        """Settles a job and those that joined its run. `active`: it came from `gather`; `keep`: for later."""
        verdict, text = writable(verdict)
        with self._changed:
            everyone = [job, *job.followers]
            if job.key is not None:
                del self._runs[job.key]
                if keep:
                    self._cache.put(job.key, verdict, text)
            self._joined -= len(job.followers)
            self._active -= active
            self._count(finished=len(everyone), errors=0 if verdict.scored else len(everyone))
            self._changed.notify_all()
        for one in everyone:
            resolve(one.future, verdict)

    def close(self) -> Sequence[Job]:
        """From now on nothing is queued; returns what was waiting."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
            return self._queue.drain()

    def room(self) -> int:
        """Jobs that can be offered now without blocking."""
        with self._changed:
            return max(0, self._room())

    def stats(self) -> dict[str, int]:
        """Counters, and what is there now."""
        with self._changed:
            return {
                **self._counts,
                "waiting": len(self._queue) + self._joined,
                "running": self._active,
                "cache_entries": len(self._cache),
                "cache_bytes": self._cache.bytes,
            }

    def _room(self) -> int:
        if self._cancelled and len(self._queue) + self._joined >= self.capacity:
            self._cancelled = False
            self._count(finished=self._queue.prune(lambda job: job.future.cancelled()))
        return self.capacity - len(self._queue) - self._joined

    def _count(self, **by: int) -> None:
        for name, number in by.items():
            self._counts[name] += number
