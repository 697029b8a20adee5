"""What `strop view` answers, as a Starlette application, and the server with its socket. Everything is read; nothing is
written, started or fetched.

    GET /              the page                     GET /vega.js       the chart library, when charts are drawn
    GET /api/page      the runs, if they are new    GET /api/charts    the charts' specifications
    GET /api/rows      rows of a step, evaluation   GET /api/task      a task's groups and rows
    GET /api/search    rows that match              GET /api/detail    one rollout, whole

Rollouts are read while a page asks: for a moment with the first question, then with each of its questions what is new.

Threat model: the page holds model-written text, and other pages of the same browser may send requests too. So every
response names its type and forbids guessing another, the page runs only its own scripts, no response may be framed or
read by another origin, and a request that names another host (DNS rebinding) is refused. A request chooses
among what was found in the run folders; it never names a file. Other users of this machine can reach the port.
"""

import json
import socket
import threading
import time
import webbrowser
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from strop.core import files
from strop.core.errors import UserError
from strop.reports.page import chart_library, document, policy
from strop.reports.page.charts import charts
from strop.reports.page.page_run import PageRun
from strop.reports.page.run_data import tell_apart

HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Hosts that a request may name, with any port: a tunnel has another one at its near end."""
_MOST_ROWS = 10_000
_FIRST_SECONDS, _MORE_SECONDS = 0.2, 1.0
"""How long rollouts are read before a page's first question is answered, and each of the others."""
_MOST_TARGET = 4096
"""Bytes of a request's query."""
Query = Mapping[str, str]


class ViewApp:
    """The routes over some runs. Raises UserError for a folder that is no run folder."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.runs = {str(n): PageRun(folder, str(n)) for n, folder in enumerate(folders)}
        self._born = time.time_ns()
        self._building = threading.Lock()
        paths: dict[str, Callable[[Query], Response]] = {
            "/": self._document,
            "/vega.js": self._vega,
            "/api/page": self._page,
            "/api/charts": self._chart_specs,
            "/api/rows": self._rows,
            "/api/search": self._search,
            "/api/task": self._task,
            "/api/detail": self._detail,
        }
        routes = [Route(path, _answering(answer), methods=["GET"]) for path, answer in paths.items()]
        app = Starlette(routes=routes, exception_handlers={HTTPException: _refused, Exception: _broken})
        app.router.redirect_slashes = False
        header = f"{policy(live=True, charts=False)}; frame-ancestors 'none'"
        self.asgi: ASGIApp = RequestGuard(app, header)

    def _document(self, query: Query) -> Response:
        return Response(document(None, charts=False), media_type="text/html")

    def _page(self, query: Query) -> Response:
        known = query.get("stamp", "")
        seconds = (_MORE_SECONDS if known else _FIRST_SECONDS) / len(self.runs)
        runs = [run.page(seconds) for run in self.runs.values()]
        tell_apart(runs)
        stamp = ".".join(str(part) for part in (self._born, *(run["stamp"] for run in runs)))
        if stamp == known:
            return _json({"stamp": stamp})
        return _json(
            {"version": 1, "mode": "live", "sampling": "", "stamp": stamp, "runs": runs, "charts": {}}
        )

    def _rows(self, query: Query) -> Response:
        name = query.get("evaluation")
        block = f"e.{name}" if name else f"t.{_count(query, 'step', -1)}"
        return _json(self._run(query).index.rows(block))

    def _search(self, query: Query) -> Response:
        limit = min(_count(query, "limit", 200), _MOST_ROWS)
        try:
            return _json(self._run(query).index.search(query, limit))
        except UserError as error:
            raise HTTPException(400, str(error)) from None

    def _task(self, query: Query) -> Response:
        return _json(self._run(query).index.task(query.get("task", "")))

    def _detail(self, query: Query) -> Response:
        return _json({"detail": self._run(query).detail(query.get("id", ""))})

    def _vega(self, query: Query) -> Response:
        with self._building:
            return Response(chart_library(), media_type="text/javascript")

    def _chart_specs(self, query: Query) -> Response:
        with self._building:
            return _json(charts())

    def _run(self, query: Query) -> PageRun:
        run = self.runs.get(query.get("run", "0"))
        if run is None:
            raise HTTPException(404, f"no such run here; there are {len(self.runs)}")
        run.look()
        return run


class RequestGuard:
    """Refuses what no page of ours asks, and puts the headers on every answer, errors too (ASGI)."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"referrer-policy", b"no-referrer"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers]
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = _refusal(scope)
        await (refusal or self._app)(scope, receive, guarded)


def _refusal(scope: Scope) -> Response | None:
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1 or _without_port(hosts[0]) not in HOSTS:
        return _error(f"this server answers to {' and '.join(HOSTS[:2])} only", 403)
    sites = [value for name, value in scope["headers"] if name == b"sec-fetch-site"]
    if any(site not in (b"same-origin", b"none") for site in sites) and scope["path"] != "/":
        return _error("asked by a page of another origin", 403)
    if scope["method"] != "GET":
        return _error("only GET is answered", 405)
    if len(scope["query_string"]) > _MOST_TARGET:
        return _error(f"the query is longer than {_MOST_TARGET} bytes", 414)
    return None


def _without_port(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()


def _answering(answer: Callable[[Query], Response]) -> Callable[[Request], Awaitable[Response]]:
    """A handler that answers on a thread, a user's mistake as 404 with its line."""

    async def handler(request: Request) -> Response:
        try:
            return await run_in_threadpool(answer, request.query_params)
        except UserError as error:
            return _error(str(error), 404)

    return handler


def _json(value: Any) -> Response:
    """JSON in ASCII, as answers may hold lone surrogates; numbers that are not finite become null."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        text = files.json_line(value)
    return Response(text, media_type="application/json")


def _error(message: str, status: int) -> Response:
    return Response(json.dumps({"error": message, "status": status}), status, media_type="application/json")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(error.detail, error.status_code)


async def _broken(request: Request, error: Exception) -> Response:
    return _error(f"{type(error).__name__}: {error}", 500)


def _count(query: Query, name: str, default: int) -> int:
    word = query.get(name, "")
    if not word:
        return default
    if not (word.isascii() and word.isdigit() and len(word) < 13):
        raise HTTPException(400, f"{name}={word[:40]!r} is not a whole number")
    return int(word)


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
    """uvicorn with the view: `run(sockets=[...])` serves until a signal; `ready` is called when it answers."""

    def __init__(self, app: ViewApp, ready: Callable[[], None]) -> None:
        self._ready = ready
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

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer, then says so."""
        await super().startup(sockets)
        self._ready()


def browse(url: str) -> None:
    """Opens the user's browser, on a thread: some browsers hold their caller."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _bound(port: int) -> socket.socket:
    return socket.create_server((HOST, port), backlog=64)
