"""A server for clients of OpenAI's API on one listening socket, with Starlette's routes.

Threat model: that of `core.listening`, and the policy's answers may steer a client. Waiting requests are bounded, so
that one server cannot starve the process; without the path's secret a caller learns nothing. Several servers share only
a thread.
"""

import asyncio
import hmac
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from socket import socket
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from strop.policies.chat_answers import AnswerStream, CompletionStream, Envelope, response
from strop.policies.chat_options import Api, ChatTerms, RefusedChat
from strop.policies.chat_wire import ChatChoice, ChatReply, ChatRequest, Hear, Said, read_body, request_of
from strop.policies.responses_wire import ResponseStream, read_response, response_object
from strop_verify.core.listening import GuardedServer, RequestGuard, url_of

MOST_BYTES = 4 << 20
"""Maximum size of a request body in bytes."""
_CONNECTIONS = 64
_CODES = {
    401: "invalid_api_key", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 408: "timeout",
    413: "request_too_large",
}  # fmt: skip
_BEAT_SECONDS = 10.0
"""Seconds of silence after which a stream sends a comment to keep the connection alive."""
_GONE_SECONDS = 3.0

Ask = Callable[[ChatRequest, Hear], "Future[ChatReply]"]
"""(request, callback for partial answers) -> future, at once. The call and the future may raise RefusedChat."""


class ChatServer:
    """Answers requests until it is closed.

    terms   what it honours
    model   the model's name for clients
    secret  first part of every path, "" for none
    key     bearer token that clients must send, "" for none
    said    what the policy has said so far, see `chat_wire.request_of`
    over    wraps the ASGI application, to watch it
    """

    def __init__(
        self, listening: socket, ask: Ask, *, model: str, terms: ChatTerms, secret: str = "", key: str = "",
        said: Mapping[Said, str] | None = None, connections: int = _CONNECTIONS,
        over: Callable[[Any], Any] = lambda app: app,
    ) -> None:  # fmt: skip
        self._ask, self.model, self._terms, self._secret = ask, model, terms, secret
        self._said = {} if said is None else said
        host = listening.getsockname()[0]
        self.url = f"{url_of(host, listening)}{'/' if secret else ''}{secret}/v1"
        """The clients' base URL."""
        prefix = f"{'/{secret}' if secret else ''}/v1"
        answers: Mapping[str, Api] = {
            "chat/completions": "chat",
            "completions": "text",
            "responses": "responses",
        }
        routes = [
            Route(f"{prefix}/models", self._guarded(self._models), methods=["GET"]),
            Route(f"{prefix}/models/{{name:path}}", self._guarded(self._one_model), methods=["GET"]),
            *(
                Route(f"{prefix}/{path}", self._guarded(partial(self._answer, api)), methods=["POST"])
                for path, api in answers.items()
            ),
        ]
        handlers: Any = {HTTPException: _elsewhere, Exception: _broken}
        guard = RequestGuard(
            Starlette(routes=routes, exception_handlers=handlers), host=host, key=key, most_bytes=MOST_BYTES,
            refusal=lambda status, message: RefusedChat(message, status, _CODES[status]).body(),
        )  # fmt: skip
        self._server = GuardedServer(over(guard), listening, connections=connections, lifespan="off")
        self._loop = _loop()
        self._ended = asyncio.run_coroutine_threadsafe(self._server.serve(), self._loop)

    def wait(self) -> None:
        """Blocks until the server is closed or fails."""
        self._ended.result()

    def close(self) -> None:
        """Drops open connections and closes the socket. Safe to call twice, from any thread."""
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
                return _json(error.body(), error.status)

        return guarded

    async def _models(self, request: Request) -> Response:
        return _json({"object": "list", "data": [self._model()]})

    async def _one_model(self, request: Request) -> Response:
        if request.path_params["name"] != self.model:
            raise RefusedChat("there is no such model", 404, "model_not_found", param="model")
        return _json(self._model())

    def _model(self) -> dict[str, Any]:
        return {"id": self.model, "object": "model", "created": 0, "owned_by": "strop"}

    async def _answer(self, api: Api, request: Request) -> Response:
        body = await request.body()
        if self._secret:  # so that no prompt depends on it
            body = body.replace(self._secret.encode(), b"play")
        data = read_body(body)
        if api == "responses":
            asked = read_response(data, self._terms, self._said)
        else:
            asked = request_of(data, api, self._terms, self._said)
        envelope = Envelope.of(asked, self.model, play=self._terms.play)
        answering = _Answering(asked, self._loop)
        reply = asyncio.wrap_future(self._ask(asked, answering.hear))
        if not asked.stream:
            whole = response_object if api == "responses" else response
            return _json(whole(asked, await asyncio.shield(reply), envelope))
        await answering.news(reply)
        if reply.done():
            reply.result()  # an error sets the HTTP status while nothing is sent yet
        kind = ResponseStream if api == "responses" else CompletionStream
        events = answering.events(reply, kind(asked, envelope), lost=not self._terms.play)
        return StreamingResponse(events, media_type="text/event-stream")


class _Answering:
    """One request's pending answer. It holds only the latest state of each choice, however slow the client is."""

    def __init__(self, asked: ChatRequest, loop: asyncio.AbstractEventLoop) -> None:
        self._named, self._loop = asked.api == "responses", loop
        self._heard: dict[int, ChatChoice] = {}
        self._new = asyncio.Event()

    def hear(self, index: int, choice: ChatChoice) -> None:
        """Records a choice's newest state; see `chat_wire.Hear`."""
        self._loop.call_soon_threadsafe(self._hear, index, choice)

    def _hear(self, index: int, choice: ChatChoice) -> None:
        self._heard[index] = choice
        self._new.set()

    async def news(self, reply: "asyncio.Future[ChatReply]") -> None:
        """Waits until something was heard or the reply is available, at most `_BEAT_SECONDS`."""
        heard = asyncio.ensure_future(self._new.wait())
        both: list[asyncio.Future[Any]] = [reply, heard]
        await asyncio.wait(both, timeout=_BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        heard.cancel()

    async def events(
        self, reply: "asyncio.Future[ChatReply]", stream: AnswerStream, *, lost: bool
    ) -> AsyncIterator[str]:
        """The stream's lines. `lost`: whether the answer is cancelled when the client disconnects."""
        try:
            told = 0.0
            while not reply.done():
                heard, self._heard = self._heard, {}
                self._new.clear()
                lines = [
                    one for index, choice in heard.items() for one in self._lines(stream.more(index, choice))
                ]
                if not lines and self._loop.time() - told >= _BEAT_SECONDS:
                    lines = [": still at work\n\n"]
                for line in lines:
                    yield line
                    told = self._loop.time()
                await self.news(reply)
            try:
                last = list(stream.end(reply.result()))
            except RefusedChat as error:
                last = list(stream.fault(error))
            for line in self._lines(iter(last)):
                yield line
            if not self._named:
                yield "data: [DONE]\n\n"
        finally:
            if lost and not reply.done():
                reply.cancel()

    def _lines(self, events: Iterator[dict[str, Any]]) -> Iterator[str]:
        for event in events:
            named = f"event: {event['type']}\n" if self._named else ""
            yield f"{named}data: {json.dumps(event)}\n\n"


def _json(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response, in ASCII, since texts may contain lone surrogates."""
    return Response(json.dumps(body), status, headers, "application/json")


async def _elsewhere(request: Request, error: HTTPException) -> Response:
    """The answer to an unknown path or method."""
    what = "there is nothing here" if error.status_code == 404 else error.detail
    refused = RefusedChat(what, error.status_code, _CODES.get(error.status_code, "invalid_request"))
    return _json(refused.body(), error.status_code, error.headers)


async def _broken(request: Request, error: Exception) -> Response:
    """The answer to an error in the server."""
    return _json(RefusedChat(f"{type(error).__name__} in the server", 500, "server_error").body(), 500)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of the serving thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="chat servers").start()
    return loop


def later(seconds: float, do: Callable[[], None]) -> Callable[[], None]:
    """Calls a function after `seconds`, in the serving thread; returns a function that cancels the call."""
    loop, handles = _loop(), list[asyncio.TimerHandle]()
    loop.call_soon_threadsafe(lambda: handles.append(loop.call_later(seconds, do)))

    def call_off() -> None:
        loop.call_soon_threadsafe(lambda: handles[0].cancel())

    return call_off
