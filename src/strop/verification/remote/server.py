"""The verifier pool over HTTP: Starlette for the routes, uvicorn for the sockets. See `protocol` for the wire format.

Threat model: that of `core.listening`. A caller without the token learns nothing but that; jobs are bounded. Answers
are judged in the jail as everywhere; nothing that a request holds is run or written here. The channel itself is not
encrypted.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from strop import __version__
from strop.core.listening import RequestGuard, server_config
from strop.verification.pool.pool import VerifierPool
from strop.verification.remote.protocol import (
    BEAT_SECONDS,
    MOST_BYTES,
    PROTOCOL,
    PROTOCOL_HEADER,
    SESSION_HEADER,
    BadRequest,
    parse_jobs,
)
from strop.verification.remote.sessions import Listener, QueuedJob, Sessions

_PARSED = 4
"""Request bodies that are parsed at a time."""
_BODY_SECONDS = 120.0
_SWEEP_SECONDS = 30.0
Handler = Callable[[Request], Awaitable[Response]]


class VerdictStream(StreamingResponse):
    """Sends verdicts until done, or the client leaves or the server stops; then releases the jobs."""

    def __init__(self, sessions: Sessions, listener: Listener, entries: list[QueuedJob]) -> None:
        self._sessions, self._listener, self._entries = sessions, listener, entries
        super().__init__(self._lines(listener, len(entries)), media_type="application/x-ndjson")

    @staticmethod
    async def _lines(listener: Listener, left: int) -> AsyncIterator[bytes]:
        while left:
            try:
                entry = await asyncio.wait_for(listener.get(), BEAT_SECONDS)
            except TimeoutError:
                yield b"\n"
                continue
            if entry is None:
                return
            yield entry.line
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
            self._sessions.detach(self._listener, self._entries)


class VerifierApp:
    """The routes. `settings` are what clients compare with their own; `host` is where they are listened for."""

    def __init__(
        self, pool: VerifierPool, token: str, settings: Mapping[str, Any], host: str = "127.0.0.1"
    ) -> None:
        self.pool = pool
        self.sessions = Sessions(pool)
        self.settings = dict(settings)
        self._parsed = asyncio.Semaphore(_PARSED)
        app = Starlette(
            routes=[
                Route("/v1/health", self._answering(self.health), methods=["GET"]),
                Route("/v1/stats", self._answering(self.stats), methods=["GET"]),
                Route("/v1/verify", self._answering(self.verify), methods=["POST"]),
            ],
            lifespan=self._life,
        )
        self.guard = RequestGuard(
            app, host=host, key=token, most_bytes=MOST_BYTES, body_seconds=_BODY_SECONDS
        )

    async def health(self, request: Request) -> Response:
        """Who we are."""
        workers, capacity = self.pool.stats()["workers"], self.pool.capacity
        about = {"protocol": PROTOCOL, "strop": __version__, "workers": workers, "capacity": capacity}
        return JSONResponse({**about, "settings": self.settings})

    async def stats(self, request: Request) -> Response:
        """What was done so far."""
        return JSONResponse({**self.pool.stats(), "remembered": len(self.sessions)})

    async def verify(self, request: Request) -> Response:
        """Takes jobs, streams verdicts."""
        session = request.headers.get(SESSION_HEADER, "")
        if not 8 <= len(session) <= 100:
            raise BadRequest(f"{SESSION_HEADER} must be 8 to 100 characters, chosen at random by the client")
        if self.sessions.stopping:
            raise BadRequest("the server is shutting down", 503)
        body = await request.body()
        async with self._parsed:
            jobs = await run_in_threadpool(parse_jobs, body)
        return VerdictStream(self.sessions, *self.sessions.attach(session, jobs))

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

    @asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        async def sweep() -> None:
            while True:
                await asyncio.sleep(_SWEEP_SECONDS)
                self.sessions.sweep()

        task = asyncio.create_task(sweep())
        try:
            yield
        finally:
            task.cancel()


class VerifierServer(uvicorn.Server):
    """uvicorn, whose streams end at once when it is asked to stop."""

    def __init__(self, app: VerifierApp) -> None:
        self.app = app
        super().__init__(server_config(app.guard, timeout_graceful_shutdown=3))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cuts the streams short, then waits for them as uvicorn does."""
        self.app.sessions.stop()
        await super().shutdown(sockets)


def _error(message: str, status: int) -> Response:
    headers = {"Retry-After": "1"} if status in (429, 503) else {}
    return JSONResponse({"error": message}, status, headers)
