"""The socket of `strop view`, its server, and the browser."""

import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from strop.core.errors import UserError
from strop.reports.view.app import ViewApp

HOST = "127.0.0.1"
_FIRST_PORT, _PORTS = 6006, 20


def listen(port: int | None) -> socket.socket:
    """A listening loopback socket at `port`: 0 is any, None a free one from 6006 on. Raises UserError."""
    if port is not None:
        try:
            return _bound(port)
        except (OSError, OverflowError) as error:
            raise UserError(
                f"cannot listen on {HOST}:{port}: {error}; choose another --port, or leave it out for a free one"
            ) from None
    for near in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        try:
            return _bound(near)
        except OSError:
            continue
    return _bound(0)


def url_of(bound: socket.socket) -> str:
    """The address for a browser."""
    return f"http://{HOST}:{bound.getsockname()[1]}/"


class ViewServer(uvicorn.Server):
    """uvicorn with the view: `run(sockets=[...])` serves until a signal. A context manager that ends the reading."""

    def __init__(self, app: ViewApp, ready: Callable[[], None]) -> None:
        self._view, self._ready = app, ready
        super().__init__(
            uvicorn.Config(
                app.asgi,
                http="h11",
                ws="none",
                lifespan="off",
                log_level="warning",
                access_log=False,
                server_header=False,
                limit_concurrency=256,
                timeout_graceful_shutdown=1,
            )
        )

    def __enter__(self) -> "ViewServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._view.close()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer, then says so."""
        await super().startup(sockets)
        self._ready()


def browse(url: str) -> None:
    """Opens the user's browser, on a thread: some browsers hold their caller."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _bound(port: int) -> socket.socket:
    return socket.create_server((HOST, port), backlog=64)
