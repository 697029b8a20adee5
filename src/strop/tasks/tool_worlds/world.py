"""A world: a class whose public methods are tools that act on its state; and goals for that state.

A state is plain data: nested dicts by name, with texts, numbers and lists as leaves. A goal maps paths of some parts to
their values, None for a removed part; all other parts must be unchanged, except those that are free.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NamedTuple

import yaml
from pydantic import ConfigDict, validate_call

MOST_CALLS = 256
"""Maximum calls in an answer."""
MAX_ANSWER = 1 << 16
"""Maximum characters of an answer."""
WORDS: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
Part = dict[str, Any]
"""A part of a state: its things by name."""
Call = tuple[str, Mapping[str, Any]]
"""(name of a tool, its arguments by name)."""


class Drawn(NamedTuple):
    """An initial state, the values for the request's wording (`words.yaml`), and calls that fulfil it."""

    state: dict[str, Any]
    asked: dict[str, Any]
    looks: str
    """Names of the parts that an expert looks at first."""
    plans: Sequence[Sequence[tuple[Any, ...]]]
    """Plans of (tool, argument, ...) steps. The first is the expert's; the results of the others are right as well."""


class World:
    """The base class of all worlds. A refused tool call raises ValueError and changes nothing."""

    free: ClassVar[Sequence[str]] = ()
    """Patterns of paths that goals ignore."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.state: dict[str, Any] = json.loads(json.dumps(state))

    def __getattr__(self, part: str) -> Any:
        if part == "state" or part not in self.state:
            raise AttributeError(part)
        return self.state[part]

    def look(self, part: str = "") -> str:
        """Shows a part of what there is; without a name, the names of the parts."""
        if not part:
            return f"there are {', '.join(self.state)}"
        need(part in self.state, f"there is no part {part!r:.40}; there are {', '.join(self.state)}")
        found = self.state[part]
        rows = [f"{name}: {_shown(one)}" for name, one in found.items()] if isinstance(found, dict) else found
        return "\n".join(rows) or "nothing"

    def finish(self) -> str:
        """Ends the work: what was asked is done."""
        self.finished = True
        return "finished"

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Draws an instance. Raises ValueError if this draw gives none."""
        raise NotImplementedError

    def _of(self, part: str, name: str) -> Any:
        """The thing of that name in a part; for a list, the name itself. Raises ValueError."""
        held = self.state[part]
        need(
            name in held, f"there is no {name!r:.40} among the {part}; there are {', '.join(held) or 'none'}"
        )
        return held[name] if isinstance(held, dict) else name


def need(held: object, why: str) -> None:
    """Raises ValueError if a condition does not hold."""
    if not held:
        raise ValueError(why)


def put(one: Any, /, **values: Any) -> str:
    """Sets values of a thing, and returns them as text."""
    one |= values
    return _shown(values)


def those(things: Part, /, **values: Any) -> Part:
    """The things with these values."""
    return {
        name: one for name, one in things.items() if all(one[key] == value for key, value in values.items())
    }


def some(r: Random, what: str, count: int) -> list[str]:
    """Distinct words from a list in `words.yaml`; for a letter, distinct numbers after it, in order."""
    if len(what) == 1:
        return [f"{what}{number}" for number in sorted(r.sample(range(100, 999), count))]
    return r.sample(WORDS[what], count)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        inner = (
            f"{name} ({_shown(v)})" if isinstance(v, dict) else f"{name} {_shown(v)}"
            for name, v in value.items()
        )
        return ", ".join(inner) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " + ".join(value) or "-" if isinstance(value, list) else str(value) or "-"


def use(world: World, call: Call) -> str:
    """Calls a tool. Raises ValueError if it does not exist, its arguments are wrong, or the world refuses."""
    kind: Any = type(world)
    return _tool(kind, call[0])(world, **call[1])


@cache
def _tool(kind: Any, name: str) -> Callable[..., str]:
    method = inspect.getattr_static(kind, name, None)
    need(inspect.isfunction(method) and not name.startswith("_"), f"there is no tool {name!r:.40}")
    checked: Callable[..., str] = validate_call(config=ConfigDict(coerce_numbers_to_str=True))(method)
    return checked


def replayed(world: World, calls: Iterable[Call]) -> Iterator[Call]:
    """Makes the calls in turn, and yields those that changed the state."""
    for call in calls:
        before = json.dumps(world.state)
        with suppress(ValueError):
            use(world, call)
        if json.dumps(world.state) != before:
            yield call


def named(kind: type[World], step: tuple[Any, ...]) -> Call:
    """A step of a plan as a call."""
    names = [*inspect.signature(getattr(kind, step[0])).parameters][1:]
    return step[0], dict(zip(names, step[1:], strict=False))


def write_call(call: Call) -> str:
    """The line of an answer that makes a call."""
    return json.dumps({"name": call[0], "arguments": call[1]})


def read_calls(answer: str) -> list[Call]:
    """The calls of an answer, one per line. Raises ValueError."""
    lines = answer.split("\n") if len(answer) <= MAX_ANSWER else []
    need(0 < len(lines) <= MOST_CALLS, f"more than {MOST_CALLS} calls, or than {MAX_ANSWER} characters")
    found = list[Call]()
    for number, line in enumerate(lines, 1):
        with suppress(ValueError, RecursionError):
            match json.loads(line):
                case {"name": str(name), "arguments": dict(arguments)}:
                    found.append((name, arguments))
                    continue
        raise ValueError(f'line {number} is no call; write {{"name": ..., "arguments": {{...}}}}')
    return found


def parts(state: Any, path: str = "") -> dict[str, Any]:
    """The texts, numbers, lists and empty dicts of a state by path."""
    if not (isinstance(state, dict) and state):
        return {path: state}
    return {key: value for name, one in state.items() for key, value in parts(one, f"{path}/{name}").items()}


def changes(before: Any, after: Any, free: Sequence[str] = ()) -> dict[str, Any]:
    """The parts that changed, by path, with their new values; None for a removed one."""
    old, new = parts(before), parts(after)
    return {
        path: new.get(path)
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path) and not any(fnmatchcase(path, pattern) for pattern in free)
    }
