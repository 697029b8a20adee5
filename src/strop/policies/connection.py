"""One model on an OpenAI-compatible server: address, caller with retries, usage and cost, one-line errors."""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.text import printable

_SETTINGS = ("url", "model", "timeout", "concurrency", "api_key_env")
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _SETTINGS}
"""{setting of a connection: its option on the command line}."""
_FIRST_PAUSE, _LONGEST_PAUSE, _UNREACHED = 0.5, 15.0, 2


@dataclass(frozen=True)
class Connection:
    """One model on an OpenAI-compatible server."""

    url: str
    """The base URL, which ends in /v1."""
    model: str = ""
    """The server's name for the model."""
    temperature: float = 1.0
    max_tokens: int = 4096
    """Maximum tokens per response."""
    concurrency: int = 16
    """Maximum number of concurrent calls."""
    timeout_seconds: float = 600.0
    """Time limit per call."""
    retry_seconds: float = 300.0
    """How long a call is retried if the server is busy, failing or gone."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the API key."""
    price_in: float | None = None
    price_out: float | None = None
    """Prices per million tokens; None if unknown, in which case no cost is shown."""
    max_cost: float | None = None

    @property
    def prices(self) -> "Prices":
        """`price_in` and `price_out`."""
        return Prices(self.price_in, self.price_out)

    def check_url(self, option: str) -> None:
        """Raises UserError unless `url` is an address; `option` is what sets it."""
        if not self.url:
            raise UserError(f"no server named: add {option}, such as {option} http://127.0.0.1:8000/v1")
        if not self.url.startswith(("http://", "https://")):
            rule = "it must begin with http:// or https:// and end in /v1"
            raise UserError(f"{option} {self.url!r} is not an address: {rule}")


@dataclass
class Usage:
    """Calls and tokens by stage, as the server reports them."""

    calls: Counter[str] = field(default_factory=Counter)
    tokens_in: Counter[str] = field(default_factory=Counter)
    tokens_out: Counter[str] = field(default_factory=Counter)
    counted: int = 0
    """Calls whose tokens were counted here because the server does not report them."""

    def add(self, line: Mapping[str, Any]) -> None:
        """Adds one line of the journal."""
        stage = line["stage"]
        self.calls[stage] += 1
        self.tokens_in[stage] += line["prompt_tokens"]
        self.tokens_out[stage] += line["completion_tokens"]
        self.counted += "counted" in line

    def cost(self, prices: "Prices") -> float:
        """The cost so far, in the currency of the prices."""
        return prices.of(self.tokens_in.total(), self.tokens_out.total())

    def summary(self, stages: Iterable[str]) -> dict[str, Any]:
        """Calls and tokens of each stage, for a manifest."""
        found: dict[str, Any] = {
            stage: {
                "calls": self.calls[stage],
                "prompt_tokens": self.tokens_in[stage],
                "completion_tokens": self.tokens_out[stage],
            }
            for stage in stages
        }
        return {**found, "calls_counted_by_characters": self.counted}


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens; both None if unknown."""

    tokens_in: float | None = None
    tokens_out: float | None = None

    @property
    def known(self) -> bool:
        """Whether a cost can be computed."""
        return self.tokens_in is not None

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """The cost of these tokens; 0 if prices are unknown."""
        return (tokens_in * (self.tokens_in or 0.0) + tokens_out * (self.tokens_out or 0.0)) / 1e6


class ModelCaller:
    """Calls one model; retries if the server is busy (429), fails (5xx) or drops the connection.

    Pauses double from `_FIRST_PAUSE` to `_LONGEST_PAUSE` seconds, or follow the server's Retry-After, until
    `retry_seconds` have passed. A server that has never answered gets `_UNREACHED` retries: its address is wrong. If
    a server refuses an option, later calls adapt: `logprobs` are left out, `max_tokens` becomes
    `max_completion_tokens`. Calls already under way are repeated.
    """

    def __init__(self, server: Connection, purpose: str) -> None:
        """Connects at the first call; `close` it. Raises UserError if the `openai` package is not installed."""
        openai = require("openai", package="openai", extra="eval", purpose=purpose)
        self._openai, self._server = openai, server
        self._client = openai.AsyncOpenAI(
            api_key=os.environ.get(server.api_key_env) or "none",
            base_url=server.url,
            timeout=server.timeout_seconds,
            max_retries=0,  # its own retries count tries, not time, and repeat calls that time out
        )
        self._reached = False
        self._no_logprobs, self._length = False, "max_tokens"
        self.failures = (openai.APIError, TimeoutError, ValueError, AttributeError, TypeError, LookupError)
        """What `ask` raises: the client's errors, and others, since the client hardly validates responses."""

    async def ask(self, *, max_tokens: int, **options: Any) -> Any:
        """The answer to `messages`, or to a `prompt`, with at least one choice. Raises one of `failures`."""
        loop = asyncio.get_running_loop()
        end, tries = loop.time() + self._server.retry_seconds, 0
        kind = self._client.chat.completions if "messages" in options else self._client.completions
        while True:
            sent = {**options, self._length: max_tokens}
            if self._no_logprobs:
                sent.pop("logprobs", None)
            try:
                async with asyncio.timeout(self._server.timeout_seconds):
                    answer = await kind.create(model=self._server.model, **sent)
            except refusals() as error:
                if not self._learnt(str(error).lower(), sent):
                    raise
            except self._openai.APIError as error:
                pause, tries = self._pause(error, tries), tries + 1
                if pause is None or loop.time() + pause > end:
                    raise
                await asyncio.sleep(pause)
            else:
                self._reached = True
                if not getattr(answer, "choices", None):
                    raise ValueError("no choices")
                return answer

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def _learnt(self, refusal: str, sent: Mapping[str, Any]) -> bool:
        """Makes later calls avoid the refused option; False if the refusal is about something else."""
        if "max_completion_tokens" in refusal and "max_tokens" in sent:
            self._length = "max_completion_tokens"
        elif "logprob" in refusal and "logprobs" in sent:
            self._no_logprobs = True
        else:
            return False
        return True

    def _pause(self, error: Any, tries: int) -> float | None:
        """Seconds until the next try; None for no further try."""
        openai = self._openai
        if isinstance(error, openai.APIStatusError):
            self._reached = True
            spent = getattr(error, "code", None) == "insufficient_quota"
            if spent or not (error.status_code in (408, 409, 429) or error.status_code >= 500):
                return None
            with suppress(ValueError):
                if (said := float(error.response.headers.get("retry-after", ""))) > 0:
                    return said
        elif (
            not isinstance(error, openai.APIConnectionError)
            or isinstance(error, openai.APITimeoutError)
            or (not self._reached and tries >= _UNREACHED)
        ):
            return None
        return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(tries, 10)) * random.uniform(0.75, 1.0)


def refusals() -> tuple[type[Exception], ...]:
    """Errors about a single request: it is too long, or the server will not answer it."""
    import openai

    return (openai.BadRequestError, openai.UnprocessableEntityError)


def explain(error: BaseException, server: Connection, names: Mapping[str, str] = OPTIONS) -> str:
    """What the server did and what to change, in one line. `names`: {setting: its name for the user}."""
    import openai

    url, key = server.url, server.api_key_env
    message = one_line(error)
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        remedy = f"raise {names['timeout']} or lower {names['concurrency']}"
        return f"{url} gave no answer within {server.timeout_seconds:g} s; {remedy}"
    if isinstance(error, openai.APIConnectionError):
        cause = one_line(error.__cause__ or error)
        return f"cannot reach {url} ({cause}); start the server or set {names['url']}"
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        if os.environ.get(key):
            return f"{url} refuses the key in {key} ({message})"
        remedy = f"set the environment variable {key}, or name another one in {names['api_key_env']}"
        return f"{url} requires a key: {remedy}"
    if isinstance(error, openai.NotFoundError):
        remedy = f"set {names['model']} or {names['url']}"
        return f"{url} knows no model {server.model!r}, or no such path ({message}); {remedy}"
    if isinstance(error, openai.RateLimitError):
        return f"{url} is busy or the account has no credit ({message}); lower {names['concurrency']}, or resume later"
    if isinstance(error, openai.InternalServerError):
        waited = f"for {names['retry']} of {server.retry_seconds:g} s" if "retry" in names else "repeatedly"
        return f"{url} refused or failed ({message}) {waited}; check the server, then resume"
    if isinstance(error, openai.APIStatusError):
        return f"{url} refused or failed ({message})"
    remedy = f"{names['url']} should end in /v1"
    return f"{url} did not answer like an OpenAI-compatible server ({message}); {remedy}"


def one_line(error: BaseException) -> str:
    """The error's message in one line, safe for a terminal."""
    return " ".join(printable(str(error)).split())[:300] or type(error).__name__
