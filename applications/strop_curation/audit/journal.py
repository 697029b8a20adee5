"""Audits that are done, kept next to the output while the rest is under way, so that a killed audit goes on.

One line first that says with which settings, then one line a task, in order: a digest of the task and its audit. They
count as long as the tasks come in the same order with the same digests; from the first that differs on, tasks are
audited anew. A line counts once its newline is in the file.
"""

import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from strop.core.errors import UserError
from strop.core.files import json_line, writing
from strop.core.journal import try_lock
from strop.core.task import Task
from strop_curation.audit.audit import paired
from strop_curation.audit.record import TaskAudit

Audit = Callable[[Iterable[Task]], Iterator[TaskAudit]]
"""One audit a task, in order."""


class Journal:
    """The journal of one output file. A context manager; holds a lock, so that two audits never share it."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        """Opens it or makes it; one that was made with other settings is emptied. Raises UserError."""
        self.path = path
        self.resumed = 0
        """Audits that were taken over from it."""
        lock = try_lock(path)
        if lock is None:
            raise UserError(f"{path} is in use: another audit writes the same output; wait for it")
        self._file, self._end = lock, 0
        head = json_line({"settings": settings})
        with open(path, "rb") as file:
            first = file.readline()
        self.discarded = bool(first) and first != head
        """Whether it held audits with other settings."""
        if first != head:
            os.ftruncate(self._file, 0)
            self._append(head)
        self._end = len(head)

    def audits(self, tasks: Iterable[Task], audit: Audit) -> Generator[tuple[Task, TaskAudit], None, None]:
        """(task, audit) of every task; those that are not in the journal are audited and added to it."""
        source, first = iter(tasks), list[Task]()
        known = self._known()
        for task in source:
            found = next(known, None)
            if found is None or found[0] != digest(task):
                first = [task]
                break
            self._end = found[2]
            self.resumed += 1
            yield task, found[1]
        known.close()
        os.ftruncate(self._file, self._end)
        if not first:
            return
        for task, one in paired(chain(first, source), audit):
            self._append(json_line({"digest": digest(task), "audit": one.model_dump(mode="json")}))
            yield task, one

    def _known(self) -> Generator[tuple[str, TaskAudit, int], None, None]:
        """(digest, audit, where the line ends) of each whole line after the first, up to a bad one."""
        with self.path.open("rb") as file:
            end = len(file.readline())
            for line in file:
                end += len(line)
                try:
                    if not line.endswith(b"\n"):
                        return
                    value = json.loads(line)
                    yield value["digest"], TaskAudit.model_validate(value["audit"]), end
                except (ValueError, TypeError, KeyError, ValidationError):
                    return

    def lines(self) -> Iterator[bytes]:
        """Every audit as a line of output; after the last task."""
        for _, audit, _ in self._known():
            yield json_line(audit.model_dump(mode="json"))

    def remove(self) -> None:
        """Takes it away: the output is whole."""
        self.path.unlink(missing_ok=True)

    def _append(self, line: bytes) -> None:
        with writing(self.path):
            while line:
                written = os.pwrite(self._file, line, self._end)
                line, self._end = line[written:], self._end + written

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def digest(task: Task) -> str:
    """A hash of everything that a task holds."""
    text = json.dumps(task.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
