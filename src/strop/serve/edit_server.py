"""Both faces of one process: LSP on stdin and stdout, where an editor started it, and HTTP on loopback."""

import asyncio
import os
import stat
from collections.abc import Sequence
from socket import socket
from typing import BinaryIO

import uvicorn

from strop.serve.edit_events import EditEventLog
from strop.serve.edit_follow import EditFollower
from strop.serve.edit_http import EditHttp
from strop.serve.edit_model import EditModel

_CONNECTIONS = 64


def started_by_an_editor() -> bool:
    """Whether stdin is a pipe, as editors start a language server."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def serve(
    model: EditModel, log: EditEventLog, http: EditHttp, *, sockets: Sequence[socket], lsp: bool
) -> None:
    """Serves until the editor ends or leaves, or else until a signal comes; then closes the model and the log."""
    follower = EditFollower(log)
    try:
        asyncio.run(_serve(model, log, http, follower, sockets, lsp))
    finally:
        follower.closed()
        http.close()
        model.close()
        log.close()


async def _serve(
    model: EditModel,
    log: EditEventLog,
    http: EditHttp,
    follower: EditFollower,
    sockets: Sequence[socket],
    lsp: bool,
) -> None:
    config = uvicorn.Config(
        http.asgi,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([*sockets])) if sockets else None
    if lsp:
        from strop.serve.edit_lsp import language_server, serve_lsp

        stdin, stdout = _streams()
        talking = asyncio.create_task(serve_lsp(language_server(model, log, follower), stdin, stdout))
        await asyncio.wait({talking, serving} if serving else {talking}, return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        if talking.done():
            talking.result()
    if serving:
        await serving


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """stdin and stdout of the protocol; what a library prints goes to stderr from now on."""
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return os.fdopen(os.dup(0), "rb", buffering=0), stdout
