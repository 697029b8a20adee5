"""Programs on pseudo-terminals of a given size."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from tests import warm

SOURCE = Path(__file__).resolve().parents[2] / "src"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MOVE = re.compile(r"\x1b\[\??[0-9;]*[A-HJKhl]")


def size(handle: int, columns: int, lines: int = 24) -> None:
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def environment(**more: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")}
    return {**clean, "PYTHONPATH": str(SOURCE), "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **more}


def on_terminal(words: Sequence[str], columns: int, lines: int = 24, **variables: str) -> str:
    """What `python WORDS` writes to a terminal of that size. It must end well and write nothing to stderr."""
    ours, theirs = pty.openpty()
    size(theirs, columns, lines)
    process = subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, env=environment(**variables),
    )  # fmt: skip
    os.close(theirs)
    text = drain(ours, process)
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    assert process.wait(300) == 0 and errors == "", errors
    os.close(ours)
    return text


def strop_on_terminal(words: Sequence[str], columns: int, lines: int = 24, **variables: str) -> str:
    """What `strop WORDS` writes to a terminal of that size, as `on_terminal`."""
    window = struct.pack("HHHH", lines, columns, 0, 0)
    code, text, errors = warm.on_terminal(*words, size=window, env=environment(**variables))
    assert code == 0 and errors == "", errors
    return text


def drain(handle: int, process: subprocess.Popen[bytes], seconds: float = 60) -> str:
    """Everything until the process has closed its side."""
    found, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([handle], [], [], 0.1)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            block = os.read(handle, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not block:
            break
        found += block
    return found.decode()


def widest(text: str) -> int:
    """Cells of the longest line, once escapes are gone; a carriage return starts anew."""
    bare = MOVE.sub("", COLOUR.sub("", text))
    assert "\x1b" not in bare, bare[bare.index("\x1b") :][:40]
    return max(cell_len(part) for line in bare.split("\n") for part in line.split("\r"))
