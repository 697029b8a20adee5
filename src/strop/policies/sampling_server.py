"""One vLLM server that another process started: where it is, whether it is well, and how it is asked. Without torch.

A server is named by its address or by a file that holds it as long as it runs; the file is read again whenever it has
gone away, as it may come back elsewhere.
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
"""Environment variable that names the file with the servers' key."""
_BEAT, _PAUSE = 10.0, 0.5
"""Seconds: the deadline of a look at its health, and between two looks."""


class ServerLost(StropError):
    """It does not answer, or not as one that can: it may come back."""


class ServerRefused(StropError):
    """It answers, and refuses; `status` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(status, message)  # as pickle makes it again

    def __str__(self) -> str:
        return str(self.args[1])


def read_key(environment: Mapping[str, str]) -> str:
    """The key of the servers, from a file that nobody else can read. Raises UserError."""
    named = environment.get(KEY_FILE, "")
    if not named:
        make = f"(umask 077; openssl rand -hex 32 > key); export {KEY_FILE}=$PWD/key"
        raise UserError(f"a vLLM server needs a key and {KEY_FILE} names no file: {make}")
    return listening.read_key(KEY_FILE, Path(named))


class SamplingServer:
    """A server, as the thread that asks it sees it.

    rows    how many it is being asked for
    holds   the name of the weights that it was last seen to sample with, "" where that is not known
    url     its address, "" until it was found
    """

    def __init__(self, place: str, client: "httpx.AsyncClient", timeout: float) -> None:
        self.place, self.url, self.rows, self.holds = place, "", 0, ""
        self._client, self._timeout = client, timeout

    async def find(self, end: float) -> None:
        """Returns once it is well. Raises StropError when it is not by `end`, on the clock of time.monotonic()."""
        while why := await self._fault(end):
            if time.monotonic() + _PAUSE > end:
                remedy = "look at its log, start it with strop serve-sampler, or raise policy.wait_seconds"
                raise StropError(f"no vLLM server at {self.place} ({why}); {remedy}")
            await asyncio.sleep(_PAUSE)

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What it answers, None where that is no JSON. Raises ServerLost, ServerRefused, UserError for a wrong key."""
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
            raise ServerRefused(answer.status_code, f"{self.url}{path}: {_said(answer.text)}")
        try:
            return answer.json()
        except ValueError:
            return None

    async def models(self) -> dict[str, dict[str, Any]]:
        """What it serves, by name, the model itself first."""
        return {one["id"]: one for one in (await self.ask("GET", "/v1/models"))["data"]}

    async def _fault(self, end: float) -> str:
        """Why it is not well, "" where it is."""
        import httpx

        self.url = self.place.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            try:
                self.url = Path(self.place).read_text(encoding="utf-8").strip().rstrip("/")
            except (OSError, ValueError):
                return "there is no such file yet"
            if not self.url.startswith(("http://", "https://")):
                raise UserError(f"policy.urls: {self.place} holds no address, but {self.url[:80]!r}")
        patience = max(_PAUSE, min(_BEAT, end - time.monotonic()))
        try:
            answer = await self._client.get(f"{self.url}/health", timeout=patience)
        except httpx.InvalidURL as error:
            raise UserError(f"policy.urls: {self.url!r} is no address ({error})") from None
        except httpx.TransportError as error:
            return f"{self.url}: {one_line(error)}"
        return "" if answer.status_code == 200 else f"{self.url}/health: {answer.status_code}"


def open_client(key: str) -> "httpx.AsyncClient":
    """What servers are asked with. Proxies of the environment are not used: servers are near."""
    import httpx

    return httpx.AsyncClient(
        headers={"Authorization": f"Bearer {key}"},
        timeout=None,
        limits=httpx.Limits(max_connections=None),
        trust_env=False,
    )


def name_of_host(host: str) -> str:
    """The name by which others reach a server that listens on `host`."""
    return os.uname().nodename if host in ("0.0.0.0", "::", "") else host


def _said(text: str) -> str:
    return " ".join(printable(text).split())[:400]
