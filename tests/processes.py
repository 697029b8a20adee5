"""Which processes are there."""

import os
from contextlib import suppress
from pathlib import Path

import psutil


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended but is not reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def family(word: str = "", root: int | None = None) -> list[int]:
    """Living descendants of a process (this one by default) whose command line holds a word; parents come first.

    By their parents, not by /proc/PID/task/TID/children: a child moves to another thread's file when its thread ends.
    """
    with suppress(psutil.NoSuchProcess):
        children = psutil.Process(root or os.getpid()).children(recursive=True)
        return [one.pid for one in children if alive(one.pid) and word in _words(one.pid)]
    return []


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
