"""Which rollouts a page on disk holds, chosen among the rows of a run.

The rule: whole groups. Steps are evenly spaced from the first to the last, each with as many groups as there is room
for, drawn by the seed. Evaluations give every answer to some tasks, the same tasks in every evaluation of a set, drawn
by the seed. Evaluations get `EVALUATED` of the room, plus what training leaves.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strop.reports.rollout_index import Index, Row, members

SIDE_BY_SIDE = 3
"""Fewest groups that a step shows, where it has them."""
EVALUATED = 0.4


def sample(index: Index, evaluations: Sequence[Mapping[str, Any]], most: int, seed: int) -> list[list[Row]]:
    """About `most` rollouts: groups, and tasks with their answers in a set of `evaluations`; the first matter most."""
    evaluated = list(_evaluations(index, evaluations, most, seed))
    played = list(_training(index, most - sum(map(len, evaluated)), seed)) if most else []
    # Both in turn, so that the beginning of the list is a fair part of either.
    ranked = [(at / len(units), unit) for units in (played, evaluated) for at, unit in enumerate(units)]
    return [unit for _, unit in sorted(ranked, key=lambda pair: pair[0])]


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


def _evaluations(
    index: Index, evaluations: Sequence[Mapping[str, Any]], most: int, seed: int
) -> Iterator[list[Row]]:
    """Units of one task each: its answers in every evaluation of a set."""
    known = {f"e.{one['file']}": one for one in evaluations}
    sets: dict[str, list[tuple[list[Row], bool]]] = {}
    for name in [name for name in index.found if name.startswith("e.")]:
        one, block = known.get(name, {}), index.block(name)
        if block and block.rows:
            sets.setdefault(one.get("set", ""), []).append((block.rows, bool(one.get("result"))))
    trained = sum(group[3] for group in index.groups)
    room = max(EVALUATED * most, most - trained) / max(1, len(sets))
    for name, files in sets.items():
        by_task = members((row for rows, _ in files for row in rows), "task")
        common = set(by_task).intersection(*({row["task"] for row in rows} for rows, done in files if done))
        drawn = sorted(common, key=lambda task: rank(seed, "task", name, task))
        wanted = int(room * len(drawn) / max(1, sum(len(by_task[task]) for task in drawn)))
        yield from (by_task[task] for task in drawn[:wanted])


def _training(index: Index, room: int, seed: int) -> Iterator[list[Row]]:
    """Units of one group each; one of each end of the run comes first."""
    sizes: dict[int, list[int]] = {}
    for step, _, _, size, *_ in index.groups:
        sizes.setdefault(step, []).append(size)
    steps = list(sizes)
    size, a_step = max(map(max, sizes.values()), default=1), max(map(len, sizes.values()), default=1)
    units: list[tuple[tuple[bool, bytes], list[Row]]] = []
    for step, count in quotas(steps, max(1, room // size), a_step).items():
        block = index.block(f"t.{step}")
        groups = members(block.rows if block else (), "group")
        drawn = sorted(groups, key=lambda group: rank(seed, "group", step, group))
        for at, group in enumerate(drawn[:count]):
            inner = at > 0 or step not in (steps[0], steps[-1])
            units.append(((inner, rank(seed, "order", step, group)), groups[group]))
    yield from (unit for _, unit in sorted(units, key=lambda pair: pair[0]))
