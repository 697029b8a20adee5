"""The client's side on its own event loop: batches jobs, spreads them over servers, and tries again what was cut off.

A job keeps its id until it has its verdict, so a server that knows it does not judge it twice, and its future takes the
first verdict only. While no server can be reached a job waits `patience` seconds, then it is *error*, never a zero.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import httpx

from strop.core.verdict import Verdict
from strop.verification.remote.protocol import (
    BEAT_SECONDS,
    SESSION_HEADER,
    Refused,
    describe,
    explain,
    parse_verdict,
    say_hello,
)
from strop.verification.verifier import CLOSED, error_verdict, resolve

BATCH_JOBS = 32
BATCH_BYTES = 8 * 2**20
"""Most of one request, unless a single job is larger."""
STREAMS = 24
"""Requests to one server at a time."""
AHEAD = 64
"""Jobs a worker that a server may hold; more wait here, for whichever server is free first."""
_LINGER = 0.003
"""Seconds that the first job of a batch waits for more."""
_BACKOFF, _LONGEST_BACKOFF = 0.1, 5.0
_MOST_LINE = 64 * 2**20
_ALONE_AFTER, _MOST_CUTS = 4, 12
_BROKEN = (Refused, httpx.HTTPError, httpx.StreamError, ValueError, OSError)
_REFUSED = (400, 409, 413)
"""Statuses that mean a bad job, not a bad server."""


@dataclass(eq=False, slots=True)
class RemoteJob:
    """A job until it has its verdict."""

    name: str
    line: bytes
    future: "Future[Verdict]"
    born: float
    alone: bool = False
    cuts: int = 0
    """Requests with it that broke."""


@dataclass(eq=False)
class RemoteServer:
    """One server as we know it. `down_since`: when it stopped answering, None while it does."""

    url: str
    workers: int
    longest: float = _LONGEST_BACKOFF
    """Most seconds between two attempts to reach it."""
    in_flight: int = 0
    streams: int = 0
    down_since: float | None = None
    not_before: float = 0.0
    failures: int = 0
    cause: str = ""
    probing: bool = False

    def failed(self, cause: str) -> None:
        """It could not be reached or talks nonsense: leave it alone for a while, longer each time."""
        now = time.monotonic()
        self.cause = cause
        self.down_since = self.down_since or now
        self.not_before = now + min(self.longest, _BACKOFF * 2 ** min(self.failures, 10))
        self.failures += 1

    def answered(self) -> None:
        """It does what it should."""
        self.down_since, self.failures, self.cause = None, 0, ""


@dataclass
class Counts:
    """For `RemoteVerifier.stats`."""

    errors: int = 0
    requests: int = 0
    cut_off: int = 0
    """Jobs that were sent again because their request broke."""


@dataclass
class JobDispatcher:
    """Lives on one event loop; only `add` may be called from elsewhere, through call_soon_threadsafe."""

    remotes: Sequence[RemoteServer]
    http: httpx.AsyncClient
    session: str
    patience: float
    deadline: float
    counts: Counts
    settings: Mapping[str, object]
    """What a server must agree with, also after it was started again."""
    waiting: deque[RemoteJob] = field(default_factory=deque)
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, job: RemoteJob) -> None:
        """A new job."""
        self.waiting.append(job)
        self._wake.set()

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), self._pause())
                self._wake.clear()
                if len(self.waiting) < BATCH_JOBS:
                    await asyncio.sleep(_LINGER)
                while self.waiting and (remote := self._choose()) is not None:
                    self._send(remote, self._cut())
                if self.waiting:
                    self._probe_all()
                    self._expire()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.give_up()

    def give_up(self) -> None:
        """Settles what waits: nobody will be asked any more."""
        while self.waiting:
            self._settle(self.waiting.popleft(), error_verdict(CLOSED))

    def _pause(self) -> float | None:
        if not self.waiting:
            return None
        now = time.monotonic()
        return min([r.not_before - now for r in self.remotes if r.not_before > now] + [1.0])

    def _choose(self) -> RemoteServer | None:
        """The server with the fewest jobs a worker, of those that may be asked now."""
        now = time.monotonic()
        up = [r for r in self.remotes if r.down_since is None and now >= r.not_before and r.streams < STREAMS]
        free = [remote for remote in up if remote.in_flight < AHEAD * remote.workers]
        return min(free, key=lambda r: r.in_flight / r.workers, default=None)

    def _probe_all(self) -> None:
        now = time.monotonic()
        for remote in self.remotes:
            if remote.down_since is not None and now >= remote.not_before and not remote.probing:
                remote.probing = True
                self._start(self._probe(remote))

    async def _probe(self, remote: RemoteServer) -> None:
        try:
            say_hello(await self.http.get(f"{remote.url}/v1/health", timeout=5), self.settings)
            remote.answered()
        except _BROKEN as error:
            remote.failed(describe(error))
        finally:
            remote.probing = False
            self._wake.set()

    def _cut(self) -> list[RemoteJob]:
        batch: list[RemoteJob] = []
        size = 0
        while self.waiting and len(batch) < BATCH_JOBS:
            job = self.waiting[0]
            if batch and (job.alone or batch[0].alone or size + len(job.line) > BATCH_BYTES):
                break
            batch.append(self.waiting.popleft())
            size += len(job.line)
        return batch

    def _send(self, remote: RemoteServer, batch: list[RemoteJob]) -> None:
        self._start(self._deliver(remote, batch))
        remote.streams += 1
        remote.in_flight += len(batch)
        self.counts.requests += 1

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, remote: RemoteServer, batch: list[RemoteJob]) -> None:
        """One request. Jobs left without a verdict return to the front of the queue."""
        left = {job.name: job for job in batch if not job.future.cancelled()}
        remote.in_flight -= len(batch) - len(left)
        try:
            if left:
                await self._converse(remote, left)
        except Refused as error:
            self._refused(error, remote, left)
        except _BROKEN as error:
            self._broke(error, remote, left)
        finally:
            remote.streams -= 1
            remote.in_flight -= len(left)
            self.counts.cut_off += len(left)
            self.waiting.extendleft(reversed(left.values()))
            self._wake.set()

    async def _converse(self, remote: RemoteServer, left: dict[str, RemoteJob]) -> None:
        headers = {SESSION_HEADER: self.session, "Content-Type": "application/x-ndjson"}
        body = b"".join(job.line for job in left.values())
        timeout = httpx.Timeout(connect=5, read=4 * BEAT_SECONDS, write=60, pool=None)
        async with self.http.stream(
            "POST", f"{remote.url}/v1/verify", content=body, headers=headers, timeout=timeout
        ) as response:
            if response.status_code != 200:
                raise Refused(response.status_code, explain(await response.aread()))
            buffer = bytearray()
            async for chunk in response.aiter_bytes():
                remote.answered()
                buffer += chunk
                *lines, rest = buffer.split(b"\n")
                buffer = bytearray(rest)
                if len(buffer) > _MOST_LINE:
                    raise ValueError("a verdict line without end")
                for line in filter(bytes.strip, map(bytes, lines)):
                    name, verdict = parse_verdict(line)
                    if (job := left.pop(name, None)) is not None:
                        remote.in_flight -= 1
                        self._settle(job, verdict)
                if self.waiting:
                    self._wake.set()
        if left:
            raise ValueError("the server ended its answer early")

    def _broke(self, error: Exception, remote: RemoteServer, left: dict[str, RemoteJob]) -> None:
        """Counts a broken request against its jobs too: one that breaks every request must not go on for ever."""
        remote.failed(describe(error))
        for job in list(left.values()):
            job.cuts += 1
            job.alone = job.cuts >= _ALONE_AFTER
            if job.cuts >= _MOST_CUTS:
                remote.in_flight -= 1
                cause = f"{job.cuts} requests broke, the last to {remote.url}: {remote.cause}"
                self._settle(left.pop(job.name), error_verdict(cause))

    def _refused(self, error: Refused, remote: RemoteServer, left: dict[str, RemoteJob]) -> None:
        if error.status in (429, 503):
            remote.not_before = time.monotonic() + 0.5
        elif error.status not in _REFUSED:
            self._broke(error, remote, left)
        elif len(left) > 1:  # find out which of them it is
            for job in left.values():
                job.alone = True
        else:
            for name in list(left):
                remote.in_flight -= 1
                self._settle(left.pop(name), error_verdict(f"{remote.url} refused the job: {error}"))

    def _expire(self) -> None:
        now = time.monotonic()
        down = [remote.down_since for remote in self.remotes if remote.down_since is not None]
        since = max(down) if len(down) == len(self.remotes) else None
        cause = "; ".join(f"{r.url}: {r.cause}" for r in self.remotes if r.cause)
        kept: deque[RemoteJob] = deque()
        for job in self.waiting:
            if since is not None and now - max(job.born, since) >= self.patience:
                self._settle(job, error_verdict(f"server unreachable for {self.patience:g} s: {cause}"))
            elif now - job.born >= self.deadline:
                self._settle(job, error_verdict(f"no verdict within {self.deadline:g} s {cause}"))
            elif not job.future.cancelled():
                kept.append(job)
        self.waiting = kept

    def _settle(self, job: RemoteJob, verdict: Verdict) -> None:
        if resolve(job.future, verdict):
            self.counts.errors += not verdict.scored
