"""Generates inputs like those of a task's own calls, to tell two versions of a function apart."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from strop_verify.core.ids import canonical_json, derive_seed
from strop_verify.core.task import Task

INPUTS = 48
"""Maximum inputs to generate."""
_MOST_BYTES = 1 << 16
"""Maximum size, as JSON text, of an input from which others are derived."""


def more_inputs(task: Task) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """(arguments, keywords): the task's own inputs, then others like them; always the same ones."""
    known = [(a, k) for a, k in task.check.calls() if _small(a, k)][:INPUTS]
    rng = Random(derive_seed("inputs", task.id))
    seen: set[str] = set()
    for number in range(4 * INPUTS if known else 0):
        args, kwargs = copy.deepcopy(known[number % len(known)])
        if number >= len(known) and args:
            place = rng.randrange(len(args))
            others = [a[place] for a, _ in known if len(a) > place]
            args[place] = copy.deepcopy(rng.choice(others)) if rng.random() < 0.3 else args[place]
            args[place] = changed(args[place], others, rng)
        text = repr((args, kwargs))
        if text not in seen and len(seen) < INPUTS:
            seen.add(text)
            yield args, kwargs


def _small(args: list[Any], kwargs: dict[str, Any]) -> bool:
    try:
        return len(canonical_json([args, kwargs])) <= _MOST_BYTES
    except (ValueError, TypeError, RecursionError):
        return False


def changed(value: Any, others: list[Any], rng: Random) -> Any:
    """A value of the same type near `value`; numbers are negative only if one of `others` is."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = value + rng.choice([-2, -1, 1, 2, 3, value, -value, -2 * value])
        negative = any(isinstance(o, int | float) and o < 0 for o in leaves(others))
        return near if negative or near >= 0 else -near
    if isinstance(value, str):
        letters = "".join(o for o in leaves(others) if isinstance(o, str))
        return _moved(list(value), lambda: rng.choice(letters) if letters else "a", rng, "".join)
    if isinstance(value, list | tuple):
        kind = type(value)
        items = list(_items(others))
        return _moved(list(value), lambda: changed(rng.choice(items), items, rng) if items else 0, rng, kind)
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        return {**value, key: changed(value[key], list(value.values()), rng)}
    return value


def _moved(items: list[Any], fresh: Any, rng: Random, build: Any) -> Any:
    """The sequence with an item added, removed, doubled or changed, or in another order."""
    place = rng.randrange(len(items)) if items else 0
    match rng.randrange(6):
        case 0:
            items.insert(place, fresh())
        case 1:
            items = items[:place] + items[place + 1 :]
        case 2:
            items = items[: place + 1] + items[place:]
        case 3:
            items = items[::-1]
        case 4:
            rng.shuffle(items)
        case _:
            items[place : place + 1] = [fresh()]
    return build(items)


def leaves(values: list[Any]) -> Iterator[Any]:
    """The plain values inside lists, tuples and dictionaries of any depth."""
    stack = list(values)
    while stack:
        value = stack.pop()
        if isinstance(value, list | tuple):
            stack += value
        elif isinstance(value, dict):
            stack += value.values()
        else:
            yield value


def _items(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from value
