"""One process with two interfaces: LSP on stdin and stdout, if an editor started it, and HTTP on loopback.

LSP uses `textDocument/inlineCompletion` (3.18) on a pair of pipes. Editors report an accepted suggestion by running the
command `strop.accepted`. Every other outcome follows from the next change or request:

    the command with its id           accepted; settled once its file stops changing
    a change that begins to type it   replaced (typed)
    any other change                  dismissed
    a request at the same place       replaced (newer)
    a request elsewhere               dismissed
    its file closes, the server ends  replaced (closed)
"""

import asyncio
import logging
import os
import stat
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from socket import socket
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer
from rapidfuzz.distance import LCSseq, Prefix

from strop import __version__
from strop.serve.edit_documents import EditDocument, EditorPipe, EditProtocol, say_errors_in_a_line
from strop.serve.edit_events import EditEventLog, secret_in, secret_name
from strop.serve.edit_http import EditHttp
from strop.serve.edit_model import EditModel
from strop.serve.edit_prompt import EditState, TextEdit
from strop_verify.core.checks import PastEdit
from strop_verify.core.edit_events import LOST, SETTLING
from strop_verify.core.errors import StropError
from strop_verify.core.listening import GuardedServer
from strop_verify.edits.lines import changed

ACCEPTED = "strop.accepted"
"""The command that reports an accepted suggestion; its argument is the suggestion's id."""
_MOST = 1 << 22
"""Maximum characters of a file that gets suggestions."""
_FAILED = -32803
"""LSP's error code RequestFailed."""
_REMEMBERED = 1000
"""Maximum suggestions whose acceptance is awaited."""
_EDITS, _AROUND = 8, 6
"""Number of edits that are remembered, and the maximum lines of one; changes that span more begin a new edit."""
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class FollowedEdit:
    """A suggestion for the file's text `before`. `at`: the cursor's offset at the request."""

    id: str
    uri: str
    before: str
    at: int
    edit: TextEdit

    def inserted(self) -> str:
        """The file's text with the suggestion applied."""
        start, end, text = self.edit
        return self.before[:start] + text + self.before[end:]

    def is_begun(self, text: str) -> bool:
        """Whether the text is the file with the beginning of the suggestion typed in."""
        start, end, new = self.edit
        known = Prefix.similarity(self.before[start:end], new)
        at, more, new = start + known, len(text) - len(self.before), new[known:]
        return 0 < more <= len(new) and text == self.before[:at] + new[:more] + self.before[at:]


@dataclass(eq=False)
class _Settling:
    edit: FollowedEdit
    give_up: float
    timer: asyncio.TimerHandle | None = field(default=None)


class EditHistory:
    """The newest edits of all files. Consecutive changes around one place are one edit."""

    def __init__(self) -> None:
        self._done: deque[tuple[str, list[str], list[str]]] = deque(maxlen=_EDITS)
        self._open: dict[str, tuple[list[str], list[str]]] = {}
        """Each file's lines when its newest edit began, and its lines now; the file edited last comes last."""

    def opened(self, uri: str, text: str) -> None:
        """Records that a file was opened."""
        lines = text.split("\n")
        self._open[uri] = lines, lines

    def changed(self, uri: str, text: str) -> None:
        """Records a file's new text."""
        begun, before = self._open.pop(uri, ([], []))
        now = text.split("\n")
        if begun is not before and max(map(len, changed(begun, now))) > _AROUND:
            self._done.append((uri, *changed(begun, before)))
            begun = before
        self._open[uri] = begun, now

    def newest(self, shown: Callable[[str], str]) -> tuple[PastEdit, ...]:
        """The newest edits, oldest first, with the paths that `shown` gives; "" leaves a file out."""
        under_way = ((uri, *changed(begun, now)) for uri, (begun, now) in self._open.items() if begun != now)
        edits = [PastEdit(path=shown(uri), old=old, new=new) for uri, old, new in (*self._done, *under_way)]
        return tuple(edit for edit in edits if edit.path)[-_EDITS:]


class EditFollower:
    """Follows the shown suggestion, and accepted ones until they settle. For one thread with an event loop.

    settling  seconds without a change of its file after which an accepted suggestion is settled
    lost      seconds after which the server stops waiting for that
    """

    def __init__(self, log: EditEventLog, *, settling: float = SETTLING, lost: float = LOST) -> None:
        self._log, self._settling, self._lost = log, settling, lost
        self._shown: FollowedEdit | None = None
        self._known: OrderedDict[str, FollowedEdit] = OrderedDict()
        self._taken: dict[str, _Settling] = {}
        self._texts: dict[str, str] = {}
        self.history = EditHistory()

    def opened(self, uri: str, text: str) -> None:
        """Records that a file was opened."""
        self._texts[uri] = text
        self.history.opened(uri, text)

    def show(self, edit: FollowedEdit) -> bool:
        """Whether it may be sent; False if its file has changed since the request."""
        self._known[edit.id] = edit
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        if self._texts.get(edit.uri, edit.before) != edit.before:
            self._log.replaced(edit.id, "typed")
            return False
        self._log.shown(edit.id)
        self._shown = edit
        return True

    def asked(self, uri: str, at: int) -> None:
        """Records a request for a suggestion, which removes the one that is shown."""
        edit, self._shown = self._shown, None
        if edit:
            if edit.uri == uri and self._texts.get(uri) == edit.inserted():  # its command may still come
                self._log.replaced(edit.id, "typed")
            elif (edit.uri, edit.at) == (uri, at):
                self._log.replaced(edit.id, "newer")
            else:
                self._log.dismissed(edit.id)

    def changed(self, uri: str, text: str) -> None:
        """Records a file's new text."""
        if self._texts.get(uri) == text:
            return
        self._texts[uri] = text
        self.history.changed(uri, text)
        edit = self._shown
        if edit and edit.uri == uri and text != edit.inserted():
            self._shown = None
            if edit.is_begun(text):
                self._log.replaced(edit.id, "typed")
            else:
                self._log.dismissed(edit.id)
        for one in self._taken.values():
            if one.edit.uri == uri:
                self._wait(one)

    def accepted(self, id: str) -> None:
        """Records that the client accepted a suggestion; ignores unknown ids and repeated reports."""
        edit = self._known.pop(id, None)
        if edit is None:
            return
        if self._shown is edit:
            self._shown = None
        self._log.accepted(id, len(edit.edit.text))
        one = self._taken[id] = _Settling(edit, asyncio.get_running_loop().time() + self._lost)
        self._wait(one)

    def closed(self, uri: str | None = None) -> None:
        """Records that a file was closed, or all files."""
        if self._shown and uri in (None, self._shown.uri):
            self._log.replaced(self._shown.id, "closed")
            self._shown = None
        for one in [one for one in self._taken.values() if uri in (None, one.edit.uri)]:
            self._settle(one)
        if uri is not None:
            self._texts.pop(uri, None)

    def _wait(self, one: _Settling) -> None:
        if one.timer:
            one.timer.cancel()
        loop = asyncio.get_running_loop()
        if loop.time() > one.give_up:  # by now its characters cannot be distinguished from others
            del self._taken[one.edit.id]
        else:
            one.timer = loop.call_later(self._settling, self._settle, one)

    def _settle(self, one: _Settling) -> None:
        if one.timer:
            one.timer.cancel()
        del self._taken[one.edit.id]
        edit, text = one.edit, self._texts.get(one.edit.uri, "")
        start, end = edit.edit.start, edit.edit.start + len(edit.edit.text)
        kept = characters_kept(edit.inserted(), text, start, end)
        self._log.settled(edit.id, kept=kept, discarded=end - start - kept)


def characters_kept(before: str, after: str, start: int, end: int) -> int:
    """How many characters of before[start:end] are in `after`, by the longest common subsequence."""
    return sum(
        max(0, min(end, code.src_end) - max(start, code.src_start))
        for code in LCSseq.opcodes(before, after)
        if code.tag == "equal"
    )


async def serve_lsp(server: LanguageServer, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serves until the client sends `exit` or stdin ends."""
    reader = asyncio.StreamReader(limit=_MOST * 8)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
    server.protocol.set_writer(EditorPipe(stdout))
    with suppress(SystemExit, asyncio.IncompleteReadError, BrokenPipeError):
        await run_async(
            stop_event=threading.Event(),
            reader=reader,
            protocol=server.protocol,
            logger=_log,
            error_handler=server.report_server_error,
        )


def language_server(model: EditModel, log: EditEventLog, follower: EditFollower) -> LanguageServer:
    """The LSP handlers for one model and one log."""
    server = LanguageServer("strop-edits", __version__, protocol_cls=EditProtocol)
    documents: dict[str, EditDocument] = {}
    client = [""]

    def shown(uri: str) -> str:
        """The path of an edited file in a prompt; "" if the file is closed or may hold a secret."""
        path, document = _path(uri), documents.get(uri)
        hidden = document is None or secret_name(path) or secret_in(document.text)
        return "" if hidden else os.path.relpath(path, server.workspace.root_path or "/")

    @server.feature(types.INITIALIZE)
    def begin(params: types.InitializeParams) -> None:
        info = params.client_info
        client[0] = f"{info.name} {info.version or ''}".strip() if info else ""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        new, encoding = params.text_document, server.workspace.position_encoding or "utf-16"
        document = EditDocument(
            new.uri, new.text, new.language_id, types.PositionEncodingKind(encoding).value
        )
        documents[new.uri] = document
        follower.opened(new.uri, document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        if document := documents.get(params.text_document.uri):
            document = documents[document.uri] = document.changed(params.content_changes)
            follower.changed(document.uri, document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        documents.pop(params.text_document.uri, None)
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
        document = documents.get(params.text_document.uri)
        if document is None or len(document.source) > _MOST:
            return nothing
        text, at = document.text, document.offset(params.position)
        follower.asked(document.uri, at)
        path, history = _path(document.uri), follower.history.newest(shown)
        state = EditState(text, at, os.path.relpath(path, server.workspace.root_path or "/"), history)
        try:
            made = await asyncio.wrap_future(model.suggest(state))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task and task.cancelling():  # by the client
                raise
            return nothing  # a newer request took its place
        except StropError as error:
            raise JsonRpcException(message=" ".join(str(error).split()), code=_FAILED) from error
        id = log.served(
            made,
            dialect="lsp",
            client=client[0],
            path=path,
            language=document.language,
            about="\n".join([text, *(line for past in history for line in (*past.old, *past.new))]),
        )
        if made.edit is None or not follower.show(FollowedEdit(id, document.uri, text, at, made.edit)):
            return nothing
        command = types.Command(title="accepted", command=ACCEPTED, arguments=[id])
        range = document.range(made.edit.start, made.edit.end)
        item = types.InlineCompletionItem(insert_text=made.edit.text, range=range, command=command)
        return types.InlineCompletionList(items=[item])

    return server


def _path(uri: str) -> str:
    return unquote(urlsplit(uri).path)


def started_by_an_editor() -> bool:
    """Whether stdin is a pipe or a socket, as it is for a language server that an editor starts."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def serve(
    model: EditModel, log: EditEventLog, http: EditHttp, *, listening: socket | None, lsp: bool
) -> None:
    """Serves until the editor exits or, without one, until a signal; then closes the model and the log."""
    follower = EditFollower(log)
    try:
        asyncio.run(_serve(model, log, http, follower, listening, lsp))
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
    listening: socket | None,
    lsp: bool,
) -> None:
    server = GuardedServer(http.guard, listening, lifespan="off") if listening else None
    serving = asyncio.create_task(server.serve()) if server else None
    if lsp:
        say_errors_in_a_line()
        stdin, stdout = _streams()
        talking = asyncio.create_task(serve_lsp(language_server(model, log, follower), stdin, stdout))
        await asyncio.wait({talking, serving} if serving else {talking}, return_when=asyncio.FIRST_COMPLETED)
        if server:
            server.stop()
        if talking.done():
            talking.result()
    if serving:
        await serving


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """The protocol's stdin and stdout. From now on, what libraries print to stdout goes to stderr."""
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return os.fdopen(os.dup(0), "rb", buffering=0), stdout
