"""Common parts of all servers: socket, address, key, and the guard in front of the application.

Threat model: other users of a machine reach its loopback, web pages of its browsers send requests there, and clients
may be slow on purpose. `GuardedServer` serves a `RequestGuard` and nothing else:

- A request whose Host is not the server's (DNS rebinding), or that a page of another site sent (Origin,
  Sec-Fetch-Site), or that lacks the key, is refused before its body is read; so is a WebSocket. Of web pages, only the
  server's own may send requests.
- An application is called once the body is complete, so no slow client holds shared resources.
- A body is bounded in bytes, as declared and as it arrives, and in time. All bodies in transit are bounded together:
  the one without progress for longest is dropped first.
- Headers have a deadline. If connections run out, the one that has waited longest for its client is closed.
"""

import asyncio
import hmac
import ipaddress
import json
import os
import resource
import secrets
import signal
import socket
import stat
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from strop_verify.core.errors import StropError, UserError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names by which local clients reach it, with any port: a tunnel has another one at its near end."""
HEADER_SECONDS = 10.0
"""Seconds in which a request's headers must arrive."""
KEY_LENGTH = 16
"""Minimum characters of a key."""
_AT_ONCE = 4
"""How many bodies of the maximum size may be held while they arrive."""
_LINGER_SECONDS, _LINGER_BYTES = 1.0, 8 << 20
"""Seconds and bytes for which a refused body is read and discarded."""
_DEEPEST = 200
"""Maximum nesting of JSON."""
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]


def listen(host: str, port: int, options: str = "--host or --port") -> socket.socket:
    """A listening socket; port 0 picks a free one. Raises UserError, with the options that may help, if the address
    is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot listen on {host}:{port}: {error}; choose another {options}") from None


def url_of(host: str, listening: socket.socket) -> str:
    """The address for clients."""
    return f"http://{_bracketed(host)}:{listening.getsockname()[1]}"


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_key(option: str, file: Path | None) -> str:
    """The key that clients must send, "" without a file. Raises UserError, also if other users can read the file."""
    if file is None:
        return ""
    try:
        key, mode = file.read_text(encoding="utf-8").strip(), file.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{option} {file}: cannot be read ({error}); write a key into it") from None
    if stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UserError(f"{option} {file}: others can read it; run: chmod 600 {file}")
    return checked_key(f"{option} {file}", key)


def checked_key(where: str, key: str) -> str:
    """The key, checked for length and characters. Raises UserError."""
    if len(key) < KEY_LENGTH or not key.isascii() or not key.isprintable() or " " in key:
        rule = f"one word of ASCII, of at least {KEY_LENGTH} characters"
        raise UserError(f"{where} holds no key: {rule}; strop serve-verifier --new-token makes one")
    return key


def print_new_key() -> None:
    """Prints a new key; if stdout is a file, only its owner may read it from then on. Raises UserError."""
    if stat.S_ISREG(os.fstat(1).st_mode):
        try:
            os.fchmod(1, 0o600)
        except OSError as error:
            raise UserError(f"the file is not yours alone ({error.strerror}); write to another") from None
    print(secrets.token_urlsafe(32))


def read_json(text: bytes | str) -> Any:
    """Parses a client's JSON. Raises ValueError with a line for invalid or too deeply nested JSON."""
    deep = f"the JSON is nested more than {_DEEPEST} deep"
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(deep) from None
    except ValueError as error:
        raise ValueError(f"this is not JSON: {str(error)[:100]}") from None
    level = [value]
    for _ in range(_DEEPEST):
        containers = (one for one in level if isinstance(one, dict | list))
        level = [child for one in containers for child in (one.values() if isinstance(one, dict) else one)]
        if not level:
            return value
    raise ValueError(deep)


class _Refused(StropError):
    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class _Gone(StropError):
    """The client left."""


class RequestGuard:
    """An ASGI application behind the module's rules.

    host          where it listens
    key           what clients must send as a bearer token, or none
    most_bytes    maximum size of a body
    body_seconds  time in which a body must arrive
    refusal       turns (status, message) into the JSON that the server's clients read
    """

    def __init__(
        self,
        app: App,
        *,
        host: str = "127.0.0.1",
        key: str = "",
        most_bytes: int = 1 << 20,
        body_seconds: float = 30.0,
        refusal: Callable[[int, str], Any] = lambda status, message: {"error": message},
    ) -> None:
        self._app, self._key, self._refusal = app, key, refusal
        self._most, self._seconds = most_bytes, body_seconds
        self._hosts = dict.fromkeys((*LOOPBACK, _bracketed(host).lower()))
        self._everywhere = host in ("", "0.0.0.0", "::")
        self._any_host = bool(key) and not is_loopback(host)  # no web page has the key
        self._arriving: dict[asyncio.Timeout, int] = {}
        """Bytes of each body so far; the one that has stood still longest comes first."""

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            length = self._let_in(scope)
            if scope["type"] == "http":
                receive = _again(await self._body(length, receive), receive)
        except _Gone:
            return
        except _Refused as error:
            await self._refuse(scope, receive, send, error)
            return
        await self._app(scope, receive, send)

    def _let_in(self, scope: Any) -> int:
        """Checks the headers; returns the declared length of the body. Raises _Refused."""
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            name = name.decode("latin-1").lower()
            headers[name] = f"{headers[name]}," if name in headers else ""
            headers[name] += value.decode("latin-1")
        if not self._is_ours(headers.get("host", "")):
            raise _Refused(403, f"this server answers to {', '.join(self._hosts)} only")
        elsewhere = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if "origin" in headers or (elsewhere and scope["path"] != "/"):  # where links may lead
            raise _Refused(403, "asked by a web page of another origin")
        sent = headers.get("authorization", "").encode("latin-1", errors="replace")
        if self._key and not hmac.compare_digest(sent, b"Bearer " + self._key.encode()):
            raise _Refused(401, "wrong or missing token")
        length = headers.get("content-length", "")
        return int(length) if length.isdecimal() else 0

    def _is_ours(self, host: str) -> bool:
        name, colon, port = host.lower().rpartition(":")
        name = name if colon and port.isdigit() else host.lower()
        if self._any_host or name in self._hosts:
            return True
        # Not an internet domain: an address, or a name without a dot.
        return self._everywhere and name != "" and ("." not in name or name.replace(".", "").isdecimal())

    async def _body(self, length: int, receive: Receive) -> bytes:
        """The whole body. Raises _Refused, and _Gone if the client left."""
        body = bytearray()
        too_long = _Refused(413, f"the body is larger than {self._most} bytes")
        if length > self._most:
            raise too_long
        try:
            async with asyncio.timeout(self._seconds) as deadline:
                try:
                    while True:
                        message = await receive()
                        if message["type"] == "http.disconnect":
                            raise _Gone
                        body += message.get("body", b"")
                        if len(body) > self._most:
                            raise too_long
                        if not message.get("more_body"):
                            return bytes(body)
                        self._hold(deadline, len(body))
                finally:
                    self._arriving.pop(deadline, None)
                    body.clear()
        except TimeoutError:
            raise _Refused(408, "the body did not arrive in time") from None

    def _hold(self, deadline: asyncio.Timeout, size: int) -> None:
        self._arriving.pop(deadline, None)
        self._arriving[deadline] = size
        while sum(self._arriving.values()) > _AT_ONCE * self._most:
            still = next(iter(self._arriving))
            del self._arriving[still]
            if not still.expired():
                still.reschedule(0)

    async def _refuse(self, scope: Any, receive: Receive, send: Send, error: _Refused) -> None:
        body = json.dumps(self._refusal(error.status, str(error))).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers.append((b"connection", b"close"))
        http = scope["type"] == "http"
        kind = "http.response" if http else "websocket.http.response"
        await send({"type": f"{kind}.start", "status": error.status, "headers": headers})
        await send({"type": f"{kind}.body", "body": body, "more_body": http})
        if http:  # a client that still writes could not read it if the connection were closed at once
            left = _LINGER_BYTES
            with suppress(TimeoutError):
                async with asyncio.timeout(_LINGER_SECONDS):
                    while left > 0 and (message := await receive()).get("more_body"):
                        left -= len(message["body"])
            await send({"type": f"{kind}.body", "body": b""})


def _again(body: bytes, receive: Receive) -> Receive:
    """Yields the body, then further messages."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class GuardedServer:
    """An application behind its guard on a listening socket, by uvicorn.

    ready        called once it accepts requests
    leaving      called when it shuts down, before it waits for responses in progress
    connections  maximum number held at once; never more than half of the descriptors that the process may open
    more         further uvicorn settings
    """

    def __init__(
        self,
        guard: RequestGuard,
        listening: socket.socket,
        *,
        ready: Callable[[], None] = lambda: None,
        leaving: Callable[[], None] = lambda: None,
        connections: int = 1024,
        **more: Any,
    ) -> None:
        import uvicorn

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                ready()

            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                leaving()
                await super().shutdown(sockets)

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        most = connections if files == resource.RLIM_INFINITY else min(connections, files // 2)
        given = {
            "ws": "none",
            "log_config": None,
            "log_level": "error",
            "timeout_graceful_shutdown": 1,
            **more,
        }
        config = uvicorn.Config(
            guard, http=_protocol(most), access_log=False, server_header=False, proxy_headers=False, **given
        )
        self._server, self._sockets = Server(config), [listening]

    def run(self) -> None:
        """Serves until `stop`, or a signal: in the main thread it ends first, then raises the signal again."""
        self._server.run(self._sockets)

    async def serve(self) -> None:
        """The same in a running event loop."""
        await self._server.serve(self._sockets)

    def stop(self) -> None:
        """Stops it soon. Safe from any thread, and before it has started."""
        self._server.should_exit = True


def end_on_sigterm() -> None:
    """Makes SIGTERM end the process with status 0, the usual end of a server, and close what is open."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def _protocol(most: int) -> type[asyncio.Protocol]:
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class GuardedProtocol(H11Protocol):
        """uvicorn's protocol with a deadline for headers; at the limit, the connection that waits longest for its
        client is closed."""

        late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            if len(self.connections) >= most:
                idle = next(iter(waiting), None)
                if idle is None:
                    self.transport = transport
                    transport.abort()
                    return
                del waiting[idle]
                idle.transport.abort()
            super().connection_made(transport)
            self._look(begun=True)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look(begun=True)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._look()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._look()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._forget()

        def _look(self, *, begun: bool = False) -> None:
            """Whose turn it is: the client's, or ours."""
            if self.transport.get_protocol() is not self:  # a WebSocket now
                self._forget()
                return
            state = self.conn.their_state
            if state is not h11.IDLE and self.late:
                self.late.cancel()
                self.late = None
            elif state is h11.IDLE and begun and not self.late:
                self.late = self.loop.call_later(HEADER_SECONDS, self.transport.abort)
            if self.flow.write_paused or self.transport.is_closing() or state in (h11.IDLE, h11.SEND_BODY):
                waiting.setdefault(self)
            else:
                waiting.pop(self, None)

        def _forget(self) -> None:
            waiting.pop(self, None)
            if self.late:
                self.late.cancel()

    waiting: dict[GuardedProtocol, None] = {}
    return GuardedProtocol
