"""Both faces of one process: LSP on stdin and stdout, where an editor started it, and HTTP on loopback.

To an editor it speaks `textDocument/inlineCompletion` of LSP 3.18 on a pair of pipes. An accepted suggestion comes back
as the command `strop.accepted`, which editors run by themselves.
"""

import asyncio
import logging
import os
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from socket import socket
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

import uvicorn
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.server import LanguageServer

from strop import __version__
from strop.core.errors import StropError
from strop.core.listening import server_config
from strop.serve.edit_events import EditEventLog, secret_in, secret_name
from strop.serve.edit_follow import EditFollower, FollowedEdit
from strop.serve.edit_http import EditHttp
from strop.serve.edit_model import EditModel
from strop.serve.edit_prompt import EditState

ACCEPTED = "strop.accepted"
"""The command that says a suggestion was taken; its argument is the suggestion's id."""
_MOST = 1 << 22
"""Characters of a file; larger ones get no suggestion."""
_REPLACED, _FAILED = -32802, -32803
"""LSP's ServerCancelled and RequestFailed."""
_log = logging.getLogger(__name__)


async def serve_lsp(server: LanguageServer, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serves until the client says exit or stdin ends."""
    reader = asyncio.StreamReader(limit=_MOST * 8)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
    server.protocol.set_writer(StdoutWriter(stdout))
    with suppress(SystemExit, asyncio.IncompleteReadError, BrokenPipeError):
        await run_async(
            stop_event=threading.Event(),
            reader=reader,
            protocol=server.protocol,
            logger=_log,
            error_handler=server.report_server_error,
        )


def language_server(model: EditModel, log: EditEventLog, follower: EditFollower) -> LanguageServer:
    """The routes over one model and one log."""
    server = LanguageServer("strop-edits", __version__)
    client = [""]

    def shown(uri: str) -> str:
        """The path of an edited file in a prompt; "" where what was edited may be a secret."""
        path, document = _path(uri), server.workspace.text_documents.get(uri)
        hidden = document is None or secret_name(path) or secret_in(document.source)
        return "" if hidden else os.path.relpath(path, server.workspace.root_path or "/")

    @server.feature(types.INITIALIZE)
    def begin(params: types.InitializeParams) -> None:
        info = params.client_info
        client[0] = f"{info.name} {info.version or ''}".strip() if info else ""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        follower.opened(params.text_document.uri, params.text_document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        follower.changed(uri, server.workspace.get_text_document(uri).source)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        follower.closed(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    def ending(*_: object) -> None:
        follower.closed()

    @server.command(ACCEPTED)
    def accepted(id: str) -> None:
        follower.accepted(id)

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def suggest(params: types.InlineCompletionParams) -> types.InlineCompletionList:
        nothing = types.InlineCompletionList(items=[])
        document = server.workspace.text_documents.get(params.text_document.uri)
        if document is None or len(document.source) > _MOST:
            return nothing
        source, at = document.source, document.offset_at_position(params.position)
        follower.asked(document.uri, at)
        path, history = _path(document.uri), follower.history.newest(shown)
        state = EditState(source, at, os.path.relpath(path, server.workspace.root_path or "/"), history)
        try:
            made = await asyncio.wrap_future(model.suggest(state))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task and task.cancelling():  # by the client
                raise
            raise JsonRpcException(message="a newer request took its place", code=_REPLACED) from None
        except StropError as error:
            raise JsonRpcException(message=" ".join(str(error).split()), code=_FAILED) from error
        id = log.served(
            made,
            dialect="lsp",
            client=client[0],
            path=path,
            language=document.language_id or "",
            about="\n".join([source, *(line for past in history for line in (*past.old, *past.new))]),
        )
        if made.edit is None or not follower.show(FollowedEdit(id, document.uri, source, at, made.edit)):
            return nothing
        command = types.Command(title="accepted", command=ACCEPTED, arguments=[id])
        start, end = map(document.client_position_at_offset, made.edit[:2])
        item = types.InlineCompletionItem(
            insert_text=made.edit.text, range=types.Range(start, end), command=command
        )
        return types.InlineCompletionList(items=[item])

    return server


def _path(uri: str) -> str:
    return unquote(urlsplit(uri).path)


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
    server = uvicorn.Server(server_config(http.guard, lifespan="off"))
    serving = asyncio.create_task(server.serve([*sockets])) if sockets else None
    if lsp:
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
