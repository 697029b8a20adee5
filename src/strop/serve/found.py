"""The answer to a question of code search, and the finder that needs no model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from strop.environments.locator import Locator
from strop_verify.core.ranges import Ranges, write_ranges
from strop_verify.core.text import printable

MOST_LINES = 200
"""Maximum lines shown of an answer."""
WIDTH = 200


@dataclass(frozen=True)
class Found:
    """An answer.

    places   the named files and lines that exist, in the order of the answer
    lines    path -> (number, text) of each line of the places
    unknown  named places that do not exist
    why      one line that says why there is no place
    """

    places: Ranges
    lines: dict[str, list[tuple[int, str]]]
    unknown: tuple[str, ...] = ()
    why: str = ""

    def text(self, *, lines: bool, below: str = "") -> str:
        """PATH:FIRST-LAST of each file, then its lines, MOST_LINES in all; `below`: a folder to prefix paths with."""
        return printable("\n".join(self._rows(lines, f"{below}/" if below else "")))

    def _rows(self, lines: bool, prefix: str) -> Iterator[str]:
        room = MOST_LINES
        for path, spans in self.places.items():
            yield prefix + write_ranges({path: spans})
            held = self.lines[path] if lines else []
            for number, line in held[:room]:
                yield f"{number:6}  {line[:WIDTH]}".rstrip() + " [cut]" * (len(line) > WIDTH)
            if len(held) > room:
                yield f"        [{len(held) - room} more lines]"
            room = max(0, room - len(held))


Find = Callable[[Path, str], Found]
"""Answers a question about a folder. Raises UserError, VerificationError."""


class LexicalFinder:
    """Answers from the question's words, in any thread; keeps its index of the folders in memory."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: time limit of one question."""
        self._locator = Locator(seconds)

    def __enter__(self) -> "LexicalFinder":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def find(self, folder: Path, question: str) -> Found:
        """The best files with the current lines of their best chunks. Raises UserError."""
        places = self._locator.find(folder, question)
        return Found(
            {place.path: place.spans for place in places},
            {place.path: list(place.lines) for place in places},
            why="" if places else "no file holds a distinctive word of the question",
        )
