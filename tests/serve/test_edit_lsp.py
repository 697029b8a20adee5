"""Editors that speak LSP: pygls's own client and Neovim are shown suggestions, take them, and the log tells."""

import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests import needs
from tests.waiting import DEADLINE

from strop_verify.core.edit_events import EditLog, read_events, read_suggestions

pytest.importorskip("pygls")
from lsprotocol import types
from tests.lsp_editor import Editor, session

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


def test_neovim_shows_and_takes_a_suggestion(
    says: Callable[..., list[str]], environment: dict[str, str], tmp_path: Path
) -> None:
    needs.need("nvim")
    (tmp_path / "add.py").write_text(BEFORE)
    (tmp_path / "command.txt").write_text("\n".join(says("return a + b")))
    nvim = shutil.which("nvim") or ""
    script = Path(__file__).with_name("neovim_client.lua")
    done = subprocess.run(
        [nvim, "--clean", "--headless", "-n", "add.py", "-c", f"luafile {script}"],
        cwd=tmp_path, env={**environment, "NVIM_LOG_FILE": os.devnull}, capture_output=True, text=True,
        timeout=DEADLINE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "shown.txt").read_text() == "return a + b"
    assert (tmp_path / "add.py").read_text() == "def add(a, b):\n    return a + b\n"
    (one,) = read_log(tmp_path).suggestions
    assert (one.why, one.accepted, one.kept) == ("accepted", 12, 12)
    assert one.served.client.lower().startswith("neovim")
