import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strop.sandbox.limits import Limits
from strop.verification import open_verifier
from strop.verification.pool.pool import VerifierPool


@pytest.fixture(scope="session")
def verifier() -> Iterator[VerifierPool]:
    limits = Limits(cpu_seconds=0.5, wall_seconds=3, memory_bytes=256 * 2**20)
    with open_verifier(workers=1, limits=limits) as opened:
        yield opened


@pytest.fixture(scope="session")
def family() -> Callable[..., list[int]]:
    """Living descendants of a process (this one by default) whose command line holds a word."""

    def find(word: str = "", root: int | None = None) -> list[int]:
        found, parents = [], [root or os.getpid()]
        while parents:
            parent = parents.pop()
            try:
                tasks = list(Path(f"/proc/{parent}/task").iterdir())
                children = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
            except OSError:
                continue  # it ended meanwhile
            parents += children
            found += [pid for pid in children if _is(pid, word)]
        return found

    return find


def _is(pid: int, word: str) -> bool:
    try:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return False
        return word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
