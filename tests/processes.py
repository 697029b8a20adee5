"""Which processes are there."""

import os
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended but is not reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def family(word: str = "", root: int | None = None) -> list[int]:
    """Living descendants of a process (this one by default) whose command line holds a word."""
    found, parents = [], [root or os.getpid()]
    while parents:
        parent = parents.pop()
        try:
            tasks = list(Path(f"/proc/{parent}/task").iterdir())
            children = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
        except OSError:
            continue  # it ended meanwhile
        parents += children
        found += [pid for pid in children if alive(pid) and word in _words(pid)]
    return found


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
