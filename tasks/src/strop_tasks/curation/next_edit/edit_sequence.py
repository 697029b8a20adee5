"""A commit as a sequence of edits that a person may have made.

git records no order of edits, so a seed chooses one: a file that defines a name comes before files that use it,
likewise edits in a file; imports come last; otherwise top to bottom, from a random start. A run of as many new lines
as old ones, similar pair by pair, becomes one edit per line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from rapidfuzz.distance import Indel

from strop_verify.edits.lines import opcodes

ALIKE = 0.5  # minimum similarity at which a new line counts as the old one, edited
_DEFINED = re.compile(r"^\s*(?:async +)?(?:def|class) +(\w+)|^(\w+)(?:: *[^=]+)? *=[^=]", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w+")
_HUNK = re.compile(r"(?m)^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*\n((?:[-+ \\].*(?:\n|\Z))*)")
_IMPORT = re.compile(r"\s*(?:import|from) ")


@dataclass(frozen=True)
class HistoryEdit:
    """Lines of a file before the commit, from 0, `last` not included, and their replacement."""

    path: str
    first: int
    last: int
    old: tuple[str, ...]
    new: tuple[str, ...]


class Changed(NamedTuple):
    """A file that a commit changes."""

    before: list[str]
    """Its lines; empty if the diff does not show them."""
    edits: list[HistoryEdit]
    """From top to bottom."""


def files_of(diff: str) -> dict[str, Changed]:
    """The files that a diff changes, by path, except those that it adds, removes or renames.

    Lines that the diff does not show, as context or change, are not known.
    """
    found: dict[str, Changed] = {}
    for part in re.split(r"(?m)^diff --git ", diff)[1:]:
        named = re.search(r"(?m)^--- a/(.*?)\t?\n\+\+\+ b/(.*?)\t?$", part)
        if named is None or named[1] != named[2]:
            continue
        changed = found[named[1]] = Changed([], [])
        for hunk in _HUNK.finditer(part):
            lines = hunk[2].split("\n")
            before = [line[1:] for line in lines if line[:1] in (" ", "-")]
            after = [line[1:] for line in lines if line[:1] in (" ", "+")]
            first = max(0, int(hunk[1]) - 1)
            changed.before.extend([""] * (first - len(changed.before)) + before)
            changed.edits.extend(_edits_of(named[1], first, before, after))
    return found


def _edits_of(path: str, first: int, before: Sequence[str], after: Sequence[str]) -> Iterator[HistoryEdit]:
    """The edits of a hunk whose first line has index `first` in the file."""
    for equal, i, j, n, m in opcodes(before, after):
        old, new = before[i:j], after[n:m]
        if equal:
            continue
        alike = (Indel.normalized_similarity(a.strip(), b.strip()) for a, b in zip(old, new, strict=False))
        if len(old) == len(new) and all(one >= ALIKE for one in alike):
            for at, (a, b) in enumerate(zip(old, new, strict=True), first + i):
                yield HistoryEdit(path, at, at + 1, (a,), (b,))
        else:
            yield HistoryEdit(path, first + i, first + j, tuple(old), tuple(new))


def ordered(edits: Mapping[str, Sequence[HistoryEdit]], random: Random) -> list[HistoryEdit]:
    """All edits of a commit, given by path, as one sequence."""
    paths = sorted(edits)
    random.shuffle(paths)
    texts = {path: [_text(edit) for edit in edits[path]] for path in paths}
    found: list[HistoryEdit] = []
    for path in _by_names(["\n".join(texts[path]) for path in paths]):
        of_file = list(edits[paths[path]])
        start = random.choice([0, 0, random.randrange(len(of_file))])
        turned = [*of_file[start:], *of_file[:start]]
        turned.sort(key=lambda edit: all(map(_IMPORT.match, edit.new)) and bool(edit.new))
        found += [turned[at] for at in _by_names(list(map(_text, turned)))]
    return found


def place_of(edit: HistoryEdit, done: Sequence[HistoryEdit]) -> int:
    """The first line of an edit, from 0, once the edits `done` of its file are made."""
    above = (one for one in done if (one.first, one.last) < (edit.first, edit.last))
    return edit.first + sum(len(one.new) - len(one.old) for one in above)


def made(lines: Sequence[str], edits: Sequence[HistoryEdit]) -> list[str]:
    """The lines after edits, which do not overlap."""
    found = list(lines)
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.last), reverse=True):
        found[edit.first : edit.last] = edit.new
    return found


def _text(edit: HistoryEdit) -> str:
    return "\n".join(edit.new)


def _by_names(texts: Sequence[str]) -> list[int]:
    """Indices of the texts: one that defines a name comes before those that use it, otherwise in the given order."""
    defined = [{a or b for a, b in _DEFINED.findall(text)} for text in texts]
    used = [set(_NAME.findall(text)) - own for text, own in zip(texts, defined, strict=True)]
    left, found = list(range(len(texts))), list[int]()
    while left:
        free = (one for one in left if not any(used[one] & defined[other] for other in left if other != one))
        chosen = next(free, left[0])  # the first, if they use each other's names
        left.remove(chosen)
        found.append(chosen)
    return found
