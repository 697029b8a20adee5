"""Errors of the client as one line that says what the server did and what to change."""

import os
from collections.abc import Mapping
from typing import Any

from strop.core.text import printable

OPTIONS = {
    name: f"--{name.replace('_', '-')}" for name in ("url", "model", "timeout", "concurrency", "api_key_env")
}
"""What settings are called on the command line."""


def refusals() -> tuple[type[Exception], ...]:
    """Errors that are about one question only: it is too long, or the server will not answer it."""
    import openai

    return (openai.BadRequestError, openai.UnprocessableEntityError)


def explain(error: BaseException, settings: Mapping[str, Any], names: Mapping[str, str] = OPTIONS) -> str:
    """One line. `settings`: url, model, timeout, api_key_env; `names`: what the user knows these by, to change them."""
    import openai

    url, key = settings["url"], settings["api_key_env"]
    said = one_line(error)
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return (
            f"{url} gave no answer within {settings['timeout']:g} s; raise {names['timeout']} or lower "
            f"{names['concurrency']}"
        )
    if isinstance(error, openai.APIConnectionError):
        cause = one_line(error.__cause__ or error)
        return f"cannot reach {url} ({cause}); start the server or set {names['url']}"
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        if os.environ.get(key):
            return f"{url} refuses the key in {key} ({said})"
        return (
            f"{url} requires a key: set the environment variable {key}, or name another one in "
            f"{names['api_key_env']}"
        )
    if isinstance(error, openai.NotFoundError):
        return (
            f"{url} knows no model {settings['model']!r}, or no such path ({said}); set {names['model']} or "
            f"{names['url']}"
        )
    if isinstance(error, openai.RateLimitError):
        return f"{url} is too busy or the account is spent ({said}); lower {names['concurrency']}, or resume later"
    if isinstance(error, openai.APIStatusError):
        return f"{url} refused or failed ({said})"
    return f"{url} did not answer like an OpenAI-compatible server ({said}); {names['url']} should end in /v1"


def one_line(error: BaseException) -> str:
    """What an error says, safe for a terminal."""
    return " ".join(printable(str(error)).split())[:300] or type(error).__name__
