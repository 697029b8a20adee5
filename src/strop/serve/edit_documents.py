"""The files that an editor has open, and positions in them.

A position is a line and a column in units of the encoding that client and server agreed on (LSP 3.18, "Position"):
bytes of UTF-8, units of UTF-16, or characters. Only LF, CRLF and CR end a line, unlike in Python's `splitlines`, which
also splits at form feeds, NEL and U+2028. A column beyond the line means its end, a line beyond the last one the end of
the text, and a column inside a character its beginning.

pygls's own documents are not used: they split lines as Python does, miscount at the end of a text without a final line
end, and modify the client's columns in place.
"""

import logging
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.io_ import StdoutWriter
from pygls.protocol import LanguageServerProtocol, lsp_method

_LINE_END = re.compile(r"\r\n?|\n")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""Bytes of a unit of each encoding."""


class TextPlaces:
    """Converts between offsets in a text and a client's positions. `encoding` is one of LSP's three."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._text, self._bytes = text, _BYTES[encoding]
        self._codec = encoding if self._bytes == 1 else f"{encoding}-le"
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._stops = [*(end.start() for end in ends), len(text)]

    def offset(self, place: types.Position) -> int:
        """The number of characters before a position."""
        if place.line >= len(self._starts):
            return len(self._text)
        start, stop = self._starts[place.line], self._stops[place.line]
        line = self._text[start:stop]
        if line.isascii():
            return min(start + place.character, stop)
        return start + bisect_right(list(accumulate(map(self._units, line))), place.character)

    def place(self, offset: int) -> types.Position:
        """The position of an offset from 0 to the length of the text; inside a CRLF, the position before it."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : min(offset, self._stops[line])]
        return types.Position(line, self._units(before))

    def _units(self, text: str) -> int:
        return len(text) if text.isascii() else len(text.encode(self._codec, "surrogatepass")) // self._bytes


@dataclass(frozen=True)
class EditDocument:
    """An open file, as the client has it."""

    uri: str
    source: str
    language: str = ""
    encoding: str = "utf-16"

    def changed(self, changes: Sequence[types.TextDocumentContentChangeEvent]) -> "EditDocument":
        """The document after a client's changes, applied in order."""
        text = self.source
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                places = TextPlaces(text, self.encoding)
                start, end = places.offset(change.range.start), places.offset(change.range.end)
                text = text[:start] + change.text + text[max(start, end) :]
            else:
                text = change.text
            if _SURROGATES.search(text):  # joins the halves of a pair that arrived in separate changes
                text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return replace(self, source=text)

    @property
    def text(self) -> str:
        """The text for the model: line ends become LF, lone surrogates U+FFFD. Positions stay the same."""
        return _SURROGATES.sub("\ufffd", _LINE_END.sub("\n", self.source))

    def offset(self, place: types.Position) -> int:
        """The number of characters of `text` before a position."""
        return TextPlaces(self.text, self.encoding).offset(place)

    def range(self, start: int, end: int) -> types.Range:
        """The client's range of text[start:end]."""
        places = TextPlaces(self.text, self.encoding)
        return types.Range(places.place(start), places.place(end))


class EditProtocol(LanguageServerProtocol):
    """LSP that passes changes to the handler exactly as the client sent them."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Iterator[Any]:
        """Calls the handler without updating pygls's own document."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class EditorPipe(StdoutWriter):
    """Drops data written after the editor has gone, such as pending answers."""

    def write(self, data: bytes) -> None:
        """Writes to the pipe, if both of its ends are open."""
        with suppress(BrokenPipeError, ValueError):  # ValueError: our end is closed
            super().write(data)


def say_errors_in_a_line() -> None:
    """Stops pygls from logging tracebacks of errors that are sent to the client, and warnings about late
    cancellations."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))
    )
