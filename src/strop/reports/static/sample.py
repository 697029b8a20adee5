"""Which rollouts a page on disk holds, found in one pass over the run with bounded memory.

The rule: whole groups. Steps are evenly spaced from the first to the last, each with as many groups as there is room
for, drawn by the seed. Evaluations give every answer to some tasks, the same tasks in every evaluation of a set, drawn
by the seed. Evaluations get `EVALUATED` of the room, plus what training leaves. The table of groups holds every group;
beyond a limit, a part drawn by the seed.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from strop.core import files
from strop.core.errors import UserError
from strop.reports import shapes
from strop.reports.page.rollout_data import (
    NO_ROLLOUT,
    Line,
    detail_of,
    load_vocabulary,
    mean_and_signal,
    numbered,
    row_of,
    task_of,
)
from strop.reports.rollout_files import RolloutFile, evaluation_file, read_whole, step_file

SIDE_BY_SIDE = 3
"""Fewest groups that a step shows, where it has them."""
T = TypeVar("T")


def quotas(steps: Sequence[int], groups: int, a_step: int) -> dict[int, int]:
    """How many groups to take of which step: steps evenly spaced, the first and the last among them.

    A step shows at least `SIDE_BY_SIDE` of its `a_step` groups where that leaves room for two steps.
    """
    count = min(len(steps), groups, max(2, groups // min(SIDE_BY_SIDE, a_step)))
    if count <= 0:
        return {}
    places = [round(at * (len(steps) - 1) / max(1, count - 1)) for at in range(count)] if count > 1 else [-1]
    each, more = divmod(groups, count)
    ends_first = sorted(range(count), key=lambda at: (0 < at < count - 1, at))
    extra = set(ends_first[:more])
    return {steps[place]: each + (at in extra) for at, place in enumerate(places)}


def rank(seed: int, *parts: object) -> bytes:
    """A number drawn for `parts`, as bytes to sort by: the same for the same seed."""
    return hashlib.blake2b(json.dumps([seed, *parts]).encode(), digest_size=8).digest()


class Shelf(Generic[T]):
    """Keeps what belongs to the `wanted` keys that come first in an order, of those that are allowed."""

    def __init__(self, wanted: int, order: Callable[[Any], bytes], allowed: set[str] | None = None) -> None:
        self._wanted, self._order, self._allowed = wanted, order, allowed
        self._last = b""
        self.kept: dict[Any, list[T]] = {}

    def takes(self, key: Any) -> bool:
        """Makes room for a key; False when it is none of the first."""
        if key in self.kept:
            return True
        if self._wanted <= 0 or (self._allowed is not None and key not in self._allowed):
            return False
        if len(self.kept) >= self._wanted:
            if self._last <= self._order(key):
                return False
            del self.kept[max(self.kept, key=self._order)]
        self.kept[key] = []
        self._last = max(map(self._order, self.kept))
        return True


EVALUATED = 0.4
_SIZE, _GROUPS = "grpo.group_size", "grpo.tasks_per_step"
Seen = Callable[[int], None]
"""Called with how many rollouts were read so far."""


@dataclass
class Picked:
    """A rollout of the page. `tokens` is the JSON of each turn's tokens, which `detail` does not hold."""

    row: dict[str, Any]
    detail: dict[str, Any]
    tokens: list[bytes]


@dataclass
class RunSample:
    """What was read of a run.

    units   what was picked: groups, and tasks with all their answers in a set's evaluations; the most important first
    groups  rows of the page's table of groups;  `all_groups` are in the run
    """

    units: list[list[Picked]] = field(default_factory=list)
    groups: list[list[Any]] = field(default_factory=list)
    all_groups: int = 0
    rollouts: int = 0
    tasks: dict[str, dict[str, str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def thin(self, most: int, seed: int) -> None:
        """Keeps `most` groups of the table, drawn by the seed."""
        if len(self.groups) > most:
            self.groups.sort(key=lambda group: rank(seed, "table", group[0], group[1]))
            del self.groups[most:]


@dataclass(frozen=True)
class SamplePlan:
    """How much to keep of a run."""

    rollouts: int = 1000
    groups: int = 20_000
    seed: int = 0


def sample(folder: Path, run: Mapping[str, Any], plan: SamplePlan, seen: Seen) -> RunSample:
    """Picks about `plan.rollouts` of all rollouts of a run, as `run_data` gave it; damaged files are `problems`."""
    found = RunSample()
    reader = _RolloutReader(folder, str(run["settings"].get("tasks.source", "")), found, seen)
    evaluated = list(_evaluations(reader, run, plan))
    played = list(_training(reader, run, plan, plan.rollouts - sum(map(len, evaluated))))
    # Both in turn, so that the beginning of the list is a fair part of either.
    ranked = [(at / len(units), unit) for units in (played, evaluated) for at, unit in enumerate(units)]
    found.units = [unit for _, unit in sorted(ranked, key=lambda pair: pair[0])]
    found.thin(plan.groups, plan.seed)
    found.groups.sort(key=lambda group: (group[0], group[1]))
    return found


def _evaluations(
    reader: "_RolloutReader", run: Mapping[str, Any], plan: SamplePlan
) -> Iterator[list[Picked]]:
    """Units of one task each: its answers in every evaluation of a set."""
    sets: dict[str, list[Mapping[str, Any]]] = {}
    for evaluation in run["evaluations"]:
        sets.setdefault(evaluation["set"], []).append(evaluation)
    trained = len(run["steps"]) * _setting(run, _SIZE) * _setting(run, _GROUPS)  # about
    room = max(EVALUATED * plan.rollouts, plan.rollouts - trained) / max(1, len(sets))
    for name, evaluations in sets.items():

        def order(task: Any, name: str = name) -> bytes:
            return rank(plan.seed, "task", name, task)

        wanted = int(room / max(1, sum(_answers(e["result"]) for e in evaluations)))
        known = [set(e["task_ids"]) for e in evaluations if e["task_ids"]]
        common = set.intersection(*known) if known else None
        by_task: dict[str, list[Picked]] = {}
        for evaluation in evaluations:
            source = evaluation_file(reader.folder, evaluation["file"])
            shelf = Shelf[Picked](wanted, order, common)
            if reader.read(source, "task_id", shelf) is not None:
                for task, picked in shelf.kept.items():
                    by_task.setdefault(task, []).extend(picked)
        yield from (by_task[task] for task in sorted(by_task, key=order)[:wanted])


def _training(
    reader: "_RolloutReader", run: Mapping[str, Any], plan: SamplePlan, room: int
) -> Iterator[list[Picked]]:
    """Units of one group each; one of each end of the run comes first."""
    steps, found = run["steps"], reader.found
    quota = quotas(
        steps, max(1, room // _setting(run, _SIZE)) if plan.rollouts else 0, _setting(run, _GROUPS)
    )
    units: list[tuple[tuple[bool, bytes], list[Picked]]] = []
    for step in steps:

        def order(group: Any, step: int = step) -> bytes:
            return rank(plan.seed, "group", step, group)

        shelf = Shelf[Picked](quota.get(step, 0), order)
        tallies = reader.read(step_file(reader.folder, step), "group", shelf)
        if tallies is None:
            continue
        found.all_groups += len(tallies)
        found.groups += [tally.row(step, group) for group, tally in tallies.items()]
        if len(found.groups) > 2 * plan.groups:
            found.thin(plan.groups, plan.seed)
        for at, group in enumerate(sorted(shelf.kept, key=order)):
            inner = at > 0 or step not in (steps[0], steps[-1])
            units.append(((inner, rank(plan.seed, "order", step, group)), shelf.kept[group]))
    yield from (unit for _, unit in sorted(units, key=lambda pair: pair[0]))


@dataclass
class _GroupTally:
    task: str
    n: int = 0
    passed: int = 0
    rewards: list[float] = field(default_factory=list)
    advantages: list[float | None] = field(default_factory=list)

    def add(self, line: Line) -> None:
        self.n += 1
        self.passed += (line.get("verdict") or {}).get("outcome") == "passed"
        if line.get("reward") is not None:
            self.rewards.append(line["reward"])
        self.advantages.append(line.get("advantage"))

    def row(self, step: int, group: Any) -> list[Any]:
        mean, signal = mean_and_signal(self.rewards, self.advantages)
        mean = None if mean is None else float(f"{mean:.5g}")
        return [step, group, self.task, self.n, len(self.rewards), self.passed, mean, signal]


class _RolloutReader:
    """Reads one file after the other into a sample."""

    def __init__(self, folder: Path, source: str, found: RunSample, seen: Seen) -> None:
        self.folder, self.found = folder, found
        self._seen = seen
        self._vocabulary = load_vocabulary(folder)
        self._language = "rust" if "rust" in source else "python" if "python" in source else ""

    def read(self, source: RolloutFile, key: str, shelf: Shelf[Picked]) -> dict[Any, _GroupTally] | None:
        """Tallies by `key`, with the shelf filled; None, with a problem noted, for a file that is torn or damaged."""
        found, tasks = self.found, {}
        tallies: dict[Any, _GroupTally] = {}
        lines = 0
        try:
            whole = read_whole(source.path)
            for lines, line in enumerate(numbered(whole) if source.evaluation else whole, start=1):
                task = shapes.checked_rollout(line, grouped=source.step is not None)["task_id"]
                tallies.setdefault(line[key], _GroupTally(task)).add(line)
                if task not in found.tasks and task not in tasks:
                    tasks[task] = task_of(line, self._language)
                if shelf.takes(line[key]):
                    language = (found.tasks.get(task) or tasks[task])["language"]
                    shelf.kept[line[key]].append(self._picked(line, source, language))
                self._seen(found.rollouts + lines)
        except UserError as error:
            found.problems.append(str(error))
            return None
        except NO_ROLLOUT as error:
            found.problems.append(
                f"{source.path} is damaged and is left out: line {lines} is no rollout ({error!r})"
            )
            return None
        found.rollouts += lines
        found.tasks |= tasks
        return tallies

    def _picked(self, line: Line, source: RolloutFile, language: str) -> Picked:
        detail = detail_of(line, source, self._vocabulary, language, colours=False)
        tokens = [files.json_line(turn.pop("tokens")) for turn in detail["turns"]]
        return Picked(row_of(line, source), detail, tokens)


def _setting(run: Mapping[str, Any], name: str) -> int:
    """A positive number of the recipe; a likely one where it does not say."""
    value = run["settings"].get(name)
    return value if isinstance(value, int) and value > 0 else 8


def _answers(result: Mapping[str, Any]) -> int:
    samples = result.get("samples")
    return (samples if isinstance(samples, int) else 1) + ("greedy" in result)
