"""The `openai` policy: samples from any OpenAI-compatible server. For evaluation: it has no weights to update.

The server owns the tokenizer, so token ids here are `WireTokenizer`'s: the ids of a conversation encode its messages,
which `submit` sends to /chat/completions; plain text goes to /completions. Limits:

1. A completion's tokens are those of its text without the stop string, not the server's own tokens.
2. Log-probs are the server's, often those at temperature 1: each is assigned to the token in which the server's token
   begins, which keeps their sum; they are 0 if the server gives none.
3. Most servers do not say whether a stop string or EOS ended a row: then the reason is "eos".
4. Text after the last message (a prefilled answer) is sent as an assistant message to continue, an extension of vLLM
   and SGLang; other servers refuse the request.
"""

import asyncio
import math
from typing import Any

from strop.config.model import OpenAIPolicyConfig as OpenAIConfig
from strop.policies.connection import Connection, ModelCaller, explain
from strop.policies.remote_policy import AskingPolicy
from strop.policies.tokenizer import BYTES_PER_TOKEN, WireTokenizer
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.protocols import Request, Tokenizer
from strop_verify.core.rollout import Completion, FinishReason, SamplingParams

_MOST_STOPS = 4
"""OpenAI's limit; answers are cut here at any further stop strings."""
_PURPOSE = "policy.engine=openai"
_NAMES = {
    "url": "policy.base_url",
    "model": "policy.model",
    "timeout": "policy.timeout_seconds",
    "retry": "policy.retry_seconds",
    "api_key_env": "policy.api_key_env",
}
"""{setting of a connection: its key in a recipe}."""


class OpenAIPolicy(AskingPolicy):
    """Samples from a server, `concurrency` requests at a time; `ModelCaller` handles failures."""

    context: int | None = None
    keeps_logprobs = False
    """False, because the server's log-probabilities belong to other tokens."""

    def __init__(self, config: OpenAIConfig) -> None:
        """Connects at the first `submit`; `close` it. Raises UserError if the `openai` package is not installed."""
        self.config, self.name, self.version = config, config.model, 0
        self._wire = WireTokenizer()
        self.tokenizer: Tokenizer = self._wire
        self._server = Connection(
            config.base_url,
            config.model,
            timeout_seconds=config.timeout_seconds,
            retry_seconds=config.retry_seconds,
            api_key_env=config.api_key_env,
        )
        require("openai", package="openai", extra="eval", purpose=_PURPOSE)
        super().__init__()

    def _opening(self) -> None:
        self._gate = asyncio.Semaphore(self.config.concurrency)
        self._caller = ModelCaller(self._server, _PURPOSE)

    async def _closing(self) -> None:
        await self._caller.close()

    async def _ask(self, request: Request) -> Completion:
        params, messages = request.params, self._wire.messages(request.prompt)
        options: dict[str, Any] = {
            "temperature": params.temperature,
            "top_p": params.top_p,
            "seed": request.seed % 2**31,  # some servers accept only 32 bits
            "logprobs": 1 if messages is None else True,
        }
        if params.stop:
            options["stop"] = list(params.stop[:_MOST_STOPS])
        if messages is None:
            options["prompt"] = self.tokenizer.decode(request.prompt)
        else:
            options["messages"] = [m.model_dump() for m in messages]
            if messages[-1].role == "assistant":
                options["extra_body"] = {"continue_final_message": True, "add_generation_prompt": False}
        try:
            async with self._gate:
                choice = (await self._caller.ask(max_tokens=params.max_tokens, **options)).choices[0]
            text = choice.text if messages is None else choice.message.content or ""
            if text is None:
                raise ValueError("no text")
            return self._completion(text, choice, params)
        except self._caller.failures as error:
            names = {**_NAMES, "concurrency": f"policy.concurrency ({self.config.concurrency})"}
            raise UserError(explain(error, self._server, names)) from error

    def _completion(self, text: str, choice: Any, params: SamplingParams) -> Completion:
        reason: FinishReason = "length" if choice.finish_reason == "length" else "eos"
        if isinstance(getattr(choice, "stop_reason", None), str):  # vLLM names the stop string
            reason = "stop"
        if (before := params.before_stop(text)) is not None:
            text, reason = before, "stop"
        ids = self.tokenizer.encode(text)
        logprobs = _spread(_server_tokens(choice), len(ids))
        return Completion(
            token_ids=ids, logprobs=logprobs, text=text, finish_reason=reason, policy_version=self.version
        )


def _server_tokens(choice: Any) -> list[tuple[int, float]]:
    """(number of bytes, log-prob) of each of the server's tokens; empty if it gives none."""
    given = getattr(choice, "logprobs", None)
    if given is None:
        return []
    if getattr(given, "content", None):
        return [
            (len(t.bytes) if t.bytes is not None else len(t.token.encode()), t.logprob) for t in given.content
        ]
    texts, values = getattr(given, "tokens", None), getattr(given, "token_logprobs", None)
    if not texts or not values:
        return []
    return [
        (len(t.encode(errors="replace")), v) for t, v in zip(texts, values, strict=False) if v is not None
    ]


def _spread(tokens: list[tuple[int, float]], length: int) -> list[float]:
    """The server's log-probs, summed over the `length` tokens of ours in which the server's tokens begin."""
    found = [0.0] * length
    at = 0
    for size, value in tokens:
        mine = at // BYTES_PER_TOKEN
        if mine >= length:
            break
        if math.isfinite(value):
            found[mine] += value
        at += size
    return found
