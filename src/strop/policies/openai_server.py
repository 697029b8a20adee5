"""The `openai` policy: asks any OpenAI-compatible server. For evaluation: it has no weights to update.

The server owns the tokenizer, so token ids here are `WireTokenizer`'s: the ids of a conversation carry its messages to
`sample`, which sends them to /chat/completions; plain text goes to /completions. Limits:

1. A completion's tokens are its text without the stop string, not the server's own tokens.
2. Log-probs are the server's, often those at temperature 1: each is assigned to the token in which the server's token
   begins, which keeps their sum; they are 0 if the server gives none.
3. Most servers do not say whether a stop string or EOS ended a row: then the reason is "eos".
4. Text after the last message (a prefilled answer) is sent as an assistant message to be continued; this is an
   extension of vLLM and SGLang, and a server without it refuses the request.
"""

import asyncio
import math
import os
import queue
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from strop.config.model import OpenAIPolicyConfig as OpenAIConfig
from strop.core.errors import UserError
from strop.core.optional import require
from strop.core.protocols import Tokenizer
from strop.core.rollout import Completion, FinishReason, Message, SamplingParams
from strop.policies.paid.connection import Connection, explain
from strop.policies.wire import BYTES_PER_TOKEN, WireTokenizer

_MOST_STOPS = 4
"""OpenAI refuses more; answers are cut here at the others."""

_RETRIES = 3
"""Of the client, for connections that break, 408, 409, 429 and 5xx, with growing pauses."""

_NAMES = {
    "url": "policy.base_url",
    "model": "policy.model",
    "timeout": "policy.timeout_seconds",
    "api_key_env": "policy.api_key_env",
}
"""What a recipe calls a connection's settings."""

_FAILURES = (TimeoutError, ValueError, AttributeError, TypeError, IndexError)
"""Of a request, besides the client's errors: it hardly checks what it gets."""

_Item = tuple[int, Completion] | BaseException | None


class OpenAIPolicy:
    """Samples from a server, `concurrency` requests at a time, each with a deadline that includes its retries."""

    def __init__(self, config: OpenAIConfig) -> None:
        """Connects at the first `sample`. Raises UserError when the `openai` package is not installed."""
        self.config = config
        self.name = config.model
        self.version = 0
        self._wire = WireTokenizer()
        self.tokenizer: Tokenizer = self._wire
        self._openai = require("openai", package="openai", extra="eval", purpose="policy.engine=openai")
        self._wants_logprobs = True

    def sample(
        self, prompts: Sequence[Sequence[int]], seeds: Sequence[int], params: SamplingParams
    ) -> Iterator[tuple[int, Completion]]:
        """Yields (row, completion) as the server answers; see `core.protocols.Policy`.

        The first request that fails for good ends it with a UserError of one line; the others are given up then, as
        they are when the iterator is closed.
        """
        rows = list(zip(prompts, seeds, strict=True))
        results: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        loop = asyncio.new_event_loop()
        work = loop.create_task(self._ask_all(rows, params, results))
        thread = threading.Thread(target=_run, args=(loop, work, results), name="openai-policy", daemon=True)
        thread.start()
        try:
            while (item := results.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            if thread.is_alive():
                loop.call_soon_threadsafe(work.cancel)
            thread.join()
            loop.close()

    async def _ask_all(
        self,
        rows: list[tuple[Sequence[int], int]],
        params: SamplingParams,
        results: "queue.SimpleQueue[_Item]",
    ) -> None:
        gate = asyncio.Semaphore(self.config.concurrency)
        key = os.environ.get(self.config.api_key_env, "")
        async with self._openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=self.config.base_url,
            timeout=self.config.timeout_seconds,
            max_retries=_RETRIES,
        ) as client:

            async def ask(row: int, prompt: Sequence[int], seed: int) -> None:
                async with gate:
                    results.put((row, await self._ask(client, prompt, seed, params)))

            tasks = [asyncio.create_task(ask(row, prompt, seed)) for row, (prompt, seed) in enumerate(rows)]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, client: Any, prompt: Sequence[int], seed: int, params: SamplingParams) -> Completion:
        messages = self._wire.messages(prompt)
        try:
            async with asyncio.timeout(self.config.timeout_seconds):
                try:
                    return await self._request(client, prompt, messages, seed, params)
                except self._openai.BadRequestError as error:
                    if not self._wants_logprobs or "logprob" not in str(error).lower():
                        raise
                self._wants_logprobs = False  # this server refuses them
                return await self._request(client, prompt, messages, seed, params)
        except (self._openai.APIError, *_FAILURES) as error:
            raise self._explained(error) from error

    async def _request(
        self,
        client: Any,
        prompt: Sequence[int],
        messages: list[Message] | None,
        seed: int,
        params: SamplingParams,
    ) -> Completion:
        options: dict[str, Any] = {
            "model": self.config.model,
            "temperature": params.temperature,
            "top_p": params.top_p,
            "max_tokens": params.max_tokens,
            "seed": seed % 2**31,  # some servers take 32 bits only
        }
        if params.stop:
            options["stop"] = list(params.stop[:_MOST_STOPS])
        if self._wants_logprobs:
            options["logprobs"] = 1 if messages is None else True
        if messages is None:
            answer = await client.completions.create(prompt=self.tokenizer.decode(prompt), **options)
        else:
            if messages[-1].role == "assistant":
                options["extra_body"] = {"continue_final_message": True, "add_generation_prompt": False}
            said = [m.model_dump() for m in messages]
            answer = await client.chat.completions.create(messages=said, **options)
        if not getattr(answer, "choices", None):
            raise ValueError("no choices")
        choice = answer.choices[0]
        text = choice.text if messages is None else choice.message.content or ""
        if text is None:
            raise ValueError("no text")
        return self._completion(text, choice, params)

    def _completion(self, text: str, choice: Any, params: SamplingParams) -> Completion:
        reason: FinishReason = "length" if choice.finish_reason == "length" else "eos"
        if isinstance(getattr(choice, "stop_reason", None), str):  # vLLM says which stop string it was
            reason = "stop"
        cut = min((at for stop in params.stop if (at := text.find(stop)) >= 0), default=-1)
        if cut >= 0:
            text, reason = text[:cut], "stop"
        ids = self.tokenizer.encode(text)
        return Completion(
            token_ids=ids,
            logprobs=_spread(_server_tokens(choice), len(ids)),
            text=text,
            finish_reason=reason,
            policy_version=self.version,
        )

    def _explained(self, error: BaseException) -> UserError:
        """One line that says what the server did and what to change."""
        config = self.config
        server = Connection(
            config.base_url,
            config.model,
            timeout_seconds=config.timeout_seconds,
            api_key_env=config.api_key_env,
        )
        names = {**_NAMES, "concurrency": f"policy.concurrency ({config.concurrency})"}
        return UserError(explain(error, server, names))


def _run(
    loop: asyncio.AbstractEventLoop, work: "asyncio.Task[None]", results: "queue.SimpleQueue[_Item]"
) -> None:
    """The thread's whole life: runs the requests, then puts the error that ended them, if any, and None."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(work)
        loop.run_until_complete(loop.shutdown_asyncgens())
    except asyncio.CancelledError:
        pass
    except BaseException as error:
        results.put(error)
    finally:
        results.put(None)


def _server_tokens(choice: Any) -> list[tuple[int, float]]:
    """(bytes, log-prob) of each of the server's tokens; empty when it gives none."""
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
    """The server's log-probs on `length` tokens of ours, each on the one in which the server's token begins."""
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
