"""`Locator`: finds the files and lines in a folder that a plain-language question is about, without a model.

    locator = Locator()
    for place in locator.find(Path("."), "where are prices rounded?"):
        print(place.path, place.spans)

The index of words stays in memory: a later question rereads only files whose size, inode or time of change differs, and
gives the same scores as a freshly built index (`lexical_ranking`).

Files are those of `listed_files`: in a git checkout, the ones that git knows. Nothing outside the folder is read, not
even through links. Binary files, files over LONGEST bytes and names with control characters are skipped.
"""

import os
import stat
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from strop.environments.code_words import Bag, bag_of, is_program
from strop.environments.lexical_ranking import RankedFile, chunk_bags, ranked
from strop.environments.search_pattern import selected
from strop.environments.search_tree import LONGEST, MOST_FILES, SearchTree, is_plain
from strop_verify.core.errors import UserError
from strop_verify.core.ranges import Range, merged
from strop_verify.verification.project.snapshot import listed_files

FILES = 3
"""Default number of files in an answer."""
LEAST = 0.15
"""Files that score less than this share of the best file's score are left out of the answer."""
LARGEST_DATA = 1 << 18
"""Maximum size in bytes of a file that is read although it is not source code."""
_KEPT_CHUNKS = 500
"""Number of files whose chunks are kept in memory."""
State = tuple[int, int, int]
"""(time of change in ns, size in bytes, inode)"""


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """A file of an answer.

    score  above 0, comparable within one answer
    spans  sorted line ranges, counted from 1, both ends included
    lines  (number, text) of each line in the spans
    """

    path: str
    score: float
    spans: tuple[Range, ...]
    lines: tuple[tuple[int, str], ...]


class Locator:
    """Answers questions one at a time, from any thread."""

    def __init__(self, seconds: float = 120.0) -> None:
        """`seconds`: time limit of one question. Files read by then are kept, so asking again continues."""
        self.seconds = seconds
        self._lock = threading.Lock()
        self._bags: dict[str, tuple[State, Bag | None]] = {}
        self._chunks: OrderedDict[str, tuple[State, dict[Range, Bag]]] = OrderedDict()

    def find(self, folder: Path, question: str, most: int = FILES) -> list[LocatedFile]:
        """The files that the question may be about, best first, at most `most`; none if none of its words is found.

        Raises UserError for a folder that is missing, empty or too large, and if the time limit is reached.
        """
        if not folder.is_dir():
            raise UserError(f"there is no folder {folder}")
        if not question.strip():
            raise UserError("the question is empty; say what to look for")
        with self._lock:
            top = folder.resolve()
            states = _states(top)
            bags = self._indexed(top, states)
            found = ranked(question, bags, lambda path: self._chunks_of(top, path, states[path]))
        places = [place for file in found[:most] if (place := _place(top, file.path, file.score, file.spans))]
        return [place for place in places if place.score >= LEAST * places[0].score]

    def _indexed(self, top: Path, states: dict[str, State]) -> dict[str, Bag]:
        """Path -> bag of each text file of a folder, in the order of paths; only changed files are read."""
        deadline = time.monotonic() + self.seconds
        known: dict[str, Bag] = {}
        prefix = f"{top}{os.sep}" if str(top) != os.sep else os.sep
        for number, (path, state) in enumerate(states.items()):
            key = prefix + path
            kept = self._bags.get(key)
            if kept is None or kept[0] != state:
                if time.monotonic() > deadline:
                    raise UserError(
                        f"{top}: {number} of {len(states)} files were read in {self.seconds:.0f} s; ask again "
                        "to continue, or name a folder inside it"
                    )
                text = read_text(top, path)
                kept = self._bags[key] = state, None if text is None else bag_of(path, text)
            if kept[1] is not None:
                known[path] = kept[1]
        self._forget(prefix, states)
        return known

    def _forget(self, prefix: str, states: dict[str, State]) -> None:
        """Drops files that are gone and, if too many are held, those of other folders."""
        crowded = len(self._bags) > 2 * MOST_FILES
        for key in list(self._bags):
            gone = key[len(prefix) :] not in states if key.startswith(prefix) else crowded
            if gone:
                del self._bags[key]

    def _chunks_of(self, top: Path, path: str, state: State) -> dict[Range, Bag]:
        key = f"{top}/{path}"
        kept = self._chunks.get(key)
        if kept is None or kept[0] != state:
            kept = self._chunks[key] = state, chunk_bags(path, read_text(top, path) or "")
        self._chunks.move_to_end(key)
        while len(self._chunks) > _KEPT_CHUNKS:
            self._chunks.popitem(last=False)
        return kept[1]


@lru_cache(maxsize=256)
def ranked_files(tree: SearchTree, question: str, among: tuple[str, ...] = ()) -> list[RankedFile]:
    """The files of a tree that a question may be about, best first, limited to those that the globs select (all if
    empty)."""
    paths = sorted(selected(among, tree.texts))
    texts = {path: text for path in paths if (text := read_text(tree.folder, path)) is not None}
    bags = {path: _bag(path, text) for path, text in texts.items()}
    return ranked(question, bags, lambda path: _chunk_bags(path, texts[path]))


_bag = lru_cache(maxsize=2048)(bag_of)  # commits of a history have most files in common
_chunk_bags = lru_cache(maxsize=512)(chunk_bags)


def _states(top: Path) -> dict[str, State]:
    """Path -> state of each regular file in a folder, in the order of paths. Raises UserError if there is none."""
    states: dict[str, State] = {}
    inside: dict[str, bool] = {"": True}
    for path in listed_files(top, MOST_FILES):
        if not is_plain(path) or not _is_inside(top, path.rpartition("/")[0], inside):
            continue
        try:
            found = os.lstat(f"{top}/{path}")
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            states[path] = found.st_mtime_ns, found.st_size, found.st_ino
    if not states:
        raise UserError(f"{top}: no files; name the folder of a repository")
    return states


def _is_inside(top: Path, folder: str, known: dict[str, bool]) -> bool:
    """Whether a folder exists and is not reached through a link; `known` caches the answers by folder."""
    if folder not in known:
        above = _is_inside(top, folder.rpartition("/")[0], known)
        try:
            known[folder] = above and stat.S_ISDIR(os.lstat(f"{top}/{folder}").st_mode)
        except OSError:
            known[folder] = False
    return known[folder]


def read_text(top: Path, path: str) -> str | None:
    """The text of a file; None if it is binary, too long, gone, or has become a link or a device."""
    try:
        handle = os.open(top / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(LONGEST + 1)
    except OSError:
        return None
    if len(data) > (LONGEST if is_program(path) else LARGEST_DATA) or b"\0" in data:
        return None
    return data.decode(errors="replace")


def _place(top: Path, path: str, score: float, spans: tuple[Range, ...]) -> LocatedFile | None:
    """A file with its current lines; None if they are gone."""
    lines = (read_text(top, path) or "").removesuffix("\n").split("\n")
    there = merged((first, min(last, len(lines))) for first, last in spans if first <= len(lines))
    shown = [(number, lines[number - 1]) for first, last in there for number in range(first, last + 1)]
    return LocatedFile(path, score, tuple(there), tuple(shown)) if there and lines != [""] else None
