"""`RemoteVerifier`: the Verifier protocol, answered by other machines. See `protocol` for the wire format.

A thread with its own event loop does the work (`dispatch`); nothing here blocks except a full queue.
"""

import asyncio
import itertools
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import httpx

from strop.core.errors import UserError
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.verification.pool.job_queue import PerTask, PoolBusy
from strop.verification.remote.dispatch import Counts, JobDispatcher, RemoteJob, RemoteServer
from strop.verification.remote.protocol import (
    MOST_BYTES,
    PROTOCOL,
    PROTOCOL_HEADER,
    TOKEN_VARIABLE,
    Refused,
    job_line,
    say_hello,
    task_json,
)
from strop.verification.verifier import (
    CLOSED,
    OpenVerifier,
    error_verdict,
    resolve,
    resolved,
    verdict_at_once,
)

CAPACITY = 4096
PATIENCE_SECONDS = 60.0
"""How long a job waits while no server is reachable."""
DEADLINE_SECONDS = 3600.0
"""How long a job waits while the servers are busy."""
_TEXTS = 256
_HELLO_SECONDS = 10.0


class RemoteVerifier(OpenVerifier):
    """Verifies on the machines at `urls`, spread by how busy each is. `settings`: what they must agree with.

    `capacity`: answers without a verdict, above which `submit` blocks. Raises UserError when a server is not there, the
    token is wrong, or releases or settings differ. The names of `stats`: submitted, finished, errors, requests, cut_off
    (jobs sent again), waiting, servers, servers_down.
    """

    def __init__(
        self,
        urls: Sequence[str],
        token: str,
        *,
        settings: Mapping[str, Any] | None = None,
        capacity: int = CAPACITY,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        if not urls:
            raise ValueError("urls must name at least one server")
        self._headers = {"Authorization": f"Bearer {token}", PROTOCOL_HEADER: PROTOCOL}
        self._settings = dict(settings or {})
        self._remotes = [_greet(url.rstrip("/"), self._headers, self._settings) for url in urls]
        for remote in self._remotes:
            remote.longest = min(remote.longest, patience / 8)
        self._counts = Counts()
        self._submitted = self._finished = 0
        self._names = itertools.count()
        self._capacity = capacity
        self._room = threading.BoundedSemaphore(capacity)
        self._lock = threading.Lock()
        self._closed = False
        self._text = PerTask(task_json, _TEXTS)
        self._patience = patience
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._dispatcher: JobDispatcher | None = None
        self._thread = threading.Thread(target=self._serve, name="strop-remote", daemon=True)
        self._thread.start()
        self._ready.wait()

    def submit(
        self, task: Task, answer: str, *, client: str = "", timeout: float | None = None
    ) -> "Future[Verdict]":
        """Starts verification. See `OpenVerifier.submit`; to a server all of us are one client."""
        if (verdict := verdict_at_once(task, answer)) is not None:
            return resolved(verdict)
        if self._closed:
            return resolved(error_verdict(CLOSED))
        try:
            name = str(next(self._names))
            line = job_line(name, self._text(task), answer)
        except (ValueError, TypeError) as error:
            return resolved(error_verdict(f"task {task.id} cannot be sent: {error}"))
        if len(line) > MOST_BYTES:
            cause = f"task {task.id} with its answer is longer than {MOST_BYTES} bytes"
            return resolved(error_verdict(cause))
        if not self._room.acquire(timeout=timeout):
            cause = f"{self._capacity} answers wait already, for longer than {timeout} s; submit fewer"
            raise PoolBusy(cause)
        future: Future[Verdict] = Future()
        future.add_done_callback(self._done)
        with self._lock:
            self._submitted += 1
            if not self._closed and self._dispatcher is not None:
                job = RemoteJob(name, line, future, time.monotonic())
                self._loop.call_soon_threadsafe(self._dispatcher.add, job)
                return future
        resolve(future, error_verdict(CLOSED))
        return future

    def stats(self) -> dict[str, int]:
        """Counters; see the class."""
        return {
            "submitted": self._submitted,
            "finished": self._finished,
            "waiting": self._submitted - self._finished,
            **vars(self._counts),
            "servers": len(self._remotes),
            "servers_down": sum(remote.down_since is not None for remote in self._remotes),
        }

    def close(self) -> None:
        """Ends the connections; servers drop what they have not begun. Safe to call twice and from any thread."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._loop.call_soon_threadsafe(self._main.cancel)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _done(self, future: "Future[Verdict]") -> None:
        self._room.release()
        with self._lock:
            self._finished += 1

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._main = self._loop.create_task(self._run())
        try:
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        finally:
            with self._lock:
                self._closed = True  # nothing is added from here on
            self._ready.set()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            if self._dispatcher is not None:
                self._dispatcher.give_up()
            self._loop.close()

    async def _run(self) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=32)
        async with httpx.AsyncClient(headers=self._headers, limits=limits, trust_env=False) as http:
            session, waits = uuid.uuid4().hex, (self._patience, DEADLINE_SECONDS)
            self._dispatcher = JobDispatcher(
                self._remotes, http, session, *waits, self._counts, self._settings
            )
            self._ready.set()
            await self._dispatcher.run()


def _greet(url: str, headers: Mapping[str, str], settings: Mapping[str, Any]) -> RemoteServer:
    try:
        address = f"{url}/v1/health"
        response = httpx.get(address, headers=dict(headers), timeout=_HELLO_SECONDS, trust_env=False)
        hello = say_hello(response, settings)
    except Refused as error:
        hint = f"; {TOKEN_VARIABLE} must hold the server's token" if error.status == 401 else ""
        raise UserError(f"verifier {url} refused the request: {error}{hint}") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        hint = "start one there with `strop serve-verifier`"
        raise UserError(f"no verifier answers at {url} ({error}); {hint}") from None
    except ValueError as error:
        raise UserError(f"verifier {url} cannot be used: {error}") from None
    workers = hello.get("workers")
    return RemoteServer(url, workers if isinstance(workers, int) and workers > 0 else 1)
