"""A policy behind OpenAI's API: requests come from the server's thread, the policy works in that which calls `run`."""

import queue
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from strop.policies.chat_wire import ChatReply, ChatRequest, RefusedChat
from strop_verify.core.errors import StropError
from strop_verify.core.ids import derive_seed
from strop_verify.core.protocols import Policy, Request
from strop_verify.core.rollout import Completion, SamplingParams

MOST_WAITING = 1024
"""Requests that are answered at the same time or wait."""
_IDLE_SECONDS, _STEP_SECONDS = 0.2, 0.02


@dataclass(frozen=True)
class _Asked:
    request: ChatRequest
    reply: "Future[ChatReply]"


class PolicyService:
    """Answers requests as they come, each by itself.

    params  how it samples where a request doesn't say; `max_tokens` is the most that a request gets
    seed    of requests that have none; each gets another
    """

    def __init__(self, policy: Policy, params: SamplingParams, seed: int) -> None:
        self._policy, self._params, self._seed, self._number = policy, params, seed, 0
        self._context: int | None = getattr(policy, "context", None)
        self._asked: queue.Queue[_Asked] = queue.Queue(MOST_WAITING)
        self._answering: list[tuple[_Asked, int, Future[Completion]]] = []

    def ask(self, request: ChatRequest) -> "Future[ChatReply]":
        """See `policies.chat_server.Ask`."""
        asked = _Asked(request, Future())
        try:
            self._asked.put_nowait(asked)
        except queue.Full:
            raise RefusedChat(f"{MOST_WAITING} requests wait already", 429, "rate_limit_exceeded") from None
        return asked.reply

    def run(self) -> None:
        """Answers until an exception ends it."""
        while True:
            self._take(_IDLE_SECONDS)
            while self._answering:
                self._policy.work(_STEP_SECONDS)
                self._deliver()
                self._take(0.0)

    def _take(self, seconds: float) -> None:
        """Begins what was asked; waits for the first where nothing goes on."""
        try:
            while len(self._answering) < MOST_WAITING:
                asked = self._asked.get(timeout=seconds) if seconds else self._asked.get_nowait()
                seconds = 0.0
                try:
                    self._begin(asked)
                except RefusedChat as error:
                    asked.reply.set_exception(error)
        except queue.Empty:
            pass

    def _begin(self, asked: _Asked) -> None:
        prompt, tokenizer = asked.request.prompt, self._policy.tokenizer
        try:
            ids = tokenizer.encode_text(prompt) if isinstance(prompt, str) else tokenizer.encode_chat(prompt)
            params, seed = self._sampling(asked.request.sampling)
            room = params.max_tokens if self._context is None else self._context - len(ids)
            if room < 1:
                full = f"This model's maximum context length is {self._context} tokens; the prompt has {len(ids)}"
                raise RefusedChat(full, 400, "context_length_exceeded")
            params = params.model_copy(update={"max_tokens": min(params.max_tokens, room)})
            future = self._policy.submit(Request(ids, seed, params))
        except (ValueError, StropError) as error:
            raise error if isinstance(error, RefusedChat) else RefusedChat(str(error)) from None
        self._answering.append((asked, len(ids), future))

    def _sampling(self, given: Mapping[str, Any]) -> tuple[SamplingParams, int]:
        for name in ("frequency_penalty", "presence_penalty", "logit_bias"):
            if given.get(name):
                raise RefusedChat(f"{name} is not known here: leave it out")
        stop = given.get("stop", self._params.stop)
        asked = {
            "temperature": given.get("temperature", self._params.temperature),
            "top_p": given.get("top_p", self._params.top_p),
            "max_tokens": given.get("max_tokens") or self._params.max_tokens,
            "stop": (stop,) if isinstance(stop, str) else stop,
        }
        try:
            params = SamplingParams.model_validate(asked)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise RefusedChat(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        self._number += 1
        seed = given.get("seed")
        most = min(params.max_tokens, self._params.max_tokens)
        mine = seed if isinstance(seed, int) else derive_seed(self._seed, "request", self._number)
        return params.model_copy(update={"max_tokens": most}), mine

    def _deliver(self) -> None:
        left = []
        for asked, prompt, future in self._answering:
            if not future.done():
                left.append((asked, prompt, future))
            elif (error := future.exception()) is not None:
                asked.reply.set_exception(RefusedChat(str(error), 500, "policy_error"))
            else:
                asked.reply.set_result(ChatReply.of(future.result(), prompt))
        self._answering = left
