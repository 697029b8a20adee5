"""`RemoteVerifier`: the Verifier protocol, served by another machine. See `protocol` for the wire format.

Each thread sends a batch of jobs and reads their verdicts as they arrive. Jobs left over by a broken request are sent
again; a server that is still judging one, or has kept its verdict, does not judge it twice. Once the server has been
unreachable for `patience` seconds, its jobs are *error*, never a zero.
"""

import contextlib
import itertools
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any

import httpx

from strop_verify.core.errors import UserError
from strop_verify.verification.pool.job_queue import Job, PerTask
from strop_verify.verification.pool.queued_verifier import CAPACITY, QueuedVerifier
from strop_verify.verification.remote.protocol import (
    BEAT_SECONDS,
    MOST_BYTES,
    PATIENCE_SECONDS,
    PROTOCOL,
    PROTOCOL_HEADER,
    SESSION_HEADER,
    TOKEN_VARIABLE,
    Refused,
    explain,
    job_line,
    parse_verdict,
    say_hello,
    task_json,
)
from strop_verify.verification.verifier import CLOSED, error_verdict

DEADLINE_SECONDS = 3600.0
"""How long a job waits while the server is busy."""
BATCH_JOBS = 32
"""Maximum jobs per request."""
_FEWEST_STREAMS, _MOST_STREAMS = 4, 24
"""Minimum and maximum number of requests at a time."""
_BUSY_SECONDS = 0.5
_BACKOFF, _LONGEST_BACKOFF = 0.1, 5.0
_MOST_LINE = 64 * 2**20
_ALONE_AFTER, _MOST_CUTS = 4, 12
_BROKEN = (Refused, httpx.HTTPError, httpx.StreamError, ValueError, OSError)
_REFUSED = (400, 413)
"""Statuses that indicate a bad job rather than a bad server."""
_Left = dict[str, tuple[Job, bytes]]
"""Jobs without a verdict, with their lines, by id."""


class RemoteVerifier(QueuedVerifier):
    """Verifies on the machine at `url`. `settings`: what it must agree with, including after a restart.

    Raises UserError when no server answers, the token is wrong, or releases or settings differ. `stats` adds `requests`
    and `cut_off` (jobs sent again). The server sees all its clients as one.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        settings: Mapping[str, Any] | None = None,
        capacity: int = CAPACITY,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._url, self._settings, self._patience = url.rstrip("/"), dict(settings or {}), patience
        session = uuid.uuid4().hex
        headers = {"Authorization": f"Bearer {token}", PROTOCOL_HEADER: PROTOCOL, SESSION_HEADER: session}
        connections = httpx.Limits(max_connections=None)
        timeout = httpx.Timeout(connect=5, read=4 * BEAT_SECONDS, write=60, pool=None)
        self._http = httpx.Client(headers=headers, limits=connections, timeout=timeout, trust_env=False)
        try:
            workers = self._meet().get("workers")
        except UserError:
            self._http.close()
            raise
        self._names = itertools.count()
        self._text = PerTask(task_json, 256)
        self._requests = self._cut_off = 0
        self._down_since: float | None = None
        self._closing = threading.Event()
        self._streams: dict[int, httpx.Response] = {}
        streams = workers if isinstance(workers, int) else _FEWEST_STREAMS
        super().__init__(min(max(streams, _FEWEST_STREAMS), _MOST_STREAMS), capacity=capacity)
        self.start()

    def stats(self) -> dict[str, int]:
        """Counters; see the class."""
        return {**super().stats(), "requests": self._requests, "cut_off": self._cut_off}

    def close(self) -> None:
        """Ends the connections; the server drops jobs that have not started. See `OpenVerifier.close`."""
        self._closing.set()
        super().close()
        self._http.close()

    def _interrupt(self) -> None:
        for response in list(self._streams.values()):
            connection = response.extensions["network_stream"].get_extra_info("socket")
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _meet(self) -> Mapping[str, object]:
        try:
            return self._greet()
        except Refused as error:
            hint = f"; {TOKEN_VARIABLE} must hold the server's token" if error.status == 401 else ""
            raise UserError(f"verifier {self._url} refused the request: {error}{hint}") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            hint = "start one there with `strop serve-verifier`"
            raise UserError(f"no verifier answers at {self._url} ({error}); {hint}") from None
        except ValueError as error:
            raise UserError(f"verifier {self._url} cannot be used: {error}") from None

    def _greet(self) -> Mapping[str, object]:
        hello = say_hello(self._http.get(f"{self._url}/v1/health"), self._settings)
        self._down_since = None
        return hello

    def _work(self, first: Job, number: int) -> None:
        left: _Left = {}
        for job in self._jobs.batch_with(first, BATCH_JOBS):
            name = str(next(self._names))
            try:
                line = job_line(name, self._text(job.task), job.answer)
                if len(line) > MOST_BYTES:
                    raise ValueError(f"with its answer it is longer than {MOST_BYTES} bytes")
            except (ValueError, TypeError) as error:
                self._jobs.finish(job, error_verdict(f"task {job.task.id} cannot be sent: {error}"))
            else:
                left[name] = job, line
        self._send(left, number)

    def _send(self, left: _Left, number: int) -> None:
        """Sends requests until every job has its verdict."""
        began, cuts, tries = time.monotonic(), 0, 0
        while left:
            if self._jobs.closed:
                self._settle(left, CLOSED)
                return
            if time.monotonic() - began > DEADLINE_SECONDS:
                self._settle(left, f"no verdict within {DEADLINE_SECONDS:g} s")
                return
            reached = False
            try:
                if self._down_since is not None:
                    self._greet()
                reached = True
                self._converse(left, number)
            except _BROKEN as error:
                status = error.status if isinstance(error, Refused) else 0
                cause = str(error) if status else f"{type(error).__name__} {error}".strip()
                self._cut_off += len(left)
                if status in (429, 503):
                    self._closing.wait(_BUSY_SECONDS)
                    continue
                if status in _REFUSED and len(left) == 1:
                    self._settle(left, f"{self._url} refused the job: {error}")
                    continue
                if status not in _REFUSED:
                    cuts, tries = cuts + reached, tries + 1
                    self._broke(left, cuts, tries, cause)
                if status in _REFUSED or cuts >= _ALONE_AFTER:  # find out which job causes it
                    while len(left) > 1:
                        self._send(dict([left.popitem()]), number)

    def _converse(self, left: _Left, number: int) -> None:
        """Makes one request. Jobs that get their verdict are removed from `left`."""
        self._requests += 1
        body = b"".join(line for _, line in left.values())
        with self._http.stream(
            "POST", f"{self._url}/v1/verify", content=body, headers={"Content-Type": "application/x-ndjson"}
        ) as response:
            self._streams[number] = response
            try:
                if response.status_code != 200:
                    raise Refused(response.status_code, explain(response.read()))
                buffer = bytearray()
                for chunk in response.iter_bytes():
                    self._down_since = None
                    buffer += chunk
                    *lines, rest = buffer.split(b"\n")
                    buffer = bytearray(rest)
                    if len(buffer) > _MOST_LINE:
                        raise ValueError("a verdict line is too long")
                    for line in filter(bytes.strip, map(bytes, lines)):
                        name, verdict = parse_verdict(line)
                        if name in left:
                            self._jobs.finish(left.pop(name)[0], verdict)
            finally:
                del self._streams[number]
        if left:
            raise ValueError("the server ended its response early")

    def _broke(self, left: _Left, cuts: int, tries: int, cause: str) -> None:
        """Waits, longer each time, or gives up on the jobs."""
        now = time.monotonic()
        since = self._down_since = self._down_since or now
        if cuts >= _MOST_CUTS:  # a job that breaks every request must not be retried forever
            self._settle(left, f"{cuts} requests broke, the last to {self._url}: {cause}")
        elif now - since >= self._patience:
            self._settle(left, f"server unreachable for {self._patience:g} s: {self._url}: {cause}")
        else:
            self._closing.wait(min(_LONGEST_BACKOFF, self._patience / 8, _BACKOFF * 2 ** min(tries, 10)))

    def _settle(self, left: _Left, cause: str) -> None:
        while left:
            self._jobs.finish(left.popitem()[1][0], error_verdict(cause), keep=False)
