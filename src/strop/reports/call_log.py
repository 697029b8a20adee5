"""Logs calls into a folder's calls/NAME.jsonl, each as soon as it ends, from every process.

A log never raises: a failed write is reported once, and lines are dropped.
"""

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from strop_verify.core import files
from strop_verify.core.text import printable

FOLDER = "calls"
VARIABLE = "STROP_CALLS"
_STEP = re.compile(rb'\{"step": (\d+)')


@contextlib.contextmanager
def logging_to(folder: Path | str, *, warn: Callable[[str], None] | None = None) -> "Iterator[CallLog]":
    """Logs calls below `folder`/calls until the block ends; for every thread, the innermost block applies.

    warn  gets the single warning about lines that cannot be written; default: stderr
    """
    log = CallLog(folder, warn)
    _stack.append(log)
    try:
        yield log
    finally:
        _stack.remove(log)


def current() -> "CallLog | None":
    """The current log; None: no logging."""
    for log in _stack[-1:]:
        return log
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    return _by_variable.get(folder) or _by_variable.setdefault(folder, CallLog(folder))


class CallLog:
    """Writes lines of calls into a folder. `step` goes into every line; None outside training."""

    def __init__(self, folder: Path | str, warn: Callable[[str], None] | None = None) -> None:
        self.folder = Path(folder).absolute() / FOLDER
        self.step: int | None = None
        self._warn = warn or (lambda text: print(printable(text), file=sys.stderr))
        self._warned = self._begun = False

    def add(self, name: str, line: Mapping[str, Any]) -> None:
        """Writes a line to the file of that name."""
        try:
            if not self._begun:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._begun = True
            files.append_line(self.folder / f"{name}.jsonl", files.json_line(line), durable=False)
        except Exception as error:
            self.failed(error)

    def failed(self, error: Exception) -> None:
        """Warns once that calls are not logged."""
        if not self._warned:
            self._warned = True
            cause = str(error) or type(error).__name__
            with contextlib.suppress(Exception):
                self._warn(f"warning: not every call of a function is logged: {cause}")


def drop_torn_lines(folder: Path) -> None:
    """Removes an incomplete last line from every file of a run's calls."""
    for path in (folder / FOLDER).glob("*.jsonl"):
        files.drop_torn_line(path)


def truncate_after(folder: Path, step: int) -> None:
    """Removes the calls of later steps. Lines without a step stay."""
    for path in (folder / FOLDER).glob("*.jsonl"):
        with files.writing(path), path.open("rb") as lines, files.atomic(path) as kept:
            for line in lines:
                found = _STEP.match(line)
                if found is None or int(found[1]) <= step:
                    kept.write(line)


_stack: list[CallLog] = []
_by_variable: dict[str, CallLog] = {}
