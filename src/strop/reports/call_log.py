"""Where lines about calls go: a folder's calls/NAME.jsonl, through a small buffer.

A log never raises: lines that cannot be written are reported once and dropped. Lines are written in batches: at the end
of a step, when there are many, or after a few seconds; a forked process writes each of its lines immediately.
"""

import atexit
import contextlib
import os
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from strop.core import files
from strop.core.text import printable

FOLDER = "calls"
VARIABLE = "STROP_CALLS"
_LINES, _SECONDS = 1000, 5.0
"""Most lines in memory, and how long they wait for the next call."""
_STEP = re.compile(rb'\{"step": (\d+)')


@contextlib.contextmanager
def logging_to(folder: Path | str, *, warn: Callable[[str], None] | None = None) -> "Iterator[CallLog]":
    """Calls are logged below `folder`/calls until the block ends; the innermost block counts, for every thread.

    warn  takes the one line about lines that cannot be written; default: stderr
    """
    log = CallLog(folder, warn)
    _stack.append(log)
    try:
        yield log
    finally:
        _stack.remove(log)
        log.close()


def current() -> "CallLog | None":
    """Where a call is logged right now; None: nowhere."""
    for log in _stack[-1:]:
        return log
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    return _by_variable.get(folder) or _by_variable.setdefault(folder, CallLog(folder))


class CallLog:
    """Lines of calls on their way into a folder. `step` goes into every line; None outside of a training."""

    def __init__(self, folder: Path | str, warn: Callable[[str], None] | None = None) -> None:
        self.folder = Path(folder).absolute() / FOLDER
        self.step: int | None = None
        self._warn = warn or _on_stderr
        self._warned = False
        self._direct = False
        self._lock = threading.RLock()
        self._lines: dict[str, list[bytes]] = {}
        self._count = 0
        self._since = time.monotonic()
        _logs.add(self)

    def add(self, name: str, line: Mapping[str, Any]) -> None:
        """Takes a line for the file of that name."""
        data = files.json_line(line)
        with self._lock:
            self._lines.setdefault(name, []).append(data)
            self._count += 1
            due = self._direct or self._count >= _LINES or time.monotonic() - self._since > _SECONDS
        if due:
            self.flush()

    def flush(self) -> None:
        """Writes what is in memory. A failure is said once; its lines are lost."""
        with self._lock:
            taken, self._lines, self._count = self._lines, {}, 0
            self._since = time.monotonic()
            try:
                if taken:
                    self.folder.mkdir(parents=True, exist_ok=True)
                for name, lines in taken.items():
                    files.append_line(self.folder / f"{name}.jsonl", b"".join(lines))
            except Exception as error:
                self.failed(error)

    def close(self) -> None:
        """Writes what is in memory; calls that are still going on are written as they end."""
        self._direct = True
        self.flush()

    def failed(self, error: Exception) -> None:
        """Says that calls are not logged, once."""
        if not self._warned:
            self._warned = True
            cause = str(error) or type(error).__name__
            with contextlib.suppress(Exception):
                self._warn(f"warning: not every call of a function is logged: {cause}")

    def forked(self) -> None:
        """In a forked process, which may end without a word: the parent writes what was in memory."""
        self._lock = threading.RLock()
        self._lines, self._count, self._direct = {}, 0, True


def drop_torn_lines(folder: Path) -> None:
    """Cuts off what a kill left of a last line, in every file of a run's calls."""
    for path in (folder / FOLDER).glob("*.jsonl"):
        files.drop_torn_line(path)


def truncate_after(folder: Path, step: int) -> None:
    """Forgets the calls of later steps. Lines without a step stay."""
    for path in (folder / FOLDER).glob("*.jsonl"):
        with files.writing(path), path.open("rb") as lines, files.atomic(path) as kept:
            for line in lines:
                found = _STEP.match(line)
                if found is None or int(found[1]) <= step:
                    kept.write(line)


_stack: list[CallLog] = []
_logs: "weakref.WeakSet[CallLog]" = weakref.WeakSet()
_by_variable: dict[str, CallLog] = {}


def _on_stderr(text: str) -> None:
    print(printable(text), file=sys.stderr)


def _in_child() -> None:
    for log in list(_logs):
        log.forked()


def _at_exit() -> None:
    for log in list(_logs):
        log.flush()


os.register_at_fork(after_in_child=_in_child)
atexit.register(_at_exit)
