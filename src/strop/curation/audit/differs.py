"""Does a faulty version make a difference to anybody? Both are run on inputs made from the task's own.

A fault that the tests did not notice counts against them only when some such input, on which the reference gives a
result, tells the two apart. It runs as an answer in the jail: its cases ask "do they differ?" and expect no.
"""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from strop.core.checks import Case, CasesCheck
from strop.core.ids import canonical_json, derive_seed
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict

INPUTS = 48
"""Inputs that are tried."""
_ENTRY = "strop_differs"
_MOST_BYTES = 1 << 16
"""Largest of the task's inputs that others are derived from, as JSON text."""
_ANSWER = """import copy


def _load(code):
    space = {"__name__": "solution"}
    exec(compile(code, "<version>", "exec"), space)
    found = space.get(NAME)
    return found if found is not None else getattr(space["Solution"](), NAME)


_sound, _faulty = _load(REFERENCE), _load(FAULTY)


def strop_differs(args, kwargs):
    given, same = (args, kwargs), copy.deepcopy((args, kwargs))
    try:
        wanted = (_sound(*given[0], **given[1]), given)
    except Exception:
        return False
    try:
        found = (_faulty(*same[0], **same[1]), same)
    except Exception:
        return True
    return not (wanted == found or repr(wanted) == repr(found))
"""


def question(task: Task, faulty: str) -> tuple[Task, str] | None:
    """(task, answer) that passes when no input tells the version from the reference; None when no input is known."""
    inputs = list(more_inputs(task))
    if not inputs:
        return None
    cases = [Case(args=[list(args), kwargs], expected=False) for args, kwargs in inputs]
    answer = _ANSWER.replace("NAME", repr(task.check.function))
    answer = answer.replace("REFERENCE", repr(task.reference)).replace("FAULTY", repr(faulty))
    return Task(statement="differs", check=CasesCheck(entry_point=_ENTRY, cases=cases)), answer


def told_apart(verdict: Verdict) -> bool:
    """Whether some input did."""
    return any(t.outcome is Outcome.FAILED and t.message == "returned True" for t in verdict.tests)


def more_inputs(task: Task) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """(arguments, keywords): the task's own, then others like them, the same every time."""
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
    """A value of the same type near `value`; numbers are negative only where one of `others` is."""
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
    """The sequence with an item added, taken away, doubled or changed, or in another order."""
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
