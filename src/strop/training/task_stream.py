"""Which tasks a step plays: shuffled passes over the training tasks; tasks with nothing to teach now are paused."""

from collections.abc import Sequence
from typing import Any

from strop.core.ids import rng
from strop.core.rollout import Group
from strop.core.task import Task

MAX_REST = 3
"""A task that gave no signal k times in a row rests for min(2^k - 1, 2^MAX_REST - 1) passes."""


class TaskStream:
    """Draws tasks; its whole state is a small JSON value, so a resumed run draws what the first would have drawn."""

    def __init__(self, tasks: Sequence[Task], seed: int, *, rank: int = 0, world: int = 1) -> None:
        self._tasks = sorted(tasks, key=lambda task: task.id)[rank::world]
        self._by_id = {task.id: task for task in self._tasks}
        self._seed = seed
        self._pass = 0
        self._queue: list[str] = []
        self._rest: dict[str, int] = {}
        self._silent: dict[str, int] = {}

    def draw(self, count: int) -> list[Task]:
        """The next `count` different tasks (fewer only when there are fewer in all)."""
        chosen: list[str] = []
        count = min(count, len(self._tasks))
        while len(chosen) < count:
            if not self._queue:
                self._begin_pass()
            candidate = self._queue.pop(0)
            if candidate not in chosen:
                chosen.append(candidate)
        return [self._by_id[task_id] for task_id in chosen]

    def played(self, group: Group) -> None:
        """Notes whether a group carried signal."""
        if group.has_signal:
            self._silent.pop(group.task_id, None)
            return
        silent = min(self._silent.get(group.task_id, 0) + 1, MAX_REST)
        self._silent[group.task_id] = silent
        self._rest[group.task_id] = 2**silent - 1

    def _begin_pass(self) -> None:
        order = [task.id for task in self._tasks]
        rng(self._seed, "pass", self._pass).shuffle(order)
        self._pass += 1
        awake = [task_id for task_id in order if self._rest.get(task_id, 0) == 0]
        self._rest = {task_id: left - 1 for task_id, left in self._rest.items() if left > 1}
        self._queue = awake or order

    def state(self) -> dict[str, Any]:
        """Everything that a resumed run needs."""
        return {"pass": self._pass, "queue": self._queue, "rest": self._rest, "silent": self._silent}

    def load(self, state: dict[str, Any]) -> None:
        """Takes over a state given by `state`."""
        self._pass = state["pass"]
        self._queue = list(state["queue"])
        self._rest = dict(state["rest"])
        self._silent = dict(state["silent"])
