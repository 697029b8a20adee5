"""Baselines of tool worlds: calls in one answer, without a model.

oracle  the calls of a known plan that change something
random  RANDOM calls of any tools; texts are words of the request or names of the world
empty   finish, at once
"""

import re
import typing
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from strop.core.checks import WorldCheck
from strop.core.task import Task
from strop.environments.toolbox import tools_of
from strop.environments.world import world_tools
from strop.tasks.tool_worlds import WORLDS
from strop.tasks.tool_worlds.world import Call, parts, read_calls, replayed

RANDOM = 7
"""Calls of an answer."""


def oracle(task: Task, r: Random) -> list[Call]:
    """The known calls, without looks."""
    check = task.check.only(WorldCheck)
    return list(replayed(WORLDS[check.world](check.start), read_calls(task.reference)))


def at_random(task: Task, r: Random) -> list[Call]:
    """Calls of known tools with arguments of the right types, where a name says it of the right part of the world."""
    check = task.check.only(WorldCheck)
    kind, words = WORLDS[check.world], {*re.findall(r"\w[\w.-]*", task.statement), *_names(check.start)}
    tools = [name for name in tools_of(world_tools(check.world)) if name not in ("look", "finish")]

    def drawn(name: str, hint: Any) -> Any:
        if hint in (int, bool):
            return r.randint(1, 9) if hint is int else r.random() < 0.5
        held = [part for part in check.start if part.startswith(name)]
        return r.choice(sorted(check.start[held[0]] if held else words))

    found = list[Call]()
    for name in r.choices(tools, k=RANDOM):
        hints = typing.get_type_hints(getattr(kind, name))
        found.append((name, {one: drawn(one, hint) for one, hint in hints.items() if one != "return"}))
    return found


def _names(state: Mapping[str, Any]) -> list[str]:
    paths = [name for path in parts(state) for name in path.split("/")[1:]]
    return [*paths, *(str(value) for value in parts(state).values() if isinstance(value, str) and value)]


WORLD_BASELINES: Mapping[str, Callable[[Task, Random], list[Call]]] = {
    "oracle": oracle,
    "random": at_random,
    "empty": lambda task, r: [],
}
"""By the word behind `scripted:`."""
