"""A vLLM server that another process started: its address, its health, requests to it. Needs no torch.

A server is named by its address, or by a file that holds the address while it runs; the file is read again when the
server is lost, since it may come back at another address.
"""

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strop.policies.connection import one_line
from strop_verify.core import listening
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    import httpx

KEY_FILE = "STROP_SAMPLER_KEY_FILE"
"""Environment variable with the path of the servers' key."""
_BEAT, _PAUSE = 10.0, 0.5
"""Seconds: deadline of a health check, pause between two checks."""


class ServerLost(StropError):
    """A server does not answer, or fails; it may come back."""


class ServerRefused(StropError):
    """A server refuses a request; `status` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(status, message)  # pickle rebuilds the error from these arguments

    def __str__(self) -> str:
        return str(self.args[1])


def read_key(environment: Mapping[str, str]) -> str:
    """The servers' key, from a file that only its owner can read. Raises UserError."""
    named = environment.get(KEY_FILE, "")
    if not named:
        make = f"(umask 077; openssl rand -hex 32 > key); export {KEY_FILE}=$PWD/key"
        raise UserError(f"a vLLM server needs a key, but {KEY_FILE} is not set: {make}")
    return listening.read_key(KEY_FILE, Path(named))


class SamplingServer:
    """A server as seen by the thread that sends requests.

    rows    number of rows in flight
    holds   name of the weights that it last reported, "" if unknown
    url     its address, "" until it is found
    """

    def __init__(self, place: str, client: "httpx.AsyncClient", timeout: float) -> None:
        self.place, self.url, self.rows, self.holds = place, "", 0, ""
        self._client, self._timeout = client, timeout

    async def find(self, end: float) -> None:
        """Waits until it is healthy. Raises StropError if it is not by `end`, in the clock of time.monotonic()."""
        while why := await self._fault(end):
            if time.monotonic() + _PAUSE > end:
                remedy = "check its log, start it with strop serve-sampler, or raise policy.wait_seconds"
                raise StropError(f"no vLLM server at {self.place} ({why}); {remedy}")
            await asyncio.sleep(_PAUSE)

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON answer; None if it is not JSON. Raises ServerLost, ServerRefused, UserError for a wrong key."""
        import httpx

        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._client.request(method, self.url + path, json=body)
        except TimeoutError:
            late = f"{self.url}{path} gave no answer within policy.timeout_seconds={self._timeout:g}"
            raise ServerLost(late) from None
        except httpx.TransportError as error:
            raise ServerLost(f"lost {self.url}: {one_line(error)}") from error
        if answer.status_code in (401, 403):
            how = f"start it with strop serve-sampler and the key in {KEY_FILE}"
            raise UserError(f"{self.url} refuses {path} ({answer.status_code}); {how}")
        if answer.status_code >= 400:
            said = " ".join(printable(answer.text).split())[:400]
            raise ServerRefused(answer.status_code, f"{self.url}{path}: {said}")
        try:
            return answer.json()
        except ValueError:
            return None

    async def models(self) -> dict[str, dict[str, Any]]:
        """{name: description} of what it serves, the base model first."""
        return {one["id"]: one for one in (await self.ask("GET", "/v1/models"))["data"]}

    async def _fault(self, end: float) -> str:
        """Why the server is not healthy; "" if it is."""
        import httpx

        self.url = self.place.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            try:
                self.url = Path(self.place).read_text(encoding="utf-8").strip().rstrip("/")
            except (OSError, ValueError):
                return "there is no such file yet"
            if not self.url.startswith(("http://", "https://")):
                raise UserError(f"policy.urls: {self.place} must hold an address, not {self.url[:80]!r}")
        patience = max(_PAUSE, min(_BEAT, end - time.monotonic()))
        try:
            answer = await self._client.get(f"{self.url}/health", timeout=patience)
        except httpx.InvalidURL as error:
            raise UserError(f"policy.urls: {self.url!r} is not an address ({error})") from None
        except httpx.TransportError as error:
            return f"{self.url}: {one_line(error)}"
        return "" if answer.status_code == 200 else f"{self.url}/health: {answer.status_code}"


def open_client(key: str) -> "httpx.AsyncClient":
    """The HTTP client for servers. Proxies from the environment are ignored, since servers are local."""
    import httpx

    return httpx.AsyncClient(
        headers={"Authorization": f"Bearer {key}"},
        timeout=None,
        limits=httpx.Limits(max_connections=None),
        trust_env=False,
    )


def name_of_host(host: str) -> str:
    """The host name under which others reach a server that listens on `host`."""
    return os.uname().nodename if host in ("0.0.0.0", "::", "") else host
