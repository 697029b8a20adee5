"""The tasks of a run with several task sets: a step's places are dealt out by weight, then each set draws."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strop.core.ids import derive_seed
from strop.core.rollout import Group
from strop.core.task import Task
from strop.rollouts.groups import TaskStream


@dataclass(frozen=True)
class TaskShare:
    """One set's training tasks, and its weight in a training step, from 1."""

    tasks: Sequence[Task]
    weight_at: Callable[[int], float]


class MixedStream:
    """Draws from the streams of several task sets.

    Over the steps each set gets its share exactly: a place goes to the set that lacks most of what its weights have
    promised so far. The whole state is a small JSON value, so a resumed run draws what the first would have drawn.
    """

    def __init__(self, sources: Mapping[str, TaskShare], seed: int) -> None:
        self._sources = dict(sources)
        self._streams = {
            name: TaskStream(source.tasks, derive_seed(seed, "task set", name) if name else seed)
            for name, source in sources.items()
        }
        self._owed = dict.fromkeys(sources, 0.0)
        self._set_of = {task.id: name for name, source in sources.items() for task in source.tasks}

    @property
    def set_aside(self) -> list[str]:
        """Ids of tasks that are not drawn any more, as they failed by our fault too often."""
        return [task_id for stream in self._streams.values() for task_id in stream.set_aside]

    def draw(self, count: int, step: int) -> list[Task]:
        """The next `count` different tasks for a training step, from 1, set by set (fewer when there are fewer)."""
        places = dict.fromkeys(self._sources, 0)
        there = {name: len(s.tasks) - len(self._streams[name].set_aside) for name, s in self._sources.items()}
        for _ in range(count):
            weights = {
                name: source.weight_at(step)
                for name, source in self._sources.items()
                if places[name] < there[name]
            }
            if not any(weights.values()):
                break
            for name, weight in weights.items():
                self._owed[name] += weight / sum(weights.values())
            chosen = max((name for name in weights if weights[name]), key=lambda name: self._owed[name])
            self._owed[chosen] -= 1
            places[chosen] += 1
        return [task for name, number in places.items() for task in self._streams[name].draw(number)]

    def played(self, group: Group, *, compares: bool = True) -> None:
        """Notes what came of a group."""
        self._streams[self._set_of[group.task_id]].played(group, compares=compares)

    def state(self) -> dict[str, Any]:
        """Everything that a resumed run needs."""
        return {"owed": self._owed, "sets": {name: s.state() for name, s in self._streams.items()}}

    def load(self, state: dict[str, Any]) -> None:
        """Takes over a state given by `state`."""
        self._owed = dict(state["owed"])
        for name, stream in self._streams.items():
            stream.load(state["sets"][name])
