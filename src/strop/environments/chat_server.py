"""A server for clients of OpenAI's API on one listening socket: Starlette for the routes, uvicorn for the connection.

Threat model: a client may be steered by what the policy said. Bodies, connections and requests that wait are bounded,
so that one server cannot starve the process; whoever does not know the path's secret learns nothing but that. Several
servers share a thread and nothing else.
"""

import asyncio
import hmac
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from socket import socket
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from strop.core.listening import bounded_body, brings
from strop.environments.chat_wire import (
    ChatReply,
    ChatRequest,
    RefusedChat,
    Said,
    chunks,
    read_request,
    response,
)

MOST_BYTES = 4 << 20
"""Of a request's body."""
_BODIES, _BODY_SECONDS = 4, 30.0
"""Bodies of a server that are read at the same time, and how long each may take."""
_CONNECTIONS = 64
"""Of a server; more are closed at once."""
_BEAT_SECONDS = 10.0
"""After which a stream says that it is alive."""
_GONE_SECONDS = 3.0

Ask = Callable[[ChatRequest], "Future[ChatReply]"]
"""Takes a request and returns at once; raises RefusedChat, as may the future."""


class ChatServer:
    """Answers until it is closed.

    model   what it says its model is called
    secret  first part of every path, or none
    key     what clients must send as a bearer token, or none
    said    what the policy said so far, for `read_request`
    """

    def __init__(
        self, listening: socket, ask: Ask, *, model: str, secret: str = "", key: str = "",
        said: Mapping[Said, str] | None = None, connections: int = _CONNECTIONS,
    ) -> None:  # fmt: skip
        self._ask, self.model, self._secret, self._key = ask, model, secret, key
        self._said = {} if said is None else said
        self._bodies = asyncio.Semaphore(_BODIES)
        host, port = listening.getsockname()[:2]
        self.url = f"http://{host}:{port}{'/' if secret else ''}{secret}/v1"
        """What clients take as their base URL."""
        prefix = "/{secret}" if secret else ""
        routes = [
            Route(f"{prefix}/v1/models", self._guarded(self._models), methods=["GET"]),
            Route(f"{prefix}/v1/chat/completions", self._guarded(self._chat), methods=["POST"]),
            Route(f"{prefix}/v1/completions", self._guarded(self._text), methods=["POST"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes), http=_bounded(connections), ws="none", lifespan="off", log_config=None,
            log_level="critical", access_log=False, server_header=False, date_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server, self._loop = uvicorn.Server(config), _loop()
        self._ended = asyncio.run_coroutine_threadsafe(self._server.serve(sockets=[listening]), self._loop)

    def wait(self) -> None:
        """Until it is closed, or failed."""
        self._ended.result()

    def close(self) -> None:
        """Cuts off what is left, and closes the socket. Safe to call twice, from any thread."""
        self._server.should_exit = True
        with suppress(Exception):
            self._ended.result(_GONE_SECONDS)

    def _guarded(
        self, handler: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            try:
                given = request.path_params.get("secret", "")
                if not hmac.compare_digest(given.encode(), self._secret.encode()):
                    raise RefusedChat("there is nothing here", 404, "not_found")
                if self._key and not brings(request.headers.get("Authorization", ""), self._key):
                    raise RefusedChat("wrong or missing key", 401, "invalid_api_key")
                return await handler(request)
            except RefusedChat as error:
                # What is left of the body is not read.
                return JSONResponse(error.body(), error.status, {"Connection": "close"})
            except ClientDisconnect:
                return Response(status_code=400)

        return guarded

    async def _models(self, request: Request) -> Response:
        model = {"id": self.model, "object": "model", "created": 0, "owned_by": "strop"}
        return JSONResponse({"object": "list", "data": [model]})

    async def _chat(self, request: Request) -> Response:
        return await self._answer(request, chat=True)

    async def _text(self, request: Request) -> Response:
        return await self._answer(request, chat=False)

    async def _answer(self, request: Request, *, chat: bool) -> Response:
        async with self._bodies:
            try:
                async with asyncio.timeout(_BODY_SECONDS):
                    length = request.headers.get("Content-Length", "0")
                    body = await bounded_body(length, request.stream(), MOST_BYTES)
            except TimeoutError:
                raise RefusedChat("the body did not arrive in time", 408, "timeout") from None
            if body is None:
                raise RefusedChat(f"the body is larger than {MOST_BYTES} bytes", 413, "request_too_large")
            if self._secret:  # no prompt depends on it
                body = body.replace(self._secret.encode(), b"play")
            asked = read_request(body, chat=chat, said=self._said)
        reply = asyncio.wrap_future(self._ask(asked))
        if not asked.stream:
            return JSONResponse(response(asked, await asyncio.shield(reply), self.model))
        await asyncio.wait([reply], timeout=_BEAT_SECONDS)
        if reply.done():
            reply.result()  # an error has a status of its own as long as nothing was sent
        return StreamingResponse(self._events(asked, reply), media_type="text/event-stream")

    async def _events(self, asked: ChatRequest, reply: "asyncio.Future[ChatReply]") -> AsyncIterator[str]:
        while not reply.done():
            yield ": still at work\n\n"
            await asyncio.wait([reply], timeout=_BEAT_SECONDS)
        try:
            for chunk in chunks(asked, reply.result(), self.model):
                yield _event(chunk)
        except RefusedChat as error:
            yield _event(error.body())
        yield "data: [DONE]\n\n"


def _event(data: Any) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _bounded(connections: int) -> type[asyncio.Protocol]:
    class BoundedProtocol(H11Protocol):
        """Hangs up on connections above the limit: each takes a descriptor of this process."""

        def connection_made(self, transport: Any) -> None:
            if len(self.connections) >= connections:
                self.transport = transport
                transport.abort()
                return
            super().connection_made(transport)

    return BoundedProtocol


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The thread that serves."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="chat servers").start()
    return loop


def later(seconds: float, do: Callable[[], None]) -> Callable[[], None]:
    """Calls a function after that time, in the thread that serves; what is returned calls it off."""
    loop, handles = _loop(), list[asyncio.TimerHandle]()
    loop.call_soon_threadsafe(lambda: handles.append(loop.call_later(seconds, do)))

    def call_off() -> None:
        loop.call_soon_threadsafe(lambda: handles[0].cancel())

    return call_off
