"""Audits of many tasks: streamed, in order, a bounded number of them under way at a time."""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import tee

from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.window import played
from strop.curation.audit.flaky import Reseeded
from strop.curation.audit.one import audit_one
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
        chosen = settings or AuditSettings()
        yield from played((audit_one(task, verifier, others, chosen) for task in tasks), WINDOW)
    finally:
        others.close()


def paired(
    tasks: Iterable[Task], audit: Callable[[Iterable[Task]], Iterator[TaskAudit]]
) -> Generator[tuple[Task, TaskAudit], None, None]:
    """Each task with its audit, in order; `audit` gives one audit a task."""
    first, second = tee(tasks)
    for found, task in zip(audit(first), second, strict=False):
        yield task, found


def _open_reseeded(seed: int) -> Verifier:
    from strop.verification import open_verifier

    return open_verifier(workers=1, hash_seed=seed)
