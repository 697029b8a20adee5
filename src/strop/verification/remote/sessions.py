"""The server's jobs: who waits for which, and verdicts kept for clients that lost their connection.

A job whose last listener leaves before it starts is cancelled and forgotten. One that has started is finished, and its
verdict is kept for a while. Everything here runs on the event loop's thread.
"""

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from strop.core.verdict import Verdict
from strop.verification.pool.job_queue import PoolBusy
from strop.verification.pool.pool import VerifierPool
from strop.verification.remote.protocol import BadRequest, JobLine, verdict_line

KEEP_SECONDS = 600.0
"""How long a finished verdict is kept for a client that may reconnect."""
KEEP_BYTES = 128 * 2**20
"""Finished verdicts that are kept, in bytes; the oldest goes first."""
_OVERHEAD = 600
Name = tuple[str, str]
"""(session, job id)."""
Listener = asyncio.Queue["QueuedJob | None"]


@dataclass(eq=False)
class QueuedJob:
    """One job."""

    name: Name
    digest: bytes
    future: "Future[Verdict] | None"
    """None when finished."""
    line: bytes = b""
    """The verdict's line, when finished."""
    finished: float = 0.0
    listeners: list[Listener] = field(default_factory=list)


class Sessions:
    """All jobs of all clients."""

    def __init__(self, pool: VerifierPool) -> None:
        self.pool = pool
        self.stopping = False
        self._entries: dict[Name, QueuedJob] = {}
        self._finished: OrderedDict[Name, int] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def attach(self, session: str, jobs: Sequence[JobLine]) -> tuple[Listener, list[QueuedJob]]:
        """Submits what is new; the listener gets every entry of `jobs` once it has its line, None when we stop.

        Raises BadRequest, and then nothing was submitted: 413 for more jobs than ever fit, 429 for more than fit now,
        409 for an id that was another job's.
        """
        self.sweep()
        new = [job for job in jobs if (session, job.id) not in self._entries]
        for job in jobs:
            known = self._entries.get((session, job.id))
            if known is not None and known.digest != job.digest:
                raise BadRequest(f"id {job.id[:60]!r} was another job's; ids are used once a session", 409)
        if len(new) > self.pool.capacity:
            most = f"this server takes {self.pool.capacity} at most"
            raise BadRequest(f"{len(new)} jobs in one request; {most}", 413)
        if len(new) > self.pool.room:
            raise BadRequest("the queue is full; try again in a second", 429)
        self._submit(session, new)
        listener: Listener = asyncio.Queue()
        entries = [self._entries[session, job.id] for job in jobs]
        for entry in entries:
            if entry.line:
                listener.put_nowait(entry)
            else:
                entry.listeners.append(listener)
        return listener, entries

    def detach(self, listener: Listener, entries: Sequence[QueuedJob]) -> None:
        """Called when a client disconnects or has all its verdicts."""
        for entry in entries:
            with contextlib.suppress(ValueError):
                entry.listeners.remove(listener)
            if not entry.listeners and entry.future is not None and entry.future.cancel():
                self._entries.pop(entry.name, None)

    def stop(self) -> None:
        """Tells every listener that no more verdicts come."""
        self.stopping = True
        for listener in {id(q): q for e in self._entries.values() for q in e.listeners}.values():
            listener.put_nowait(None)

    def sweep(self) -> None:
        """Forgets verdicts that were kept long enough."""
        now = time.monotonic()
        while self._finished:
            name = next(iter(self._finished))
            if self._bytes <= KEEP_BYTES and now - self._entries[name].finished < KEEP_SECONDS:
                break
            self._bytes -= self._finished.pop(name)
            del self._entries[name]

    def _submit(self, session: str, jobs: Sequence[JobLine]) -> None:
        loop = asyncio.get_running_loop()
        made: list[QueuedJob] = []
        try:
            for job in jobs:
                future = self.pool.submit(job.task, job.answer, client=session, timeout=0)
                entry = QueuedJob((session, job.id), job.digest, future)
                made.append(entry)
                self._entries[entry.name] = entry
        except PoolBusy:
            for entry in made:
                del self._entries[entry.name]
                if entry.future is not None:
                    entry.future.cancel()
            raise BadRequest("the queue is full; try again in a second", 429) from None
        for entry in made:
            assert entry.future is not None
            entry.future.add_done_callback(partial(self._tell, loop, entry))

    def _tell(self, loop: asyncio.AbstractEventLoop, entry: QueuedJob, future: "Future[Verdict]") -> None:
        """Called on whatever thread settled the future; a loop that has ended needs no news."""
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._done, entry, future)

    def _done(self, entry: QueuedJob, future: "Future[Verdict]") -> None:
        if future.cancelled() or self._entries.get(entry.name) is not entry:
            return
        entry.line = verdict_line(entry.name[1], future.result())
        entry.future, entry.finished = None, time.monotonic()
        size = len(entry.line) + _OVERHEAD
        self._finished[entry.name] = size
        self._bytes += size
        for listener in entry.listeners:
            listener.put_nowait(entry)
        entry.listeners.clear()
        self.sweep()
