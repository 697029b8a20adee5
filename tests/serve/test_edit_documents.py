"""Places of an editor, against one that counts units one by one; then the same through a server."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.scale import most

pytest.importorskip("pygls")
from lsprotocol import types
from tests.lsp_editor import Editor, session

from strop.serve.edit_documents import EditDocument, TextPlaces

ENCODINGS = ["utf-8", "utf-16", "utf-32"]
PIECES = [
    "\n", "\n", "\r\n", "\r\n", "\r", "\f", "\v", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", "\0", "\t", " ",
    "a", "bc", "é", "€", "😋", "e\u0301", "\ufeff", "\ud83d", "\ude0b",
]  # fmt: skip
Place = tuple[int, int]


def whole(text: str) -> str:
    """Halves of a pair that stand together are one character, as in JSON."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def shown(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass
class UnitEditor:
    """An editor whose text is a list of units, which it looks at one by one."""

    text: str
    encoding: str

    def units(self) -> list[int]:
        if self.encoding == "utf-8":
            return list(self.text.encode("utf-8", "surrogatepass"))
        size = 2 if self.encoding == "utf-16" else 4
        data = self.text.encode(f"{self.encoding}-le", "surrogatepass")
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]

    def lines(self) -> list[Place]:
        units, found, start, at = self.units(), list[Place](), 0, 0
        while at < len(units):
            size = 2 if units[at : at + 2] == [13, 10] else 1 if units[at] in (10, 13) else 0
            if size:
                found.append((start, at))
                start = at + size
            at += size or 1
        return [*found, (start, len(units))]

    def at(self, line: int, column: int) -> int:
        """Units before a place."""
        units, lines = self.units(), self.lines()
        if line >= len(lines):
            return len(units)
        start, stop = lines[line]
        at = min(start + column, stop)
        while at < stop and self.inside(units, at):
            at -= 1
        return at

    def inside(self, units: list[int], at: int) -> bool:
        if self.encoding == "utf-8":
            return 0x80 <= units[at] < 0xC0
        pair = at > 0 and 0xD800 <= units[at - 1] < 0xDC00 and 0xDC00 <= units[at] < 0xE000
        return self.encoding == "utf-16" and pair

    def put(self, start: Place, end: Place, text: str) -> str:
        """The text with another one in place of a range."""
        units, new = self.units(), UnitEditor(text, self.encoding).units()
        first, last = self.at(*start), max(self.at(*start), self.at(*end))
        units[first:last] = new
        size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[self.encoding]
        codec = self.encoding if size == 1 else f"{self.encoding}-le"
        data = b"".join(unit.to_bytes(size, "little") for unit in units)
        return whole(data.decode(codec, "surrogatepass"))


def a_text(draw: random.Random) -> str:
    return whole("".join(draw.choices(PIECES, k=draw.randrange(12))))


def a_place(draw: random.Random, text: str) -> Place:
    return draw.randrange(text.count("\n") + text.count("\r") + 3), draw.choice([0, 1, 2, 3, 5, 8, 99])


def pair(place: types.Position) -> Place:
    return place.line, place.character


def document(text: str, encoding: str) -> EditDocument:
    return EditDocument("file:///a", text, "", encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_2000_random_texts_and_cursors(encoding: str) -> None:
    draw = random.Random(encoding)
    for _ in range(2000):
        text = a_text(draw)
        editor, file, cursor = UnitEditor(text, encoding), document(text, encoding), a_place(draw, text)
        asked = types.Position(*cursor)
        at = file.offset(asked)
        file.text.encode()  # tokenizers take no half of a pair
        assert pair(asked) == cursor  # the client's own object
        put = file.range(at, at)
        assert editor.put(pair(put.start), pair(put.end), "X") == editor.put(cursor, cursor, "X"), (
            text,
            cursor,
        )
        assert editor.at(*pair(put.start)) == editor.at(*cursor)
        first, last = sorted(draw.choices(range(len(file.text) + 1), k=2))
        taken = file.range(first, last)
        after = shown(editor.put(pair(taken.start), pair(taken.end), "X\nY"))
        assert (after[: first + 3], after[first + 3 :]) == (
            shown(text)[:first] + "X\nY", shown(text)[last:]
        )  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_text_after_random_changes(encoding: str) -> None:
    draw = random.Random(encoding)
    for _ in range(300):
        text = a_text(draw)
        file = document(text, encoding)
        for _ in range(4):
            start, end = a_place(draw, text), a_place(draw, text)
            new = a_text(draw)
            place = types.Range(types.Position(*start), types.Position(*end))
            file = file.changed([types.TextDocumentContentChangePartial(place, new)])
            assert file.source == UnitEditor(text, encoding).put(start, end, new), (text, start, end, new)
            text = file.source


@pytest.mark.parametrize(
    ("text", "line", "column", "offset"),
    [
        ("", 0, 0, 0),
        ("", 3, 9, 0),
        ("abc", 0, 3, 3),
        ("abc", 0, 99, 3),
        ("abc\n", 0, 99, 3),
        ("abc\n", 1, 0, 4),
        ("abc\n", 9, 9, 4),
        ("a\r\nb", 0, 2, 1),
        ("a\rb", 1, 1, 3),
        ("a\fb\nc", 1, 0, 4),
        ("😋\n", 1, 0, 2),
        ("😋x", 0, 1, 0),
        ("😋x", 0, 2, 1),
    ],
)
def test_places_by_hand(text: str, line: int, column: int, offset: int) -> None:
    assert TextPlaces(text).offset(types.Position(line, column)) == offset


def test_a_place_inside_a_line_end_is_before_it() -> None:
    assert pair(TextPlaces("a\r\nb").place(2)) == (0, 1)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_server_puts_suggestions_where_they_were_asked_for(
    says: Callable[..., list[str]], environment: dict[str, str], tmp_path: Path, encoding: str
) -> None:
    """What the client types first goes by changes of the file."""
    draw, count = random.Random(encoding), most(2000, 100)

    async def ask(client: Any) -> None:
        for number in range(count):
            editor = Editor(client, tmp_path / f"a file {number}.py", a_text(draw))
            cursor = a_place(draw, editor.text)
            new = a_text(draw)
            place = types.Range(types.Position(*cursor), types.Position(*cursor))
            editor.send(types.TextDocumentContentChangePartial(place, new))
            text = UnitEditor(editor.text, encoding).put(cursor, cursor, new)
            reference, cursor = UnitEditor(text, encoding), a_place(draw, text)
            (item,) = (await editor.ask(*cursor)).items
            placed = reference.put(pair(item.range.start), pair(item.range.end), item.insert_text)
            assert placed == reference.put(cursor, cursor, "X"), (text, cursor)
            editor.close()

    said = session(says("X"), environment, ask, encoding)
    assert said.count("\n") <= 2 and "Traceback" not in said  # what the server says as it starts
