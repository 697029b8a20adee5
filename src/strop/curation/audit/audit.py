"""Audits of many tasks: streamed, in order, a bounded number of them under way at a time."""

import queue
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future

from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.curation.audit.flaky import Reseeded
from strop.curation.audit.one import Waiting, audit_one
from strop.curation.audit.record import AuditSettings, TaskAudit

WINDOW = 48
"""Tasks under way at a time. Each has a few dozen answers, so the verifier's queue has room for all."""


def audit_tasks(
    tasks: Iterable[Task],
    verifier: Verifier,
    settings: AuditSettings | None = None,
    *,
    reseeded: Callable[[int], Verifier] | None = None,
) -> Iterator[TaskAudit]:
    """One audit a task, in order; tasks are asked for as there is room.

    `reseeded` opens a verifier whose Python runs under the given hash seed; None: `open_verifier` with one worker and
    its own limits. They are opened when a task needs them and closed at the end, or when the iterator is closed.
    """
    others = Reseeded(reseeded or _open_reseeded)
    try:
        yield from _Stream(verifier, others, settings or AuditSettings()).audits(tasks)
    finally:
        others.close()


def paired(
    tasks: Iterable[Task], audit: Callable[[Iterable[Task]], Iterator[TaskAudit]]
) -> Generator[tuple[Task, TaskAudit], None, None]:
    """Each task with its audit, in order; `audit` gives one audit a task."""
    pending: deque[Task] = deque()

    def seen() -> Iterator[Task]:
        for task in tasks:
            pending.append(task)
            yield task

    for found in audit(seen()):
        yield pending.popleft(), found


def _open_reseeded(seed: int) -> Verifier:
    from strop.verification import open_verifier

    return open_verifier(workers=1, hash_seed=seed)


class _Entry:
    """One task under way."""

    def __init__(self, work: Waiting) -> None:
        self.work = work
        self.audit: TaskAudit | None = None
        self.left = 0


class _Stream:
    """Advances each task's generator when all verdicts that it waits for are there."""

    def __init__(self, verifier: Verifier, reseeded: Reseeded, settings: AuditSettings) -> None:
        self._verifier, self._reseeded, self._settings = verifier, reseeded, settings
        self._ready: queue.SimpleQueue[_Entry] = queue.SimpleQueue()

    def audits(self, tasks: Iterable[Task]) -> Iterator[TaskAudit]:
        """One audit a task, in order."""
        source, under_way, more = iter(tasks), deque[_Entry](), True
        while more or under_way:
            while more and len(under_way) < WINDOW:
                task = next(source, None)
                if task is None:
                    more = False
                else:
                    under_way.append(_Entry(audit_one(task, self._verifier, self._reseeded, self._settings)))
                    self._advance(under_way[-1])
            while under_way and under_way[0].audit is not None:
                audit = under_way.popleft().audit
                assert audit is not None
                yield audit
            if under_way and (len(under_way) == WINDOW or not more):
                self._heard(self._ready.get())

    def _heard(self, entry: _Entry) -> None:
        """One more verdict of a task is there."""
        entry.left -= 1
        if not entry.left:
            self._advance(entry)

    def _advance(self, entry: _Entry) -> None:
        """Goes on with a task until it waits for something that is not there."""
        try:
            while not (waiting := next(entry.work)):
                pass
        except StopIteration as stop:
            entry.audit = stop.value
            return
        entry.left = len(waiting)
        for future in waiting:
            future.add_done_callback(self._told(entry))

    def _told(self, entry: _Entry) -> "Callable[[Future[Verdict]], None]":
        return lambda _: self._ready.put(entry)
