"""One model on an OpenAI-compatible server: how to reach it, what calls cost, and its errors in one line."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from strop.core.errors import UserError
from strop.core.text import printable

_SETTINGS = ("url", "model", "timeout", "concurrency", "api_key_env")
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _SETTINGS}
"""What a connection's settings are called on the command line."""


@dataclass(frozen=True)
class Connection:
    """One model on an OpenAI-compatible server."""

    url: str
    """Up to and with /v1."""
    model: str = ""
    """As the server calls it."""
    temperature: float = 1.0
    max_tokens: int = 4096
    """Of one response."""
    concurrency: int = 16
    """Calls at a time."""
    timeout_seconds: float = 600.0
    """Of one call."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key."""
    price_in: float | None = None
    price_out: float | None = None
    """Per million tokens; None = not known, then no cost is shown."""
    max_cost: float | None = None

    @property
    def prices(self) -> "Prices":
        """As given."""
        return Prices(self.price_in, self.price_out)

    def check_url(self, option: str) -> None:
        """Raises UserError, one line, unless a server is named by an address; `option`: what names it."""
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
    """Calls whose tokens were counted here, because the server does not report them."""

    def add(self, line: Mapping[str, Any]) -> None:
        """Counts one line of the journal."""
        stage = line["stage"]
        self.calls[stage] += 1
        self.tokens_in[stage] += line["prompt_tokens"]
        self.tokens_out[stage] += line["completion_tokens"]
        self.counted += "counted" in line

    def cost(self, prices: "Prices") -> float:
        """In the currency of the prices."""
        return prices.of(self.tokens_in.total(), self.tokens_out.total())

    def summary(self, stages: Iterable[str]) -> dict[str, Any]:
        """Calls and tokens of each stage, as manifests have them."""
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
    """Per million tokens; both None when not known."""

    tokens_in: float | None = None
    tokens_out: float | None = None

    @property
    def known(self) -> bool:
        """Whether a cost can be computed."""
        return self.tokens_in is not None

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """Their cost; 0 when prices are not known."""
        return (tokens_in * (self.tokens_in or 0.0) + tokens_out * (self.tokens_out or 0.0)) / 1e6


def refusals() -> tuple[type[Exception], ...]:
    """Errors that are about one question only: it is too long, or the server will not answer it."""
    import openai

    return (openai.BadRequestError, openai.UnprocessableEntityError)


def explain(error: BaseException, server: Connection, names: Mapping[str, str] = OPTIONS) -> str:
    """What the server did and what to change, in one line. `names`: what the user knows its settings by."""
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
        return f"{url} is too busy or the account is spent ({message}); lower {names['concurrency']}, or resume later"
    if isinstance(error, openai.APIStatusError):
        return f"{url} refused or failed ({message})"
    remedy = f"{names['url']} should end in /v1"
    return f"{url} did not answer like an OpenAI-compatible server ({message}); {remedy}"


def one_line(error: BaseException) -> str:
    """What an error says, safe for a terminal."""
    return " ".join(printable(str(error)).split())[:300] or type(error).__name__
