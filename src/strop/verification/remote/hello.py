"""Reads a server's self-description and its refusals, on the client's side."""

from collections.abc import Mapping

import httpx

from strop.verification.remote.protocol import PROTOCOL, differences


class Refused(Exception):
    """The server answered with a status other than 200."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(f"{status}: {message}")


def explain(body: bytes) -> str:
    """The line of an error's body."""
    try:
        return str(httpx.Response(200, content=body).json()["error"])[:300]
    except (ValueError, KeyError, TypeError):
        return body[:100].decode(errors="replace")


def describe(error: Exception) -> str:
    """An error in a few words."""
    return str(error) if isinstance(error, Refused) else f"{type(error).__name__} {error}".strip()


def say_hello(response: httpx.Response, settings: Mapping[str, object]) -> Mapping[str, object]:
    """The server's own words. Raises Refused, or ValueError when it is no verifier or judges by other settings."""
    if response.status_code != 200:
        raise Refused(response.status_code, explain(response.content))
    hello = response.json()
    if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL:
        raise ValueError("it is no verifier of this release")
    theirs = hello.get("settings")
    faults = differences(settings, theirs) if isinstance(theirs, dict) else []
    if faults:
        raise ValueError(f"it judges by other settings: {'; '.join(faults)}; start it with the same recipe")
    return hello
