"""The HTTP server for editors' completion plugins, on this machine only.

    POST /v1/completions   OpenAI's, with `prompt` and `suffix`, or both in one prompt with a model's markers (Zed)
    POST /infill           llama.cpp's (llama.vim, llama.vscode)
    GET  /health, /v1/models

Threat model: that of `core.listening`; a token keeps out other users of the machine.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from strop.serve.edit_events import EditEventLog
from strop.serve.edit_model import EditModel, Suggested
from strop.serve.edit_prompt import EditState, parts_of
from strop_verify.core.edit_events import Dialect
from strop_verify.core.errors import StropError
from strop_verify.core.listening import RequestGuard, read_json
from strop_verify.core.rollout import SamplingParams

MOST_BYTES = 1 << 20
"""Largest body of a request, in bytes."""
_MOST_STOPS = 16


class _Sampling(BaseModel):
    """A client's sampling options; null counts as absent. Other fields are ignored."""

    temperature: float | None = Field(default=None, ge=0, le=10)
    top_p: float | None = Field(default=None, gt=0, le=1)
    stop: str | list[str] | None = Field(default=None)
    stream: bool | None = None

    def params(self, ours: SamplingParams, tokens: int | None) -> SamplingParams:
        """Our parameters with the client's changes; never more tokens than ours."""
        stops = [self.stop] if isinstance(self.stop, str) else self.stop or []
        said = {"temperature": self.temperature, "top_p": self.top_p}
        return ours.model_copy(
            update={
                **{key: value for key, value in said.items() if value is not None},
                "max_tokens": max(1, min(ours.max_tokens, ours.max_tokens if tokens is None else tokens)),
                "stop": (*ours.stop, *(stop for stop in stops[:_MOST_STOPS] if stop)),
            }
        )


class CompletionsRequest(_Sampling):
    """The body of a request to /v1/completions."""

    prompt: str
    suffix: str | None = None
    max_tokens: int | None = Field(default=None, ge=0)


class InfillRequest(_Sampling):
    """The body of a request to /infill. `prompt` is the cursor's line up to the cursor."""

    input_prefix: str = ""
    input_suffix: str = ""
    prompt: str = ""
    n_predict: int | None = Field(default=None, ge=-1)
    response_fields: list[str] | None = None


@dataclass
class _Last:
    id: str
    prefix: str
    text: str


class EditHttp:
    """The routes for one model and one log. `guard` is the ASGI application."""

    def __init__(self, model: EditModel, log: EditEventLog, *, name: str, token: str = "") -> None:
        self._model, self._log, self._name = model, log, name
        self._last: _Last | None = None
        app = Starlette(
            routes=[
                Route("/health", self._health, methods=["GET"]),
                Route("/v1/models", self._models, methods=["GET"]),
                Route("/v1/completions", _answering(self._completions), methods=["POST"]),
                Route("/infill", _answering(self._infill), methods=["POST"]),
            ]
        )
        app.router.redirect_slashes = False
        self.guard = RequestGuard(app, key=token, most_bytes=MOST_BYTES, refusal=_fault)

    def close(self) -> None:
        """Records the last suggestion as closed, since its outcome will not be known."""
        if self._last:
            self._log.replaced(self._last.id, "closed")
            self._last = None

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _models(self, request: Request) -> Response:
        model = {"id": self._name, "object": "model", "owned_by": "strop"}
        return JSONResponse({"object": "list", "data": [model]})

    async def _completions(self, body: Any, request: Request) -> Any:
        asked = CompletionsRequest.model_validate(body)
        prefix, suffix = (asked.prompt, asked.suffix) if asked.suffix else parts_of(asked.prompt)
        answer: dict[str, Any] = {
            "object": "text_completion",
            "created": int(time.time()),
            "model": self._name,
        }
        choice = {"index": 0, "text": "", "logprobs": None, "finish_reason": "length"}
        if asked.max_tokens == 0:
            return {"id": "cmpl-0", **answer, "choices": [choice]}
        params = asked.params(self._model.params, asked.max_tokens)
        id, made, text = await self._made(request, "openai", prefix, suffix or "", params)
        done = made.completion
        choice |= {"text": text, "finish_reason": "length" if done.finish_reason == "length" else "stop"}
        used = {"prompt_tokens": len(made.prompt), "completion_tokens": len(done.token_ids)}
        used["total_tokens"] = sum(used.values())
        return {"id": f"cmpl-{id}", **answer, "choices": [choice], "usage": used}

    async def _infill(self, body: Any, request: Request) -> Any:
        asked = InfillRequest.model_validate(body)
        start, timings = time.monotonic(), {"prompt_n": 0, "predicted_n": 0}
        answer: dict[str, Any] = {"content": "", "stop": True, "truncated": False, "tokens_cached": 0}
        if asked.n_predict != 0:  # 0: the client only warms up a cache
            tokens = None if asked.n_predict in (None, -1) else asked.n_predict
            params = asked.params(self._model.params, tokens)
            prefix = asked.input_prefix + asked.prompt
            _, made, answer["content"] = await self._made(
                request, "infill", prefix, asked.input_suffix, params
            )
            timings = {"prompt_n": len(made.prompt), "predicted_n": len(made.completion.token_ids)}
        milliseconds = 1000 * (time.monotonic() - start)
        answer["timings"] = {
            **timings,
            "predicted_ms": milliseconds,
            "predicted_per_second": timings["predicted_n"] / max(milliseconds / 1000, 1e-6),
        }
        if asked.response_fields is None:
            return answer
        found = {field: _field(answer, field) for field in asked.response_fields[:64]}
        return {field: value for field, value in found.items() if value is not None}

    async def _made(
        self, request: Request, dialect: Dialect, prefix: str, suffix: str, params: SamplingParams
    ) -> tuple[str, Suggested, str]:
        """(id, suggestion, its text at the cursor). These clients show only that text. Logs the suggestion.

        Raises StropError, and CancelledError if a newer request came or the client left.
        """
        answer = asyncio.wrap_future(self._model.suggest(EditState(prefix + suffix, len(prefix)), params))
        leaving = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                answer.cancel()
            made = await answer
        finally:
            answer.cancel()
            leaving.cancel()
        if last := self._last:
            self._log.replaced(
                last.id, "continued" if last.text and prefix.startswith(last.prefix + last.text) else "newer"
            )
            self._last = None
        client = request.headers.get("user-agent", "")
        id = self._log.served(made, dialect=dialect, client=client, about=prefix + suffix)
        here = made.edit and made.edit.start == made.edit.end == len(prefix)
        text = made.edit.text if made.edit and here else ""
        if leaving.done() and made.edit:
            self._log.replaced(id, "cancelled")
        elif made.edit:
            self._last = _Last(id, prefix, text)
        return id, made, text


def _answering(answer: Callable[[Any, Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    async def handler(request: Request) -> Response:
        try:
            body = read_json(await request.body())
        except ValueError as error:
            return _error(str(error), 400)
        if isinstance(body, dict) and body.get("stream"):
            return _error("stream is not supported; leave it out", 400)
        try:
            return JSONResponse(await answer(body, request))
        except ValidationError as error:
            fault = error.errors()[0]
            return _error(f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}", 400)
        except StropError as error:
            return _error(" ".join(str(error).split()), 500)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            return _error("a newer request took its place", 409)

    return handler


async def _left(request: Request) -> None:
    """Returns once the client has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _field(answer: Mapping[str, Any], path: str) -> Any:
    """A field by llama.cpp's path syntax: `timings/prompt_n` is a nested field."""
    value: Any = answer
    for part in path.split("/"):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _error(message: str, status: int) -> Response:
    return JSONResponse(_fault(status, message), status)


def _fault(status: int, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": status}}
