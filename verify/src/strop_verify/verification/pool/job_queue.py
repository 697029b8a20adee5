"""The jobs of a pool: those waiting, in order, those running or joined to another's run, and the kept verdicts.

One lock guards all of it. Futures are resolved outside the lock, since their callbacks are the caller's code.
"""

import hashlib
import json
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from strop_verify.core.errors import StropError
from strop_verify.core.last_used import LastUsed
from strop_verify.core.progress import PROGRESS
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.verifier import CLOSED, error_verdict, resolve, writable

COUNTERS = ("submitted", "finished", "errors", "cache_hits", "cache_misses", "joined", "retries")
KEPT = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.TAMPERED})
"""Outcomes that are kept; a busy machine can cause the others."""
OVERHEAD = 400
"""Bytes counted per kept verdict in addition to its text."""
Key = tuple[bytes, bytes, str, str]
"""Digests of task and answer, toolchain, its version."""
Lane = tuple[str, bool]
"""Toolchain, and whether a job must run alone."""
_Made = TypeVar("_Made")


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
    """Digests of task and answer; None = neither cached nor shared."""
    future: "Future[Verdict]" = field(default_factory=Future)
    key: Key | None = None
    """Set when it starts; from then on others may join its run."""
    alone: bool = False
    """Set after a run with others broke."""
    breaks: int = 0
    """Number of remote workers that were lost while judging it."""
    followers: "list[Job]" = field(default_factory=list)

    @property
    def lane(self) -> Lane:
        """Jobs of one lane can run together."""
        return self.toolchain, self.alone


class FairQueue:
    """The waiting jobs: clients take turns, and within a client's lane the oldest job goes first. Not thread-safe."""

    def __init__(self) -> None:
        self._clients: OrderedDict[str, dict[Lane, deque[tuple[int, Job]]]] = OrderedDict()
        self._count = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, job: Job, *, first: bool = False) -> None:
        """Queues a job behind the client's others; `first`: before them, for one that must run again."""
        lane = self._clients.setdefault(job.client, {}).setdefault(job.lane, deque())
        self._count += 1
        self._size += 1
        if first:
            lane.appendleft((0, job))
        else:
            lane.append((self._count, job))

    def take(self, lane: Lane | None = None) -> Job | None:
        """The next job (of that lane), or None; its client moves to the back."""
        for client, lanes in self._clients.items():
            if lane is not None and lane not in lanes:
                continue
            chosen = min(lanes, key=lambda name: lanes[name][0][0]) if lane is None else lane
            _, job = lanes[chosen].popleft()
            if not lanes[chosen]:
                del lanes[chosen]
            if lanes:
                self._clients.move_to_end(client)
            else:
                del self._clients[client]
            self._size -= 1
            return job
        return None

    def drop_cancelled(self) -> int:
        """Drops cancelled jobs; returns how many."""
        before = self._size
        for client, lanes in list(self._clients.items()):
            for lane, waiting in list(lanes.items()):
                lanes[lane] = deque(entry for entry in waiting if not entry[1].future.cancelled())
                self._size -= len(waiting) - len(lanes[lane])
                if not lanes[lane]:
                    del lanes[lane]
            if not lanes:
                del self._clients[client]
        return before - self._size

    def drain(self) -> list[Job]:
        """Takes everything, in no particular order."""
        jobs = [job for lanes in self._clients.values() for lane in lanes.values() for _, job in lane]
        self._clients.clear()
        self._size = 0
        return jobs


class VerdictCache:
    """The kept verdicts, as JSON text; the least recently used is dropped first. Not thread-safe."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self._texts: OrderedDict[Key, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._texts)

    def get(self, key: Key) -> Verdict | None:
        """The kept verdict, or None."""
        if (text := self._texts.get(key)) is None:
            return None
        self._texts.move_to_end(key)
        return Verdict.model_validate_json(text)

    def put(self, key: Key, verdict: Verdict, text: str) -> None:
        """Keeps a verdict, given with its JSON text, if its outcome may be kept and it fits."""
        data = text.encode()
        if verdict.outcome not in KEPT or key in self._texts or len(data) + OVERHEAD > self.most_bytes:
            return
        self._texts[key] = data
        self.bytes += len(data) + OVERHEAD
        while self.bytes > self.most_bytes:
            _, dropped = self._texts.popitem(last=False)
            self.bytes -= len(dropped) + OVERHEAD


class JobQueue:
    """The jobs of a pool, shared by its threads and its callers; every method is safe from any thread."""

    def __init__(self, capacity: int, cache_bytes: int) -> None:
        self.capacity = capacity
        self.closed = False
        self.versions: dict[str, str] = {}
        """Versions of the toolchains seen so far, by name."""
        self._queue = FairQueue()
        self._kept = VerdictCache(cache_bytes)
        self._runs: dict[Key, Job] = {}
        self._joined = 0  # jobs that wait for another's run; they count as waiting
        self._active = 0
        self._cancelled = False  # whether waiting jobs may have been cancelled
        self._counts = dict.fromkeys(COUNTERS, 0)
        self._changed = threading.Condition()

    def offer(self, job: Job, timeout: float | None) -> Verdict | None:
        """Queues a job, or returns its kept verdict. Blocks while full; raises PoolBusy after `timeout` seconds.

        A closed queue takes no job: check `closed` when None is returned.
        """
        with self._changed:
            version = self.versions.get(job.toolchain)
            if job.digests and version is not None and not self.closed:
                kept = self._kept.get((*job.digests, job.toolchain, version))
                if kept is not None:
                    self._count(submitted=1, finished=1, cache_hits=1)
                    return kept
            if not self._changed.wait_for(lambda: self.closed or self._room() > 0, timeout):
                raise PoolBusy(
                    f"{self.capacity} answers are waiting already, and none started within {timeout:g} s; "
                    "submit fewer at a time"
                )
            if self.closed:
                return None
            self._count(submitted=1)
            self._queue.put(job)
            self._changed.notify_all()
        job.future.add_done_callback(self._perhaps_cancelled)
        return None

    def _perhaps_cancelled(self, future: "Future[Verdict]") -> None:
        if future.cancelled():
            with self._changed:
                self._cancelled = True
                self._changed.notify_all()

    def next_job(self) -> Job | None:
        """Waits for the next job; None when closed."""
        with self._changed:
            self._changed.wait_for(lambda: self.closed or len(self._queue))
            return None if self.closed else self._queue.take()

    def batch_with(self, first: Job, batch: int) -> list[Job]:
        """The jobs of one run: `first` and waiting ones of its toolchain, at most `batch`.

        Leaves out jobs that need no run: cancelled, kept, or just being judged. May be empty.
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
            if (kept := self._kept.get(key)) is not None:
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

    def requeue_alone(self, job: Job) -> None:
        """Puts a job of a broken run back at the front, to run alone; *error* if the queue is closed."""
        with self._changed:
            self._count(retries=1)
            if not self.closed:
                job.alone = True
                self._active -= 1
                self._queue.put(job, first=True)
                self._changed.notify_all()
                return
        self.finish(job, error_verdict(CLOSED), keep=False)

    def count_broken_run(self) -> None:
        """Counts a broken run of a job that the same thread retries."""
        with self._changed:
            self._count(retries=1)

    def finish(self, job: Job, verdict: Verdict, *, active: bool = True, keep: bool = True) -> None:
        """Settles a job and those that joined its run. `active`: it came from `batch_with`; `keep`: cache it."""
        verdict, text = writable(verdict)
        with self._changed:
            everyone = [job, *job.followers]
            if job.key is not None:
                del self._runs[job.key]
                if keep:
                    self._kept.put(job.key, verdict, text)
            self._joined -= len(job.followers)
            self._active -= active
            self._count(finished=len(everyone), errors=0 if verdict.scored else len(everyone))
            self._changed.notify_all()
        PROGRESS.beat()
        for one in everyone:
            resolve(one.future, verdict)

    def close(self) -> list[Job]:
        """Closes the queue; returns the waiting jobs."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
            return self._queue.drain()

    def take_waiting(self) -> list[Job]:
        """Takes all waiting jobs, to be finished with `active=False`."""
        with self._changed:
            return self._queue.drain()

    def room(self) -> int:
        """Number of jobs that can be offered now without blocking."""
        with self._changed:
            return max(0, self._room())

    def stats(self) -> dict[str, int]:
        """Counters, and the current load."""
        with self._changed:
            return {
                **self._counts,
                "waiting": len(self._queue) + self._joined,
                "running": self._active,
                "cache_entries": len(self._kept),
                "cache_bytes": self._kept.bytes,
            }

    def _room(self) -> int:
        if self._cancelled and len(self._queue) + self._joined >= self.capacity:
            self._cancelled = False
            self._count(finished=self._queue.drop_cancelled())
        return self.capacity - len(self._queue) - self._joined

    def _count(self, **by: int) -> None:
        for name, number in by.items():
            self._counts[name] += number


class PerTask(Generic[_Made]):
    """Caches what `make` returns for a task, since the same few tasks recur. Thread-safe."""

    def __init__(self, make: Callable[[Task], _Made], most: int = 512) -> None:
        self._make = make
        self._known = LastUsed[int, tuple[Task, _Made]](most)
        """By `id`; keeps the task alive, so that no other task gets its id."""

    def __call__(self, task: Task) -> _Made:
        """The cached or new result. Raises what `make` raises."""
        return self._known.get(id(task), lambda: (task, self._make(task)))[1]


def task_digest(task: Task) -> bytes:
    """SHA-256 of the whole task. Raises ValueError or TypeError for metadata that is not JSON."""
    return hashlib.sha256(json.dumps(task.model_dump(mode="json"), sort_keys=True).encode()).digest()


def answer_digest(answer: str) -> bytes:
    """SHA-256 of an answer's text."""
    return hashlib.sha256(answer.encode("utf-8", errors="surrogatepass")).digest()
