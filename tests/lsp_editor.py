"""An editor without a screen: sessions of pygls's client with a server over stdio."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from tests.waiting import DEADLINE


class Editor:
    """One open file in a client."""

    def __init__(self, client: LanguageClient, path: Path, text: str) -> None:
        self.client, self.uri, self.text, self.version = client, path.as_uri(), text, 1
        document = types.TextDocumentItem(uri=self.uri, language_id="python", version=1, text=text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(document))

    def ask(self, line: int = 1, character: int = 4) -> "asyncio.Future[Any]":
        return asyncio.ensure_future(
            self.client.text_document_inline_completion_async(
                types.InlineCompletionParams(
                    context=types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
                    text_document=types.TextDocumentIdentifier(self.uri),
                    position=types.Position(line, character),
                )
            )
        )

    def change(self, text: str, line: int = 1, character: int = 4, *, whole: bool = False) -> None:
        """Types a text at a place of an ASCII text with LF; `whole`: sends the file."""
        lines = self.text.split("\n")
        lines[line] = lines[line][:character] + text + lines[line][character:]
        self.text = "\n".join(lines)
        place = types.Position(line, character)
        self.send(
            types.TextDocumentContentChangeWholeDocument(self.text)
            if whole
            else types.TextDocumentContentChangePartial(types.Range(place, place), text)
        )

    def send(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Says what has changed."""
        self.version += 1
        named = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(named, [change]))

    def close(self) -> None:
        named = types.TextDocumentIdentifier(self.uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(named))

    async def accept(self, item: types.InlineCompletionItem) -> None:
        assert item.command is not None
        command = types.ExecuteCommandParams(item.command.command, item.command.arguments)
        await self.client.workspace_execute_command_async(command)


def session(
    command: list[str],
    environment: dict[str, str],
    act: Callable[[LanguageClient], Awaitable[None]],
    encoding: str = "",
) -> str:
    """Starts a server, acts and ends it; what it wrote to stderr."""

    async def run() -> str:
        client = LanguageClient("tested", "1.0")
        await client.start_io(*command, env=environment)
        encodings = [types.PositionEncodingKind(encoding)] if encoding else None
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        began = await client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(general=general),
                client_info=types.ClientInfo("tested", "1.0"),
            )
        )
        assert began.capabilities.inline_completion_provider
        client.initialized(types.InitializedParams())
        await act(client)
        await client.shutdown_async(None)
        client.exit(None)
        server: Any = client._server
        said: bytes = await server.stderr.read()
        await client.stop()
        return said.decode()

    return asyncio.run(asyncio.wait_for(run(), DEADLINE))
