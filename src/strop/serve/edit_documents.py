"""The files that an editor has open, and its places in them.

A place is a line and a column in units of the encoding that client and server agreed on (LSP 3.18, "Position"): bytes
of UTF-8, units of UTF-16, or characters. Lines end at LF, CRLF and CR, and at nothing else: not at form feeds, NEL or
U+2028, at which Python's `splitlines` ends them. A column beyond the line means its end, a line beyond the last one the
end of the text, and a column inside a character its beginning.

pygls's own documents are not used: they end lines as Python does, miscount at the end of a text without a last line
end, and move the client's columns in place.
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
"""Of a unit."""


class TextPlaces:
    """Offsets of a text and a client's places in it, each from the other. `encoding` is one of LSP's three."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._text, self._bytes = text, _BYTES[encoding]
        self._codec = encoding if self._bytes == 1 else f"{encoding}-le"
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._stops = [*(end.start() for end in ends), len(text)]

    def offset(self, place: types.Position) -> int:
        """Characters of the text before a place."""
        if place.line >= len(self._starts):
            return len(self._text)
        start, stop = self._starts[place.line], self._stops[place.line]
        line = self._text[start:stop]
        if line.isascii():
            return min(start + place.character, stop)
        return start + bisect_right(list(accumulate(map(self._units, line))), place.character)

    def place(self, offset: int) -> types.Position:
        """The place of an offset, 0 to the length of the text; of one inside a CRLF, the place before it."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : min(offset, self._stops[line])]
        return types.Position(line, self._units(before))

    def _units(self, text: str) -> int:
        return len(text) if text.isascii() else len(text.encode(self._codec, "surrogatepass")) // self._bytes


@dataclass(frozen=True)
class EditDocument:
    """An open file as its client has it."""

    uri: str
    source: str
    language: str = ""
    encoding: str = "utf-16"

    def changed(self, changes: Sequence[types.TextDocumentContentChangeEvent]) -> "EditDocument":
        """After a client's changes, each of what the one before it left."""
        text = self.source
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                places = TextPlaces(text, self.encoding)
                start, end = places.offset(change.range.start), places.offset(change.range.end)
                text = text[:start] + change.text + text[max(start, end) :]
            else:
                text = change.text
            if _SURROGATES.search(text):  # halves of a pair that came one after the other are one character
                text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return replace(self, source=text)

    @property
    def text(self) -> str:
        """What a model is shown: every line ends in LF, and a lone surrogate is U+FFFD. Places stay what they are."""
        return _SURROGATES.sub("\ufffd", _LINE_END.sub("\n", self.source))

    def offset(self, place: types.Position) -> int:
        """Characters of `text` before a place."""
        return TextPlaces(self.text, self.encoding).offset(place)

    def range(self, start: int, end: int) -> types.Range:
        """The client's range of text[start:end]."""
        places = TextPlaces(self.text, self.encoding)
        return types.Range(places.place(start), places.place(end))


class EditProtocol(LanguageServerProtocol):
    """LSP whose changes go to the handler as the client sent them."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Iterator[Any]:
        """Leaves pygls's own document as it is."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class EditorPipe(StdoutWriter):
    """What is written once the editor has gone is left out: answers that were under way."""

    def write(self, data: bytes) -> None:
        """Writes, or not."""
        with suppress(BrokenPipeError, ValueError):  # the latter: our end is closed
            super().write(data)


def say_errors_in_a_line() -> None:
    """From now on pygls writes no traceback for an error that is answered, and nothing of a cancel that comes late."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))
    )
