"""A world: a class whose public methods are tools on its state, and what goals say of a state.

A state is plain data, dicts by name down to texts, numbers and lists. A goal has the values of some of its parts by
path, None for one that is gone; all other parts have to be as they were at first, but those that are free.
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
"""Of an answer."""
MAX_ANSWER = 1 << 16
"""Characters of an answer."""
WORDS: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
Part = dict[str, Any]
"""Things of a state by name."""
Call = tuple[str, Mapping[str, Any]]
"""A tool and its arguments by name."""


class Drawn(NamedTuple):
    """A state to begin with, the words for what is asked (`words.yaml`), and calls that do it."""

    state: dict[str, Any]
    asked: dict[str, Any]
    looks: str
    """Parts that an expert looks at first."""
    plans: Sequence[Sequence[tuple[Any, ...]]]
    """Each (tool, argument, ...) in order. The first is an expert's; what others lead to is right as well."""


class World:
    """The base of all. A tool that is refused raises ValueError and changes nothing."""

    free: ClassVar[Sequence[str]] = ()
    """Patterns of paths that no goal speaks of."""

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
        """An instance. Raises ValueError where this draw gives none."""
        raise NotImplementedError

    def _of(self, part: str, name: str) -> Any:
        """What has that name in a part; of a list, the name. Raises ValueError."""
        held = self.state[part]
        need(
            name in held, f"there is no {name!r:.40} among the {part}; there are {', '.join(held) or 'none'}"
        )
        return held[name] if isinstance(held, dict) else name


def need(held: object, why: str) -> None:
    """Raises ValueError where something does not hold."""
    if not held:
        raise ValueError(why)


def put(one: Any, /, **values: Any) -> str:
    """Sets values of a thing, and says them."""
    one |= values
    return _shown(values)


def those(things: Part, /, **values: Any) -> Part:
    """The things with these values."""
    return {
        name: one for name, one in things.items() if all(one[key] == value for key, value in values.items())
    }


def some(r: Random, what: str, count: int) -> list[str]:
    """Different words of a list of `words.yaml`; of a letter, different numbers behind it, in order."""
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
    """Calls a tool. Raises ValueError where there is none, for its arguments, and where the world refuses."""
    kind: Any = type(world)
    return _tool(kind, call[0])(world, **call[1])


@cache
def _tool(kind: Any, name: str) -> Callable[..., str]:
    method = inspect.getattr_static(kind, name, None)
    need(inspect.isfunction(method) and not name.startswith("_"), f"there is no tool {name!r:.40}")
    checked: Callable[..., str] = validate_call(config=ConfigDict(coerce_numbers_to_str=True))(method)
    return checked


def replayed(world: World, calls: Iterable[Call]) -> Iterator[Call]:
    """Makes the calls in turn, and yields those that change the state."""
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
    """A line of an answer."""
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
    """Its texts, numbers, lists and empty dicts by path."""
    if not (isinstance(state, dict) and state):
        return {path: state}
    return {key: value for name, one in state.items() for key, value in parts(one, f"{path}/{name}").items()}


def changes(before: Any, after: Any, free: Sequence[str] = ()) -> dict[str, Any]:
    """The parts that are different after, by path, as they are then; None for one that is gone."""
    old, new = parts(before), parts(after)
    return {
        path: new.get(path)
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path) and not any(fnmatchcase(path, pattern) for pattern in free)
    }
