"""Finished audits, kept beside the output during an audit, so a killed one can resume.

They are keyed by task, settings and version. From the first unknown task on, every task is audited.
"""

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from strop import __version__
from strop_tasks.curation.audit.audit import paired
from strop_tasks.curation.audit.record import AuditSettings, TaskAudit
from strop_tasks.curation.engine.memory import Memory
from strop_verify.core.errors import UserError
from strop_verify.core.ids import content_hash
from strop_verify.core.journal import try_lock
from strop_verify.core.task import Task


@contextmanager
def audits_beside(output: Path) -> Iterator[Memory]:
    """The audits beside an unfinished output; removed when the block succeeds. Raises UserError if in use."""
    path = output.with_name(f"{output.name}.journal")
    lock = try_lock(path)
    if lock is None:
        raise UserError(f"{path} is in use: another audit writes the same output; wait for it")
    try:
        with Memory(path) as memory:
            yield memory
        path.unlink(missing_ok=True)
    finally:
        os.close(lock)


def resumed(
    tasks: Iterable[Task],
    memory: Memory,
    settings: AuditSettings,
    audit: Callable[[Iterable[Task]], Iterator[TaskAudit]],
) -> Generator[tuple[Task, TaskAudit], None, None]:
    """(task, audit) of every task; unknown ones are audited and added."""

    def key(task: Task) -> str:
        text = json.dumps(task.model_dump(mode="json"), sort_keys=True)
        return content_hash([__version__, settings.model_dump(mode="json"), text], length=32)

    source = iter(tasks)
    for task in source:
        known = memory.get(key(task))
        if known is not None:
            yield task, TaskAudit.model_validate(known)
            continue
        for one, found in paired(chain([task], source), audit):
            memory[key(one)] = found.model_dump(mode="json")
            yield one, found
