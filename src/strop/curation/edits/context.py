"""Files that are shown though the edit leaves them alone, so that not every shown file has to be changed.

SWE-RL has a model name them. Here they are drawn, seeded, from the files most akin to the changed ones: in the same
folder, with names that the issue or a changed file speaks of.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from strop.core.ids import rng
from strop.curation.edits.history import is_program, is_test

POOL = 4
"""How many of the closest files each wanted one is drawn from."""
SMALLEST = 40
"""Smallest file worth showing, in bytes."""
_WORD = re.compile(r"[A-Za-z_]\w{2,60}")


def akin(
    paths: Mapping[str, int], changed: Mapping[str, str], issue: str, count: int, room: int, *parts: int | str
) -> list[str]:
    """Up to `count` files of `room` bytes together, in the language of the changed ones, that are none of them.

    paths    every file and its size in bytes
    changed  the texts of the changed files
    parts    what the draw is seeded with
    """
    endings = {path.rpartition(".")[2] for path in changed}
    words = _words(issue), set().union(*map(_words, changed.values())) if changed else set()
    scored = sorted(
        (-_kinship(path, changed, *words), path)
        for path, size in paths.items()
        if path not in changed and path.rpartition(".")[2] in endings and SMALLEST <= size <= room
        and is_program(path) and not is_test(path)
    )  # fmt: skip
    pool = [path for _, path in scored[: POOL * count]]
    rng("akin", *parts).shuffle(pool)
    chosen: list[str] = []
    for path in pool:
        if len(chosen) < count and paths[path] <= room:
            chosen.append(path)
            room -= paths[path]
    return sorted(chosen)


def _kinship(path: str, changed: Collection[str], issue: Collection[str], texts: Collection[str]) -> float:
    name, folder = PurePosixPath(path), PurePosixPath(path).parent
    stem = name.stem.lower()
    near = max((_shared(folder, PurePosixPath(other).parent) for other in changed), default=0.0)
    return 3.0 * (stem in issue) + 2.0 * (stem in texts) + near


def _shared(a: PurePosixPath, b: PurePosixPath) -> float:
    """Share of the folders that two files have in common, in [0, 1]."""
    common = 0
    for left, right in zip(a.parts, b.parts, strict=False):
        if left != right:
            break
        common += 1
    return (common + 1) / (max(len(a.parts), len(b.parts)) + 1)


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text[:200_000])}
