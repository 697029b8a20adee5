"""All tasks of a build: each once, and their split by repository, and by date within one."""

from collections.abc import Iterable, Iterator, Sequence

from strop.core.errors import UserError
from strop.core.task import Task
from strop.curation.engine.tally import Tally


def once(tasks: Iterable[Task], tally: Tally) -> Iterator[Task]:
    """The tasks without those that were made before, as of a repository and its copy."""
    ids: set[str] = set()
    for task in tasks:
        if task.id in ids:
            tally.left_out["made before"] += 1
            continue
        ids.add(task.id)
        yield task


def split_of(tasks: Sequence[Task], held_out: Sequence[str], share: float) -> Iterator[Task]:
    """The tasks with their side: held out are those of some repositories, and the newest of each other.

    share  of a repository's commits, the newest, that are held out; of what has no date nothing is
    Raises UserError for a repository that has no task.
    """
    names = {task.topic for task in tasks}
    if unknown := next((name for name in held_out if name not in names), ""):
        raise UserError(
            f"--held-out {unknown}: no task is of it; there are {', '.join(sorted(names)) or 'none'}"
        )
    since = {name: _since([task for task in tasks if task.topic == name], share) for name in names}
    for task in tasks:
        late = task.metadata.get("kind") == "commit" and task.metadata["date"] >= since[task.topic]
        out = task.topic in held_out or late
        yield task.model_copy(update={"split": "held-out" if out else "train"})


def _since(tasks: Sequence[Task], share: float) -> str:
    """The day from which on commits are held out: all of a day are on one side."""
    dates = sorted(task.metadata["date"] for task in tasks if task.metadata.get("kind") == "commit")
    count = round(len(dates) * share)
    return dates[len(dates) - count] if count else "9999"
