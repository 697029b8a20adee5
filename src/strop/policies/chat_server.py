"""A server for clients of OpenAI's API on one listening socket: Starlette for the routes.

Threat model: that of `core.listening`, and a client may be steered by what the policy said. Requests that wait are
bounded, so that one server cannot starve the process; whoever does not know the path's secret learns nothing but that.
Several servers share a thread and nothing else.
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

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from strop.policies.chat_wire import (
    ChatReply,
    ChatRequest,
    RefusedChat,
    Said,
    chunks,
    read_request,
    response,
)
from strop_verify.core.listening import GuardedServer, RequestGuard, url_of

MOST_BYTES = 4 << 20
"""Of a request's body."""
_CONNECTIONS = 64
_CODES = {401: "invalid_api_key", 403: "forbidden", 408: "timeout", 413: "request_too_large"}
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
        self._ask, self.model, self._secret = ask, model, secret
        self._said = {} if said is None else said
        host = listening.getsockname()[0]
        self.url = f"{url_of(host, listening)}{'/' if secret else ''}{secret}/v1"
        """What clients take as their base URL."""
        prefix = "/{secret}" if secret else ""
        routes = [
            Route(f"{prefix}/v1/models", self._guarded(self._models), methods=["GET"]),
            Route(f"{prefix}/v1/chat/completions", self._guarded(self._chat), methods=["POST"]),
            Route(f"{prefix}/v1/completions", self._guarded(self._text), methods=["POST"]),
        ]
        guard = RequestGuard(
            Starlette(routes=routes), host=host, key=key, most_bytes=MOST_BYTES,
            refusal=lambda status, message: RefusedChat(message, status, _CODES[status]).body(),
        )  # fmt: skip
        self._server = GuardedServer(guard, listening, connections=connections, lifespan="off")
        self._loop = _loop()
        self._ended = asyncio.run_coroutine_threadsafe(self._server.serve(), self._loop)

    def wait(self) -> None:
        """Until it is closed, or failed."""
        self._ended.result()

    def close(self) -> None:
        """Cuts off what is left, and closes the socket. Safe to call twice, from any thread."""
        self._server.stop()
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
                return await handler(request)
            except RefusedChat as error:
                return JSONResponse(error.body(), error.status)

        return guarded

    async def _models(self, request: Request) -> Response:
        model = {"id": self.model, "object": "model", "created": 0, "owned_by": "strop"}
        return JSONResponse({"object": "list", "data": [model]})

    async def _chat(self, request: Request) -> Response:
        return await self._answer(request, chat=True)

    async def _text(self, request: Request) -> Response:
        return await self._answer(request, chat=False)

    async def _answer(self, request: Request, *, chat: bool) -> Response:
        body = await request.body()
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
