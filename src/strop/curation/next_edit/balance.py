"""How many of the states are such that silence is right."""

from collections.abc import Sequence

from strop.core.checks import NextEditCheck
from strop.core.ids import rng
from strop.core.task import Task
from strop.curation.engine.tally import Tally


def balanced(tasks: Sequence[Task], share: float, seed: int, tally: Tally) -> list[Task]:
    """The tasks of each side in their order, with as many left out, drawn by the seed, as make silence right in that
    share of them.
    """
    kept: set[str] = set()
    for split in {task.split for task in tasks}:
        sides = {
            due: [task.id for task in tasks if task.split == split and _due(task) == due]
            for due in (True, False)
        }
        most = {
            True: round(len(sides[False]) * (1 - share) / share),
            False: round(len(sides[True]) * share / (1 - share)) if sides[True] else len(sides[False]),
        }
        for due, ids in sides.items():
            over = max(0, len(ids) - most[due])
            gone = set(rng("next-edit-share", seed, str(split)).sample(ids, over))
            tally.left_out[f"to keep the share: {'an edit' if due else 'silence'} is right"] += over
            kept |= {*ids} - gone
    tally.left_out += type(tally.left_out)()  # without those of which there are 0
    return [task for task in tasks if task.id in kept]


def _due(task: Task) -> bool:
    return task.check.only(NextEditCheck).due
