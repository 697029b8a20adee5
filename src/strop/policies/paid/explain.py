"""Errors of the client as one line that says what the server did and what to change."""

import os
from typing import Any

from strop.core.text import printable


def refusals() -> tuple[type[Exception], ...]:
    """Errors that are about one question only: it is too long, or the server will not answer it."""
    import openai

    return (openai.BadRequestError, openai.UnprocessableEntityError)


def explain(error: BaseException, settings: dict[str, Any]) -> str:
    """One line. `settings` as they are sent to the caller: url, model, timeout, api_key_env."""
    import openai

    url, name = settings["url"], settings["api_key_env"]
    said = one_line(error)
    if isinstance(error, openai.APITimeoutError):
        return (
            f"{url} gave no answer within {settings['timeout']:g} s; raise --timeout or lower --concurrency"
        )
    if isinstance(error, openai.APIConnectionError):
        return f"cannot reach {url} ({one_line(error.__cause__ or error)}); start the server or correct --url"
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        if os.environ.get(name):
            return f"{url} refuses the key in {name} ({said})"
        return (
            f"{url} requires a key: set the environment variable {name}, or name another with --api-key-env"
        )
    if isinstance(error, openai.NotFoundError):
        return (
            f"{url} knows no model {settings['model']!r}, or no such path ({said}); correct --model or --url"
        )
    if isinstance(error, openai.RateLimitError):
        return f"{url} is too busy or the account is spent ({said}); lower --concurrency, or resume later"
    if isinstance(error, openai.APIStatusError):
        return f"{url} refused or failed ({said})"
    return f"{url} did not answer like an OpenAI-compatible server ({said}); --url should end in /v1"


def one_line(error: BaseException) -> str:
    """What an error says, safe for a terminal."""
    return " ".join(printable(str(error)).split())[:300] or type(error).__name__
