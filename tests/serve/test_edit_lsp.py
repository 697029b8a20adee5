"""Editors that speak LSP: pygls's own client and Neovim are shown suggestions, take them, and the log tells."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests import needs
from tests.waiting import DEADLINE

from strop_verify.core.edit_events import EditLog, read_events, read_suggestions

pytest.importorskip("pygls")
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.lsp_editor import Editor, session

ROOT = Path(__file__).parents[2]
SLOW = ROOT / "tests" / "slow_edits.py"
BEFORE = "def add(a, b):\n    \n"
Ask = Callable[[Editor], Awaitable[None]]


@pytest.fixture
def edits(environment: dict[str, str], tmp_path: Path) -> Callable[[list[str], Ask], EditLog]:
    """Runs a session of an editor with one file against a server; what the log says then."""

    def run(command: list[str], ask: Ask) -> EditLog:
        session(command, environment, lambda client: ask(Editor(client, tmp_path / "add.py", BEFORE)))
        return read_log(tmp_path)

    return run


def read_log(folder: Path) -> EditLog:
    return read_suggestions(read_events(folder / "log"))


def test_a_client_is_shown_a_suggestion_and_takes_it(says: Callable[..., list[str]], edits: Any) -> None:
    async def ask(editor: Editor) -> None:
        (item,) = (await editor.ask()).items
        assert item.insert_text == "return a + b" and item.range.start == types.Position(1, 4)
        editor.change(item.insert_text)
        await editor.accept(item)
        await editor.accept(item)  # clients may say it twice
        editor.change("(", 1, 11)

    log = edits(says("return a + b"), ask)
    (one,) = log.suggestions
    assert (one.state, one.why, one.accepted, one.kept) == ("labelled", "accepted", 12, 12)
    assert (one.served.client, one.served.dialect, one.served.language) == ("tested 1.0", "lsp", "python")
    assert one.served.completion and one.served.completion.text == "return a + b"
    assert len(one.served.completion.logprobs) == len(one.served.completion.token_ids)
    assert one.served.checkpoint and log.doubled == log.orphans == 0


def test_what_is_left_of_an_accepted_text_is_counted(says: Callable[..., list[str]], edits: Any) -> None:
    async def ask(editor: Editor) -> None:
        (item,) = (await editor.ask()).items
        editor.change(item.insert_text, whole=True)
        await editor.accept(item)
        editor.text = BEFORE  # and away with all but two words
        editor.change("return a * c", whole=True)

    (one,) = edits(says("return a + b"), ask).suggestions
    assert one.kept == len("return a  ")


def test_typing_on_is_no_label_and_silence_shows_nothing(says: Callable[..., list[str]], edits: Any) -> None:
    async def ask(editor: Editor) -> None:
        (first,) = (await editor.ask()).items
        editor.change("r")
        assert len((await editor.ask(1, 5)).items) == 0
        assert first.insert_text == "return a"

    log = edits(says("return a", ""), ask)
    assert [one.why for one in log.suggestions] == ["typed", "silent"]


def test_a_file_with_crlf_gets_its_own_line_ends_and_the_suggestion_counts_as_taken(
    says: Callable[..., list[str]], environment: dict[str, str], tmp_path: Path
) -> None:
    async def ask(client: Any) -> None:
        editor = Editor(client, tmp_path / "a b.py", "def f():\r\n    \r\n")
        (item,) = (await editor.ask(1, 99)).items
        assert item.range == types.Range(types.Position(1, 4), types.Position(1, 4))
        assert item.insert_text == "for a in b:\n        c"
        editor.send(
            types.TextDocumentContentChangePartial(item.range, item.insert_text.replace("\n", "\r\n"))
        )
        await editor.accept(item)

    session(says("for a in b:\n        c\n    d"), environment, ask)
    (one,) = read_log(tmp_path).suggestions
    assert (one.why, one.accepted, one.kept) == ("accepted", 21, 21)


def test_requests_that_are_replaced_cancelled_or_fail_end_without_a_traceback(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async def ask(client: Any) -> None:
        editor = Editor(client, tmp_path / "a.py", BEFORE)
        asked = [editor.ask() for _ in range(5)]
        assert [len((await one).items) for one in asked] == [0, 0, 0, 0, 1]
        taken_back = editor.ask(1, 3)
        await asyncio.sleep(0)  # it is sent
        (number,) = [id for id, future in client.protocol._request_futures.items() if not future.done()]
        for _ in range(2):  # the second comes late
            client.protocol.notify("$/cancelRequest", types.CancelParams(id=number))
        with pytest.raises(JsonRpcException) as cancelled:
            await taken_back
        assert cancelled.value.code == types.LSPErrorCodes.RequestCancelled
        with pytest.raises(JsonRpcException, match="the model is away"):
            await Editor(client, tmp_path / "b.py", "fail").ask(0, 4)

    said = session([sys.executable, str(SLOW), str(tmp_path / "log")], environment, ask)
    assert said == ""


def message(**fields: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize("leaves", ["says so", "is gone"])
def test_an_editor_that_leaves_while_it_waits_leaves_no_traceback(
    environment: dict[str, str], tmp_path: Path, leaves: str
) -> None:
    file = {"uri": "file:///a.py", "languageId": "python", "version": 1, "text": "a"}
    place = {"textDocument": {"uri": file["uri"]}, "position": {"line": 0, "character": 1}}
    asked = [
        message(id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}}),
        message(method="textDocument/didOpen", params={"textDocument": file}),
        message(
            id=2, method="textDocument/inlineCompletion", params={**place, "context": {"triggerKind": 2}}
        ),
    ]
    ended = [message(id=3, method="shutdown"), message(method="exit")] if leaves == "says so" else []
    server = subprocess.Popen(
        [sys.executable, SLOW, tmp_path / "log"], env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdin and server.stdout and server.stderr
    server.stdin.write(b"".join(asked + ended))
    server.stdin.flush()
    if leaves == "is gone":
        server.stdout.read(1)  # it has begun
        server.stdout.close()
    server.stdin.close()
    assert server.stderr.read() == b""
    assert server.wait(DEADLINE) == 0


@pytest.mark.parametrize(
    ("text", "keys", "answer", "place", "after"),
    [
        (BEFORE, "jA", "return a + b", [1, 4], "def add(a, b):\n    return a + b\n"),
        ('x = ("😋")', "$i", ', 2) # two', [0, 11], 'x = ("😋", 2)'),
    ],
)  # fmt: skip
def test_neovim_shows_and_takes_a_suggestion(
    says: Callable[..., list[str]],
    environment: dict[str, str],
    tmp_path: Path,
    text: str,
    keys: str,
    answer: str,
    place: list[int],
    after: str,
) -> None:
    """In an insert mode of the plug-in of the examples; the second file has no last line end."""
    needs.need("nvim")
    plugin = ROOT / "examples" / "neovim" / "strop.lua"
    for name, content in {
        "add.py": text, "command.txt": "\n".join(says(answer)), "plugin.txt": str(plugin), "keys.txt": keys,
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content)
    script = Path(__file__).with_name("neovim_client.lua")
    done = subprocess.run(
        [shutil.which("nvim") or "", "--clean", "--headless", "-n", "add.py", "-c", f"luafile {script}"],
        cwd=tmp_path, env={**environment, "NVIM_LOG_FILE": os.devnull}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=DEADLINE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    row, column, shown = json.loads((tmp_path / "shown.txt").read_text())
    taken = answer.partition(")")[0]
    assert ([row, column], shown) == (place, taken)
    assert (tmp_path / "add.py").read_text() == after
    (one,) = read_log(tmp_path).suggestions
    assert (one.why, one.accepted, one.kept) == ("accepted", len(taken), len(taken))
    assert one.served.client.lower().startswith("neovim")


def test_the_vs_code_extension_asks_and_accepts(
    says: Callable[..., list[str]], environment: dict[str, str], tmp_path: Path
) -> None:
    needs.need("node")
    folder = ROOT / "examples" / "vscode"
    package = json.loads((folder / "package.json").read_text())
    extension = folder / package["main"]
    asked = [extension, 'x = "😋"', "0", "8", *says(" + y")]
    script = Path(__file__).with_name("vscode_client.js")
    done = subprocess.run(
        ["node", script, *asked], env=environment, capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr
    item = json.loads(done.stdout)
    place = {"line": 0, "character": 8}  # in UTF-16
    assert (item["insertText"], item["range"]) == (" + y", {"start": place, "end": place})
    (one,) = read_log(tmp_path).suggestions
    assert (one.why, one.accepted) == ("accepted", 4)
    assert (
        package["contributes"]["configuration"]["properties"]["strop.command"]["default"][1] == "serve-edits"
    )
