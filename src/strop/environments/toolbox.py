"""`Toolbox`: a class whose public methods are the tools of a play, and `@tool`, which sets the limits of one of them.

    class Notes(strop.Toolbox):
        @strop.tool(lines=20)
        def look(self, path: str = "notes.txt") -> str:
            \"\"\"Shows a file.

            Args:
                path: relative to the folder
            \"\"\"
            return self.folder.read(path).decode()

A tool's schema is built from its annotations and its docstring: the first line, and the entries under `Args:`.
"""

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar, overload

from pydantic import ConfigDict, Field, create_model

from strop.policies.tool_calls import LINES, SECONDS, WIDTH, ToolCaps, ToolSpec
from strop_verify.core.errors import UserError
from strop_verify.core.play import JailedFolder, Ran, Services
from strop_verify.core.task import Task
from strop_verify.core.text import left_out
from strop_verify.core.threads import begun
from strop_verify.core.user_code import load_named, place_of

MEMORY_BYTES = 4 << 30
PATIENCE = 60.0
"""Minimum wall-time limit of every tool in seconds, since other plays' programs may occupy the cores."""
M = TypeVar("M", bound=Callable[..., str])


@overload
def tool(method: M, /) -> M: ...
@overload
def tool(*, lines: int = ..., width: int = ..., seconds: float = ...) -> Callable[[M], M]: ...
def tool(method: Any = None, /, *, lines: int = LINES, width: int = WIDTH, seconds: float = SECONDS) -> Any:
    """Marks a method of a `Toolbox` as a tool with its limits (`ToolCaps`), which must be positive, else ValueError."""
    if lines < 1 or width < 1 or seconds <= 0:
        raise ValueError(
            f"a tool's limits must be positive, not lines={lines}, width={width}, seconds={seconds}"
        )

    def mark(function: Any) -> Any:
        function.tool_caps = ToolCaps(lines, width, seconds)
        return function

    return mark if method is None else mark(method)


class Toolbox:
    """The tools of one play: every public method of a subclass. They run in threads, one at a time by default.

    A tool returns text for the policy. The message of a ValueError or FileNotFoundError goes to the policy as well;
    SandboxError ends the play as "infra", and any other exception is a bug in the tool and ends the run.
    """

    side_by_side = False
    """Whether the calls of one completion may run at the same time."""

    def __init__(self, task: Task, services: Services) -> None:
        self.task, self.services = task, services
        self.finished = False
        """Whether the policy has called `finish`."""
        self._busy: Future[str] | None = None
        self._caps = ToolCaps()

    @property
    def folder(self) -> JailedFolder:
        """The play's folder, which holds the task's files."""
        return self.services.folder

    @tool
    def finish(self) -> str:
        """Ends the work: the files are the answer as they are now."""
        self.finished = True
        return "finished"

    def use(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Calls a tool. An invalid call returns a one-line message that says why."""
        known = tools_of(type(self))
        if name not in known:
            return f"there is no tool {name!r:.40}; there are {', '.join(known)}"
        if self._busy is not None and not self._busy.done() and not self.side_by_side:
            return "the tool that took too long is still running; finish"
        self._caps = known[name].caps
        most = max(PATIENCE, 6 * self._caps.seconds)
        try:
            given = known[name].checked(arguments)
            self._busy = began = begun(lambda: getattr(self, name)(**given), "tool")
            said = began.result(timeout=most)
        except TimeoutError:
            said = f"{name} took more than {most:g} seconds and was given up"
        except (ValueError, FileNotFoundError) as error:
            return clipped(str(error) or type(error).__name__)
        if not isinstance(said, str):
            raise TypeError(f"the tool {name} returned {said!r:.40}, not text{place_of(getattr(self, name))}")
        return clipped(said, known[name].caps.lines, known[name].caps.width)

    def program(self, argv: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Ran:
        """Runs a program in the folder, where Python, pytest and cargo are available; `steady` is applied to its
        output."""
        ran = self.folder.run(
            argv, seconds=self._caps.seconds, memory_bytes=MEMORY_BYTES, environment=environment
        )
        return replace(ran, output=steady(ran.output), errors=steady(ran.errors))


@dataclass(frozen=True)
class UseTool:
    """An effect: the policy calls a tool. Its result is the text that the policy is shown."""

    toolbox: Toolbox
    name: str
    arguments: Mapping[str, Any]

    def start(self, services: Services) -> "Future[str]":
        """Calls the tool in a thread; see `Effect`."""
        return services.call(lambda: self.toolbox.use(self.name, self.arguments))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


def tools_of(kind: type[Toolbox], *only: str) -> Mapping[str, ToolSpec]:
    """The tools of a class by name, `finish` last; with names in `only`, just those and `finish`.

    Raises UserError for a method that cannot be a tool, and for an unknown name.
    """
    key: Any = kind
    found: Mapping[str, ToolSpec] = _tools_of(key)
    if unknown := [name for name in only if name not in found]:
        raise UserError(
            f"tasks.environment.only: no tool {unknown[0]!r:.40} in {kind.__name__}; there are {', '.join(found)}"
        )
    return {name: spec for name, spec in found.items() if name in {*only, "finish"}} if only else found


@cache
def _tools_of(kind: Any) -> Mapping[str, ToolSpec]:
    names = [
        name
        for owner in reversed(kind.__mro__)
        for name, value in vars(owner).items()
        if inspect.isfunction(value) and not name.startswith("_")
        if hasattr(value, "tool_caps") or not hasattr(Toolbox, name)
    ]
    order = sorted(dict.fromkeys(names), key=lambda name: name == "finish")
    return {name: _spec(name, getattr(kind, name)) for name in order}


def toolbox_of(asked: str | type[Toolbox], place: str) -> type[Toolbox]:
    """A Toolbox subclass, given as a class or as `file.py:Class`. Raises UserError, prefixed with `place`."""
    kind = load_named(asked, place) if isinstance(asked, str) else asked
    if not (inspect.isclass(kind) and issubclass(kind, Toolbox)):
        raise UserError(f"{place}: {asked!r} is not a Toolbox subclass; derive it from strop.Toolbox")
    tools_of(kind)
    return kind


def _spec(name: str, method: Callable[..., str]) -> ToolSpec:
    where = place_of(method)
    first, described = _documented(inspect.getdoc(method) or "")
    taken = list(inspect.signature(method).parameters.values())[1:]
    if odd := [p.name for p in taken if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY)]:
        raise UserError(f"the tool {name} takes {odd[0]!r}, which has no name for the policy{where}")
    try:
        hints = typing.get_type_hints(method)
        fields: dict[str, Any] = {
            p.name: (
                hints.get(p.name, str),
                Field(... if p.default is p.empty else p.default, description=described.get(p.name)),
            )
            for p in taken
        }
        config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, arbitrary_types_allowed=False)
        model = create_model(name, __config__=config, **fields)
        spec = ToolSpec(name, first or name, model, getattr(method, "tool_caps", ToolCaps()))
        spec.schema()
    except Exception as error:  # pydantic raises many kinds of exceptions for a type without a schema
        raise UserError(
            f"the tool {name} has no schema: {' '.join(str(error).split())[:120]}{where}"
        ) from error
    return spec


def _documented(text: str) -> tuple[str, dict[str, str]]:
    """(first line, description of each argument) of a docstring."""
    head, _, rest = text.partition("\nArgs:\n")
    lines = (line.strip().partition(":") for line in rest.splitlines())
    return head.partition("\n")[0].strip(), {name: said.strip() for name, colon, said in lines if colon}


def relative_name(path: str) -> str:
    """A path that the policy wrote, relative to the folder of its play; "" for the folder itself."""
    name = path.strip().removeprefix("./").rstrip("/")
    return "" if name == "." else name


def clipped(text: str, lines: int = LINES, width: int = WIDTH) -> str:
    """The head and tail of a text, and of each line that is too long, with a note of how much is left out. Notes
    already in the text count as the lines and characters that they stand for.
    """
    rows = text.rstrip("\n").split("\n")
    shown = [_narrow(row, width) for row in rows]
    if len(rows) > lines:
        head, tail = lines - lines // 2, len(rows) - lines // 2
        shown = [
            *shown[:head],
            left_out(*_size("".join(f"{row}\n" for row in rows[head:tail]))),
            *shown[tail:],
        ]
    return "\n".join(shown)


def _narrow(row: str, width: int) -> str:
    if len(row) <= width:
        return row
    head, tail = width - width // 2, len(row) - width // 2
    return f"{row[:head]}{left_out(0, _size(row[head:tail])[1])}{row[tail:]}"


_NOTE = re.compile(r"\[(?:(\d{1,15}) lines, )?(\d{1,15}) characters left out\]")


def _size(text: str) -> tuple[int, int]:
    """(lines, characters) of a text; a note counts as what it stands for."""
    lines, characters = text.count("\n"), len(text)
    for note in _NOTE.finditer(text):
        whole = note[1] is not None  # a line of its own
        lines += int(note[1]) - 1 if whole else 0
        characters += int(note[2]) - len(note[0]) - whole
    return lines, characters


_UNSTEADY = (
    (re.compile(r"\b(in|took) \d+(?:\.\d+)? ?(?:s|ms|seconds)\b"), r"\1 0.0s"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "0x"),
    (re.compile(r"\b([Pp]id|PID)([ =:]+)\d+"), r"\g<1>\g<2>0"),
    (re.compile(r"(?<![\w/.])(?:/box|/\S*/strop-[a-z]+-\d+-\w+)(?![\w-])"), "."),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "tmp"),
)


def steady(text: str) -> str:
    """A program's output without what differs from run to run: durations, addresses, process ids, temporary paths."""
    for pattern, instead in _UNSTEADY:
        text = pattern.sub(instead, text)
    return text
