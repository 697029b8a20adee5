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

    share  of a repository's commits, the newest, that are held out, whole days; where that would be all of them, just
           so many. Of what has no date nothing is
    Raises UserError for a repository that has no task.
    """
    names = {task.topic for task in tasks}
    if unknown := next((name for name in held_out if name not in names), ""):
        raise UserError(
            f"--held-out {unknown}: no task is of it; there are {', '.join(sorted(names)) or 'none'}"
        )
    late = set[str]()
    for name in names:
        late |= _late(
            [task for task in tasks if task.topic == name and task.metadata.get("kind") == "commit"], share
        )
    for task in tasks:
        out = task.topic in held_out or task.id in late
        yield task.model_copy(update={"split": "held-out" if out else "train"})


def _late(commits: Sequence[Task], share: float) -> set[str]:
    """The ids of the newest tasks of a repository, newest first: all of a day, unless it is the first one."""
    count = round(len(commits) * share)
    dates = sorted((task.metadata["date"] for task in commits), reverse=True)
    if not count or dates[count - 1] == dates[-1]:
        return {task.id for task in commits[:count]}
    return {task.id for task in commits if task.metadata["date"] >= dates[count - 1]}
