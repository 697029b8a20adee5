"""The process that runs an answer: jailed, and for one answer only. The answer may take it over entirely.

Threat model: the answer's code shares this process, so nothing here is trusted once it runs. The process holds the
answer, the arguments of calls and its own end of a channel (descriptor 3); never an expected value, another answer or
another process's descriptor. What it sends is data to be judged; no message says "passed".

Channel, candidate's side: takes a job, sends {"built"} or {"build": why}, {"loaded"} or {"load": why}, then for each
call {"i", "a"} (with "k" if it has keyword arguments, "f" for a helper's number, "m" to report changed arguments)
sends {"i", "v": value} or {"i", "x": [class, text]} or {"i", "u": why unencodable}. Values are fields of bytes. In
asserts (a job with "helpers") it may call functions of the tests meanwhile (`verification.python.functions`), and "e"
describes an exception in full: (name, builtin class, arguments, attributes, text).
"""

import builtins
import contextlib
import gc
import os
import socket
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn

from strop_verify.verification.python import program, surroundings
from strop_verify.verification.python.arguments import NamedContainers, Number
from strop_verify.verification.python.codec import Encoder, Unencodable, encode, tagged
from strop_verify.verification.python.decoder import decode
from strop_verify.verification.python.functions import ObjectTable, StandIns, is_function
from strop_verify.verification.python.nearest import BASES, nearest
from strop_verify.verification.python.suite.handles import serve
from strop_verify.verification.python.values import MUTABLE, ValueEncoder
from strop_verify.verification.python.wire import Closed, FrameReader, frame, read_blocking

CHANNEL = 3
"""The only descriptor besides 0, 1 and 2."""
_BUILT, _LOADED = (frame({stage: True}) for stage in ("built", "loaded"))
TEXT = 300
"""Maximum characters of an exception's text that cross."""


def run(kind: str) -> NoReturn:
    """Takes one job from the channel, serves it and ends the process."""
    reader = FrameReader()
    job = read_blocking(CHANNEL, reader)
    gc.enable()
    if kind == "program":
        surroundings.begin(4 if sys.version_info < (3, 12) else 3)  # before 3.12, calls from C count
        program.run(job["code"], _describe, _send)
    with contextlib.suppress(Closed):
        if kind == "module":
            serve(job, lambda: read_blocking(CHANNEL, reader), _send, _describe)
        else:
            _serve(job, reader)
    os._exit(0)


def _serve(job: dict[str, Any], reader: FrameReader) -> None:
    code, names = job["code"], [job["entry"], *job.get("helpers", ())]
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    try:
        compiled = compile(code.removeprefix("\ufeff"), "<answer>", "exec", dont_inherit=True)
    except BaseException as error:
        return _send({"build": _describe(error)})
    _write(_BUILT)
    try:
        exec(compiled, module.__dict__)
        functions = [_found(module.__dict__, name) for name in names]
        entry = functions[0]
        if not callable(entry.first if type(entry) is _Method else entry):
            return _send({"load": ["NameError", f"no function named {names[0]}"]})
    except BaseException as error:
        return _send({"load": _describe(error)})
    _write(_LOADED)
    near = bool(job.get("near"))
    far = Functions(functions, "helpers" in job, near, lambda: read_blocking(CHANNEL, reader))
    while True:
        _send(far.answer(read_blocking(CHANNEL, reader)))


def _found(names: dict[str, Any], name: str) -> Any:
    """The function of that name, else the method of the answer's class `Solution`."""
    if name not in names and isinstance(names.get("Solution"), type):
        return _Method(names["Solution"], name)
    return names.get(name)


class _Method:
    """A method of `Solution`. Each call gets a new instance, so that no state carries over between calls."""

    def __init__(self, solution: type, name: str) -> None:
        self._solution, self._name = solution, name
        self.first = getattr(solution(), name, None)
        self._unused = [self.first]

    def bound(self) -> Any:
        """The method of an unused instance; None if there is no such method."""
        return self._unused.pop() if self._unused else getattr(self._solution(), self._name, None)


class Functions(StandIns):
    """Serves calls of the answer's functions. `exact`: with the values of asserts, not only those of the codec.

    `near`: objects that do not cross are sent as the nearest plain value.
    """

    def __init__(self, found: list[Any], exact: bool, near: bool, receive: Callable[[], Any]) -> None:
        super().__init__(receive, _send)
        self.near = near
        self.given = ObjectTable(found)
        self._encoder = partial(_GivenEncoder, self) if exact else _EqualEncoder
        self._special = self.special if exact else None
        self._last: dict[int, Any] = {}
        """Each function's last result if that is mutable, by the function's number."""

    def encode(self, value: Any) -> bytes:
        """The bytes of one of the answer's values. Raises Unencodable."""
        return encode(value, self._encoder)

    def decode(self, data: bytes) -> Any:
        """A value from the tests."""
        return decode(data, self._special)

    def answer(self, call: dict[str, Any]) -> dict[str, Any]:
        """Carries out one call."""
        reply: dict[str, Any] = {"i": call["i"]}
        try:
            args, kwargs = [self.decode(a) for a in call["a"]], self.decode(call["k"]) if "k" in call else {}
            given = NamedContainers([*args, *kwargs.values()] if call.get("m") else [])
            number = call.get("f", 0)
            results, raised = self._called(number, args, kwargs)
            if self._special is None:
                return reply | raised | ({"v": self.encode(results[0])} if results else {})
            changed = given.found if given.found and self._is_changed(args, kwargs, call) else []
            given.expect(results + changed)
            for result in results:
                again = result is self._last.get(number, self)
                reply["v"] = self.encode(given.inside(result) if again else given.numbered(result))
                reply |= {"again": True} if again else {}
                self._last[number] = result if isinstance(result, MUTABLE) else self
            if changed:
                reply["m"] = [self.encode(given.inside(container)) for container in changed]
            if given.new:
                reply["n"] = [self.encode(part) for part in given.new]
        except Unencodable as error:
            return {"i": call["i"], "u": str(error)}
        return reply | raised

    def _called(
        self, number: int, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The result in a list; for an exception, an empty list and the reply's fields. Raises Unencodable."""
        try:
            function = self.given[number]
            if type(function) is _Method:
                function = function.bound()
            return [function(*args, **kwargs)], {}
        except Unencodable:
            raise
        except BaseException as error:
            said = {"x": _describe(error), "l": _line(error)}
            return [], said | ({"e": self._raised(error)} if self._special else {})

    def _is_changed(self, args: list[Any], kwargs: dict[str, Any], call: dict[str, Any]) -> bool:
        kinds = (*MUTABLE, tuple)
        given = zip(args, call["a"], strict=True)
        if any(isinstance(a, kinds) and self.encode(a) != old for a, old in given):
            return True
        return any(isinstance(a, kinds) for a in kwargs.values()) and self.encode(kwargs) != call["k"]

    def _raised(self, error: BaseException) -> bytes:
        """What the tests can see of an exception; less if not all of it crosses."""
        kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
        names = (type(error).__name__, kind.__name__)
        with contextlib.suppress(BaseException):
            reduced: Any = kind.__reduce__(error)  # type: ignore[call-arg]
            return self.encode((*names, reduced[1], reduced[2] if len(reduced) > 2 else {}, str(error)))
        try:
            return encode((*names, (), {}, str(error)[:TEXT]))
        except BaseException:
            return encode((*names, (), {}, ""))


class _GivenEncoder(ValueEncoder):
    answers = True

    def __init__(self, functions: Functions) -> None:
        super().__init__()
        self.of = functions

    def further(self, value: Any, why: str, depth: int) -> None:
        if type(value) is Number:
            self.out += tagged("argument", value.number)
        elif own := self.of.own(value):
            self.out += own
        elif is_function(value) or isinstance(value, Iterator):
            tag = "function" if is_function(value) else "items"
            self.out += tagged(tag, self.of.given.number_of(value))
        elif self.of.near and depth > 0 and (plain := nearest(value)) is not None:
            self.put((plain,), depth - 1)
        else:
            super().further(value, why, depth)


class _EqualEncoder(Encoder):
    """For cases, whose expected values are JSON: a value that equals a plain one crosses as that one."""

    def beyond(self, value: Any, why: str, depth: int) -> None:
        """Writes a value of a derived class without its own `__eq__`, or a Decimal or Fraction."""
        plain = _plain(value) if depth > 0 else None
        if plain is None:
            return super().beyond(value, why, depth)
        self.put((plain,), depth)


def _plain(value: Any) -> Any:
    """The plain value that it equals; None if there is none or it is plain itself."""
    kind = type(value)
    for base, made in BASES.items():
        if issubclass(kind, base) and kind is not base and kind.__eq__ is base.__eq__:
            return made(value)
    if (kind.__module__, kind.__name__) in (("decimal", "Decimal"), ("fractions", "Fraction")):
        with contextlib.suppress(ValueError, OverflowError):
            return next((number for number in (int(value), float(value)) if number == value), None)
    return None


def _line(error: BaseException) -> int:
    """The answer's line that raised it; 0 if unknown."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<answer>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _describe(error: BaseException) -> list[str]:
    """[nearest builtin class, text]; the text names the class if the answer defines it."""
    names = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
    known = next((n for n in names if isinstance(getattr(builtins, n, None), type)), "Exception")
    try:
        text = str(error)[:TEXT]
    except BaseException:
        text = "(its text is unavailable)"
    return [known, text if known == type(error).__name__ else f"{type(error).__name__}: {text}"[:TEXT]]


def _send(message: dict[str, Any]) -> None:
    _write(frame(message))


def _write(data: bytes) -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException:
        pass
    while len(data) > (taken := os.write(CHANNEL, data)):
        data = data[taken:]


_REHEARSALS = 24
"""Runs after which CPython has specialised the code and no longer writes to it."""
_REHEARSAL = """
from typing import Any

def solve(values: list, factor: int = 2) -> Any:
    \'\'\'Text.\'\'\'
    total = 0
    for index, value in enumerate(values):
        if value % 2 == 0 and index >= 0:
            total += value * factor
    return [total, f"{total}", sorted(values), {"a": (1.5, None)}]
"""


def rehearse() -> None:
    """In the zygote, before the first fork: serves harmless jobs, so that candidates inherit warmed-up code."""
    aside = os.dup(CHANNEL)
    for _ in range(_REHEARSALS):
        near, far = socket.socketpair()
        os.dup2(far.fileno(), CHANNEL)
        far.close()
        job = {"code": _REHEARSAL, "entry": "solve", "helpers": []}
        calls = ({"i": i, "a": [encode([1, 2, i]), encode(3)], "m": True} for i in range(4))
        near.sendall(frame(job) + b"".join(map(frame, calls)))
        near.shutdown(socket.SHUT_WR)
        with contextlib.suppress(Closed):
            reader = FrameReader()
            _serve(read_blocking(CHANNEL, reader), reader)
        near.close()
    os.dup2(aside, CHANNEL)
    os.close(aside)
    del sys.modules["solution"]
