"""Logs calls of your own functions, mainly rewards: `@strop.log_reward`.

    @strop.log_reward
    def short_answer(task, rollout, verdict):
        return 1.0 if len(rollout.answer) < 200 else 0.0

During training, each call adds a line to RUN/calls/short_answer.jsonl: the step, the task and answer, the result, its
score, its seconds, or the exception with its last frames (docs/formats.md). Outside a run, lines go to the folder of
`logging_to(folder)` or the environment variable STROP_CALLS, else nowhere.

The function behaves as before: same result, same exceptions. A failure to log is reported once and never reaches it.
"""

import functools
import inspect
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from strop.reports.call_log import CallLog, current
from strop.reports.sinks.short_forms import SCORES, failure, score_of, short, subject
from strop_verify.core.errors import UserError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

F = TypeVar("F", bound=Callable[..., Any])


@overload
def log_reward(function: F, /) -> F: ...


@overload
def log_reward(*, name: str = "", inputs: bool = True, chars: int = 500) -> Callable[[F], F]: ...


def log_reward(function: Any = None, /, *, name: str = "", inputs: bool = True, chars: int = 500) -> Any:
    """Logs every call of a function, plain or async, a method, or any other callable.

    name    of the file below calls/; default: the function's own
    inputs  False leaves the arguments out, except which answer to which task it was
    chars   longest text of an argument, an answer or a result

    Raises UserError for what it cannot log: a class, a generator, a name that is not a file name.
    """
    if function is None:
        return lambda given: _decorated(given, name, inputs, chars)
    return _decorated(function, name, inputs, chars)


class _Function:
    def __init__(self, function: Any, name: str, inputs: bool, chars: int) -> None:
        self.name = name or _file_name(function)
        self.inputs = inputs
        self.chars = chars
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # some builtins have none
            parameters = []
        self.positional = tuple(p.name for p in parameters if p.kind in _POSITIONAL)

    def given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        # Taken before the call: it may change what it was given.
        values = dict(zip(self.positional, args, strict=False))
        values |= {str(n): args[n] for n in range(len(self.positional), len(args))}
        if self.positional[:1] in (("self",), ("cls",)):
            values.pop(self.positional[0], None)
        found, others = subject({**values, **kwargs}, self.chars)
        if not self.inputs:
            return {key: value for key, value in found.items() if key != "answer"}
        given = {name: short(value, self.chars) for name, value in others.items()}
        return {**found, **({"inputs": given} if given else {})}


class _Call:
    """One call, from its start to the end of its block; dropped without a log."""

    result: Any = None

    def __init__(self, function: _Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self._function = function
        self._log: CallLog | None = None
        self._line: dict[str, Any] | None = None
        try:
            self._log = current()
            if self._log is not None:
                given = function.given(args, kwargs)
                self._line = {"step": self._log.step, "time": round(time.time(), 3), "seconds": 0.0, **given}
        except Exception as error:
            if self._log is not None:
                self._log.failed(error)
        self._started = time.perf_counter()

    def __enter__(self) -> "_Call":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        seconds = time.perf_counter() - self._started
        if self._log is None or self._line is None:
            return
        try:
            if error is not None:
                outcome: dict[str, Any] = {"error": failure(error)}
            else:
                output = short(self.result, self._function.chars, SCORES)
                outcome = {"output": output, "score": score_of(self.result)}
            self._log.add(self._function.name, {**self._line, "seconds": round(seconds, 6), **outcome})
        except Exception as broken:
            self._log.failed(broken)


def _decorated(function: Any, name: str, inputs: bool, chars: int) -> Any:
    if name and not _NAME.fullmatch(name):
        raise UserError(f"log_reward: {name!r} is not a file name; use only letters, digits and . _ + -")
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_decorated(function.__func__, name, inputs, chars))
    if inspect.isclass(function) or not callable(function):
        raise UserError(f"log_reward: {function!r} is not a function; decorate a function or a method")
    body = function if inspect.isroutine(function) else type(function).__call__
    if any(inspect.isgeneratorfunction(f) or inspect.isasyncgenfunction(f) for f in (function, body)):
        raise UserError(
            f"log_reward: {_file_name(function)} is a generator, whose calls do not end; "
            "decorate a function that returns its values"
        )
    spec = _Function(function, name, inputs, chars)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(body):

        @functools.wraps(function)
        async def logged_async(*args: Any, **kwargs: Any) -> Any:
            with _Call(spec, args, kwargs) as call:
                call.result = await function(*args, **kwargs)
            return call.result

        return logged_async

    @functools.wraps(function)
    def logged(*args: Any, **kwargs: Any) -> Any:
        with _Call(spec, args, kwargs) as call:
            call.result = function(*args, **kwargs)
        return call.result

    return logged


def _file_name(function: Any) -> str:
    """The function's qualified name in its module: `score`, `Judge.score`."""
    inner = getattr(function, "func", function)  # functools.partial
    full = getattr(inner, "__qualname__", type(inner).__qualname__)
    return re.sub(r"[^A-Za-z0-9_.+-]+", "", full.rpartition("<locals>.")[2])[:100].lstrip(".+-") or "function"
