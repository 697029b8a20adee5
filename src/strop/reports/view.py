"""The Starlette application and server of `strop view`. It only reads: nothing is written, started or fetched.

    GET /              the page                     GET /vega.js       the chart library, for drawing charts
    GET /api/page      the runs, or what is new     GET /api/charts    the charts' specifications
    GET /api/rows      rows of a step, evaluation   GET /api/task      a task's groups and rows
    GET /api/search    rows that match              GET /api/detail    one complete rollout

A page sends the stamp of its data: for a recent stamp it gets the changes, else everything. Rollouts are read during
requests: briefly in the first one, then new ones in each.

Threat model: that of `core.listening`; in addition, the page holds model-written text. So every response names its type
and forbids sniffing, the page runs only its own scripts, and no response may be framed or read by another origin. A
request selects among the rollouts found; it never names a file. Other users of this machine can reach the port.
"""

import json
import socket
import threading
import time
import webbrowser
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from strop.reports.page import chart_library, document, policy
from strop.reports.page.charts import charts
from strop.reports.page.page_run import PageRun
from strop.reports.page.run_data import tell_apart
from strop_verify.core import files, listening
from strop_verify.core.errors import UserError

_MOST_ROWS = 10_000
_FIRST_SECONDS, _MORE_SECONDS = 0.2, 1.0
"""Seconds of reading rollouts before a page's first request is answered, and before each later one."""
_KEPT = 4
"""Pages kept to compute changes, enough for as many tabs that follow a run at once."""
_MOST_TARGET = 4096
"""Maximum bytes of a request's query."""
Query = Mapping[str, str]


class ViewApp:
    """The routes for some runs. Raises UserError for a folder that is not a run folder."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.runs = {str(n): PageRun(folder, str(n)) for n, folder in enumerate(folders)}
        self._born = time.time_ns()
        self._building, self._giving = threading.Lock(), threading.Lock()
        self._given: OrderedDict[str, list[dict[str, Any]]] = OrderedDict()
        paths: dict[str, Callable[[Query], Response]] = {
            "/": lambda _: Response(document(None, charts=False), media_type="text/html"),
            "/vega.js": self._vega,
            "/api/page": self._page,
            "/api/charts": lambda _: _json(charts()),
            "/api/rows": self._rows,
            "/api/search": self._search,
            "/api/task": lambda query: _json(self._run(query).index.task(query.get("task", ""))),
            "/api/detail": lambda query: _json({"detail": self._run(query).detail(query.get("id", ""))}),
        }
        routes = [Route(path, _answering(answer), methods=["GET"]) for path, answer in paths.items()]
        app = Starlette(
            routes=routes,
            middleware=[Middleware(GZipMiddleware, minimum_size=10_000, compresslevel=5)],
            exception_handlers={HTTPException: _refused, Exception: _broken},
        )
        app.router.redirect_slashes = False
        self._guard = listening.RequestGuard(app, refusal=_fault)

    def server(self, bound: socket.socket, ready: Callable[[], None]) -> listening.GuardedServer:
        """The server of the view; it calls `ready` once it listens."""
        return listening.GuardedServer(
            self._guard, bound, ready=ready, connections=256, lifespan="off", headers=[*_HEADERS.items()]
        )

    def _page(self, query: Query) -> Response:
        known = query.get("stamp", "")
        seconds = (_MORE_SECONDS if known else _FIRST_SECONDS) / len(self.runs)
        runs = [run.page(seconds) for run in self.runs.values()]
        tell_apart(runs)
        stamp = ".".join(str(part) for part in (self._born, *(run["stamp"] for run in runs)))
        if stamp == known:
            return _json({"stamp": stamp})
        with self._giving:
            before = self._given.get(known)
            self._given[stamp] = runs
            while len(self._given) > _KEPT:
                self._given.popitem(last=False)
        if before is not None:
            return _json({"stamp": stamp, "changed": [*map(changes, before, runs)]})
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

    def _vega(self, query: Query) -> Response:
        with self._building:
            return Response(chart_library(), media_type="text/javascript")

    def _run(self, query: Query) -> PageRun:
        run = self.runs.get(query.get("run", "0"))
        if run is None:
            raise HTTPException(404, f"no such run here; there are {len(self.runs)}")
        run.look()
        return run


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The changes from an earlier page of a run to the current one.

    Changed values are complete; `tasks` holds new or changed ones; changes of lists are in `spliced`: {name: [first
    index, number removed, new items]}.
    """
    found: dict[str, Any] = {}
    spliced: dict[str, list[Any]] = {}
    for name, new in now.items():
        old = before[name]
        if old == new:
            continue
        if name == "tasks":
            found[name] = {task: about for task, about in new.items() if old.get(task) != about}
        elif isinstance(new, list):
            same = [a == b for a, b in zip(old, new, strict=False)]
            head = same.index(False) if False in same else len(same)
            most, tail = min(len(old), len(new)) - head, 0
            while tail < most and old[-1 - tail] == new[-1 - tail]:
                tail += 1
            spliced[name] = [head, len(old) - head - tail, new[head : len(new) - tail]]
        else:
            found[name] = new
    return {**found, "spliced": spliced}


def _answering(answer: Callable[[Query], Response]) -> Callable[[Request], Awaitable[Response]]:
    """A handler that runs in a thread and answers a user's mistake with 404 and its message."""

    async def handler(request: Request) -> Response:
        if request.method != "GET":  # HEAD, which Starlette adds
            return _error("only GET is answered", 405)
        if len(request.scope["query_string"]) > _MOST_TARGET:
            return _error(f"the query is longer than {_MOST_TARGET} bytes", 414)
        try:
            return await run_in_threadpool(answer, request.query_params)
        except UserError as error:
            return _error(str(error), 404)

    return handler


def _json(value: Any, status: int = 200) -> Response:
    """JSON in ASCII, because answers may hold lone surrogates; numbers that are not finite become null."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        text = files.json_line(value)
    return Response(text, status, media_type="application/json")


def _error(message: str, status: int) -> Response:
    return _json(_fault(status, message), status)


def _fault(status: int, message: str) -> dict[str, Any]:
    return {"error": message, "status": status}


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


_HEADERS = {
    "Content-Security-Policy": f"{policy(live=True, charts=False)}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Headers of every response, including errors."""


def listen(port: int | None) -> socket.socket:
    """A listening loopback socket at `port`: 0 means any, None the first free one from 6006. Raises UserError."""
    if port is not None:
        return listening.listen(HOST, port, "--port, or leave it out for a free one")
    for near in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        with suppress(UserError):
            return listening.listen(HOST, near)
    return listening.listen(HOST, 0)


def url_of(bound: socket.socket) -> str:
    """The address for a browser."""
    return f"{listening.url_of(HOST, bound)}/"


def browse(url: str) -> None:
    """Opens the user's browser in a thread: some browsers block their caller."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
