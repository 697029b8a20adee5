"""Chooses rollouts, and how much of each, for a page on disk that stays under its size limit.

Groups stay whole. Steps are evenly spaced from the first to the last, each with as many groups as fit, drawn by the
seed. Evaluations give every answer to some tasks, the same tasks in every evaluation of a set, drawn by the seed.
Evaluations get the share `EVALUATED` of the room, plus what training leaves.

To fit, tokens with their numbers are removed first, then rollouts, then the ends of long texts; rows of a run's own
tables go if those alone are too large. Sizes are those in the file: compressed, in base64.
"""

import hashlib
import json
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from strop.reports.page.rollout_data import MOST_TEXT, cut_text
from strop.reports.page.rollout_index import Index, Row, members
from strop_verify.core import files

SIDE_BY_SIDE = 3
"""Minimum groups per step, if it has as many."""
EVALUATED = 0.4


def sample(index: Index, evaluations: Sequence[Mapping[str, Any]], most: int, seed: int) -> list[list[Row]]:
    """About `most` rollouts, as groups, and as tasks with their answers in a set of `evaluations`; the most important
    ones first."""
    evaluated = list(_evaluations(index, evaluations, most, seed))
    played = list(_training(index, most - sum(map(len, evaluated)), seed)) if most else []
    return [unit for _, unit in interleaved([played, evaluated])]


def interleaved(lists: Sequence[Sequence[list[Row]]]) -> list[tuple[int, list[Row]]]:
    """The units of all lists in turn, each with its list's number, so any prefix is a fair share of every list."""
    ranked = [
        (at / len(units), number, unit) for number, units in enumerate(lists) for at, unit in enumerate(units)
    ]
    return [(number, unit) for _, number, unit in sorted(ranked, key=lambda item: item[:2])]


def quotas(steps: Sequence[int], groups: int, a_step: int) -> dict[int, int]:
    """{step: number of groups to take from it} for evenly spaced steps, including the first and the last. A step shows
    at least `SIDE_BY_SIDE` of its `a_step` groups if that leaves room for two steps.
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
    for name, found in sets.items():
        by_task = members((row for rows, _ in found for row in rows), "task")
        common = set(by_task).intersection(*({row["task"] for row in rows} for rows, done in found if done))
        drawn = sorted(common, key=lambda task: rank(seed, "task", name, task))
        wanted = int(room * len(drawn) / max(1, sum(len(by_task[task]) for task in drawn)))
        yield from (by_task[task] for task in drawn[:wanted])


def _training(index: Index, room: int, seed: int) -> Iterator[list[Row]]:
    """Units of one group each; the first two come from the run's two ends."""
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


@dataclass
class Picked:
    """A rollout of the page. `tokens` is the JSON of each turn's tokens, which `detail` does not hold."""

    row: dict[str, Any]
    detail: dict[str, Any]
    tokens: list[bytes]


Unit = tuple[str, list[Picked]]
"""A run's id, and rollouts that belong together."""
_TEXTS = (MOST_TEXT, 4000, 1000, 250)
_FEWEST = 0.25
"""Share of the rollouts below which texts are cut before more rollouts are removed."""
_SAFE = 0.95


@dataclass(frozen=True)
class Cut:
    """The embedded part of the picked rollouts: the first `units`, the first `tokens` of them with tokens."""

    units: int
    tokens: int
    text: int = MOST_TEXT
    """Maximum characters of one text."""


def first_cut(units: Sequence[Unit], room: float) -> Cut:
    """An estimate of what fits into `room` bytes, compressed separately. `room` may be negative."""
    tokens = stored([b"".join(t for picked in unit for t in picked.tokens) for _, unit in units])
    for text in _TEXTS:
        bodies = stored([b"".join(files.json_line(body(p, text)) for p in unit) for _, unit in units])
        count = bisect_right(bodies, room * _SAFE)
        if count >= _FEWEST * len(units):
            break
    left = room * _SAFE - (bodies[count - 1] if count else 0)
    return Cut(count, min(count, bisect_right(tokens, left)), text)


def smaller(cut: Cut) -> Cut:
    """A cut that is about a tenth smaller."""
    return (
        replace(cut, tokens=int(cut.tokens * 0.8))
        if cut.tokens
        else replace(cut, units=int(cut.units * 0.85))
    )


def body(picked: Picked, text: int) -> dict[str, Any]:
    """The detail of a rollout with its texts cut."""
    detail = picked.detail
    if text >= MOST_TEXT:
        return detail
    whole = {key: value for key, value in detail.items() if key != "colours"}
    short = _each(whole, lambda value: cut_text(value, text)[0] if isinstance(value, str) else value)
    if short["verdict"]:
        short["verdict"]["tests"] = short["verdict"]["tests"][:50]
    if len(detail["answer"]) <= text:
        return {**short, "colours": detail["colours"]}
    return {**short, "colours": [["", len(short["answer"])]], "left_out": "long texts are cut"}


def stored(parts: Sequence[bytes]) -> list[int]:
    """Bytes that the first part, the first two, ... take in the file."""
    packer = zlib.compressobj(6)
    sizes = (len(packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH)) for part in parts)
    return [size * 4 // 3 for size in accumulate(sizes)]


def thin_metrics(lines: Sequence[Mapping[str, Any]], most: int) -> list[dict[str, Any]]:
    """At most `most` lines, including the first and the last, with six digits per number."""
    count = min(len(lines), most)
    places = [round(at * (len(lines) - 1) / max(1, count - 1)) for at in range(count)]
    return [
        _each(lines[place], lambda value: float(f"{value:.6g}") if isinstance(value, float) else value)
        for place in places
    ]


def _each(value: Any, of: Callable[[Any], Any]) -> Any:
    """The value with `of` every text and number in it."""
    if isinstance(value, dict):
        return {key: _each(inner, of) for key, inner in value.items()}
    return [_each(inner, of) for inner in value] if isinstance(value, list) else of(value)
