"""The verifier pool over HTTP: Starlette for the routes, uvicorn for the sockets. See `protocol` for the wire format.

Threat model: that of `core.listening`. A caller without the token learns only that it is wrong; jobs are bounded.
Answers are judged in the jail, as always; nothing in a request is run or written here. The channel is not encrypted.
"""

import asyncio
import contextlib
import socket
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from strop_verify import __version__
from strop_verify.core.listening import GuardedServer, RequestGuard
from strop_verify.core.verdict import Verdict
from strop_verify.verification.pool.pool import PoolBusy, VerifierPool
from strop_verify.verification.remote.protocol import (
    BEAT_SECONDS,
    MOST_BYTES,
    PROTOCOL,
    PROTOCOL_HEADER,
    SESSION_HEADER,
    BadRequest,
    JobLine,
    parse_jobs,
    verdict_line,
)

_PARSED = 4
"""Maximum request bodies parsed at a time."""
_BODY_SECONDS = 120.0
Handler = Callable[[Request], Awaitable[Response]]


class VerdictStream(StreamingResponse):
    """Sends verdicts until done, the client leaves or the server stops; then drops the jobs that have not started.

    Started jobs are finished; their verdicts are kept like any other (`VerdictCache`), for a client that asks again.
    """

    def __init__(self, futures: Mapping[str, "Future[Verdict]"]) -> None:
        self._loop, self._futures = asyncio.get_running_loop(), futures
        self._finished: asyncio.Queue[str | None] = asyncio.Queue()
        super().__init__(self._lines(), media_type="application/x-ndjson")
        for name, future in futures.items():
            future.add_done_callback(partial(self._tell, name))

    def stop(self) -> None:
        """Ends the stream."""
        self._finished.put_nowait(None)

    def _tell(self, name: str, future: "Future[Verdict]") -> None:
        """Called on the thread that settled the future; does nothing if the event loop is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._finished.put_nowait, name)

    async def _lines(self) -> AsyncIterator[bytes]:
        left = len(self._futures)
        while left:
            try:
                name = await asyncio.wait_for(self._finished.get(), BEAT_SECONDS)
            except TimeoutError:
                yield b"\n"
                continue
            if name is None:
                return
            yield verdict_line(name, self._futures[name].result())
            left -= 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request (ASGI)."""
        try:
            async with anyio.create_task_group() as group:

                async def watch() -> None:
                    await self.listen_for_disconnect(receive)
                    group.cancel_scope.cancel()

                group.start_soon(watch)
                await self.stream_response(send)
                group.cancel_scope.cancel()
        finally:
            for future in self._futures.values():
                future.cancel()


class VerifierApp:
    """The routes. `settings`: what clients compare with their own. `host`: the address that it listens on."""

    def __init__(
        self, pool: VerifierPool, token: str, settings: Mapping[str, Any], host: str = "127.0.0.1"
    ) -> None:
        self.pool = pool
        self.stopping = False
        self._streams: weakref.WeakSet[VerdictStream] = weakref.WeakSet()
        self.settings = dict(settings)
        self._parsed = asyncio.Semaphore(_PARSED)
        routes = [
            Route("/v1/health", self._answering(self.health), methods=["GET"]),
            Route("/v1/stats", self._answering(self.stats), methods=["GET"]),
            Route("/v1/verify", self._answering(self.verify), methods=["POST"]),
        ]
        self._guard = RequestGuard(
            Starlette(routes=routes), host=host, key=token, most_bytes=MOST_BYTES, body_seconds=_BODY_SECONDS
        )

    def server(self, listening: socket.socket) -> GuardedServer:
        """A server of the routes; its streams end as soon as it is asked to stop."""
        return GuardedServer(self._guard, listening, leaving=self.stop, timeout_graceful_shutdown=3)

    async def health(self, request: Request) -> Response:
        """Returns protocol, release, workers, capacity and settings."""
        workers, capacity = self.pool.stats()["workers"], self.pool.capacity
        about = {"protocol": PROTOCOL, "strop": __version__, "workers": workers, "capacity": capacity}
        return JSONResponse({**about, "settings": self.settings})

    async def stats(self, request: Request) -> Response:
        """Returns the pool's counters."""
        return JSONResponse(self.pool.stats())

    async def verify(self, request: Request) -> Response:
        """Takes jobs, streams verdicts."""
        session = request.headers.get(SESSION_HEADER, "")
        if not 8 <= len(session) <= 100:
            raise BadRequest(f"{SESSION_HEADER} must be 8 to 100 characters, chosen at random by the client")
        if self.stopping:
            raise BadRequest("the server is shutting down", 503)
        body = await request.body()
        async with self._parsed:
            jobs = await run_in_threadpool(parse_jobs, body)
        stream = VerdictStream(self._submitted(session, jobs))
        self._streams.add(stream)
        return stream

    def stop(self) -> None:
        """Ends the streams and refuses new requests."""
        self.stopping = True
        for stream in self._streams:
            stream.stop()

    def _submitted(self, session: str, jobs: Sequence[JobLine]) -> "dict[str, Future[Verdict]]":
        """Submits all jobs, or none and raises BadRequest: 413 for more than ever fit, 429 for more than fit now."""
        most = self.pool.capacity
        if len(jobs) > most:
            raise BadRequest(f"{len(jobs)} jobs in one request; this server takes {most} at most", 413)
        found: dict[str, Future[Verdict]] = {}
        try:
            if len(jobs) > self.pool.room:
                raise PoolBusy
            for job in jobs:
                found[job.id] = self.pool.submit(job.task, job.answer, client=session, timeout=0)
        except PoolBusy:
            for future in found.values():
                future.cancel()
            raise BadRequest("the queue is full; try again in a second", 429) from None
        return found

    def _answering(self, handler: Handler) -> Handler:
        async def answering(request: Request) -> Response:
            spoken = request.headers.get(PROTOCOL_HEADER, "none")
            if spoken != PROTOCOL:
                return _error(
                    f"this server (strop {__version__}) speaks protocol {PROTOCOL}, the client {spoken[:20]}; "
                    "install the same release of strop on both",
                    426,
                )
            try:
                return await handler(request)
            except BadRequest as error:
                return _error(str(error), error.status)

        return answering


def _error(message: str, status: int) -> Response:
    headers = {"Retry-After": "1"} if status in (429, 503) else {}
    return JSONResponse({"error": message}, status, headers)
