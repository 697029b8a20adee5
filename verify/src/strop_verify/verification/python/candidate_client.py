"""The tester's side of an answer's functions: calls cross to the candidate, plain data comes back.

Values have exact builtin types (verification.python.codec, values); functions and iterators have stand-ins
(functions). Containers that the candidate changes in place are changed here too. Anything else that arrives ends the
conversation for good: no later call can succeed.
"""

import builtins
import select
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from strop_verify.verification.python.arguments import containers
from strop_verify.verification.python.codec import Malformed, Oversize, Unencodable, encode
from strop_verify.verification.python.decoder import decode
from strop_verify.verification.python.functions import (
    ObjectTable,
    TestsEncoder,
    called_back,
    decoded,
    items_of,
)
from strop_verify.verification.python.values import MUTABLE, made, overwrite
from strop_verify.verification.python.wire import Closed, FrameReader, read_blocking, write_blocking

_SHORT = struct.pack("ll", 0, 20_000)
"""A struct timeval of 20 ms."""
_RAISED = (Exception, SystemExit, KeyboardInterrupt)
_NOT_RAISED = (Warning, StopIteration, StopAsyncIteration)
GONE = "gone"
"""The value of `CandidateClient.gone` when the candidate's process has ended."""


class CandidateGone(BaseException):
    """The candidate died or broke the protocol; no later call can succeed."""


class CandidateClient:
    """A conversation with the candidate. `gone` is set once, by whatever ends it first."""

    def __init__(self, fd: int, limit: int) -> None:
        self.fd, self.reader, self.gone = fd, FrameReader(limit), ""
        self.functions = ObjectTable()
        """Functions and iterators that the tests gave to the answer."""
        self.raised: BaseException | None = None
        self.takes_changes = True
        """Whether changes that the candidate makes to arguments are copied to those of the tests."""
        self.changed = False
        """Whether any change was copied."""

    def begin(self, job: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> bool:
        """Sends the job and forwards the candidate's stages; False, after "done" or "broken", if it stops there."""
        try:
            with suppress(CandidateGone):  # then reading its first frame fails too
                self.write(job)
            for well, badly in (("built", "build"), ("loaded", "load")):
                stage = self.read()
                if well == "built" and "jail" in stage:  # nothing of the answer has run yet
                    send({"broken": f"jail: {stage['jail']}"})
                    return False
                if well not in stage:
                    send({"stage": badly, "x": described(stage.get(badly))})
                    send({"done": None})
                    return False
                send({"stage": well})
        except Malformed as error:
            send({"done": f"malformed: {error}"})
            return False
        except CandidateGone:
            send({"done": self.gone})
            return False
        return True

    def read(self) -> dict[str, Any]:
        """The next message. Raises CandidateGone with `gone` set."""
        try:
            return self._next()
        except Closed:
            self.gone = GONE
        except Oversize as error:
            self.gone = f"oversize: {error}"
        except Malformed as error:
            self.gone = f"malformed: {error}"
        raise CandidateGone(self.gone)

    def _next(self) -> dict[str, Any]:
        return read_blocking(self.fd, self.reader)

    def reply(self, *, number: int) -> dict[str, Any]:
        """The reply to a request; serves calls of the tests' functions first. Raises Malformed, CandidateGone."""
        while "cb" in (message := self.read()):
            self.write(called_back(message, self.functions, self.encode, self.decode, self.fault))
        if message.get("i") != number:
            raise Malformed("a reply to another request")
        return message

    def encode(self, value: Any) -> bytes:
        """The bytes of one of the tests' values. Raises Unencodable."""
        raise NotImplementedError

    def decode(self, data: Any) -> Any:
        """One of the candidate's values. Raises Malformed."""
        raise NotImplementedError

    def fault(self, cause: str) -> None:
        """Records that the running test cannot pass."""
        raise NotImplementedError

    def write(self, message: dict[str, Any]) -> None:
        """Sends a message. Raises CandidateGone."""
        try:
            write_blocking(self.fd, message)
        except Closed:
            self.gone = GONE
            raise CandidateGone(self.gone) from None


class Candidate(CandidateClient):
    """The tester's side of the entry point (function 0) and the helpers."""

    def __init__(self, fd: int, limit: int, idle: Callable[[], None]) -> None:
        super().__init__(fd, limit)
        self.idle = idle
        """Called before a long wait."""
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _SHORT)
        channel.detach()
        self.calls = 0
        self.unencodable = ""
        """What did not cross, or another reason for which the running statement cannot pass."""
        self.stand_ins: dict[tuple[str, int], Any] = {}
        self.line: Any = 0
        """Where the answer raised its last exception."""
        self.returned: list[Any] = []
        """The last call's result, if it had one."""
        self.containers: list[Any] = []
        """Containers that the current reply may refer to by number."""
        self.last: dict[int, Any] = {}
        """Each function's last result if that is mutable, by the function's number."""

    def _next(self) -> dict[str, Any]:
        while True:
            try:
                return super()._next()
            except BlockingIOError:  # not soon
                self.idle()
                select.select([self.fd], [], [])

    def call(
        self, function: int, args: tuple[Any, ...], kwargs: dict[str, Any], *, ends: bool = False
    ) -> Any:
        """Calls a function of the candidate. Raises its exceptions, but StopIteration only if `ends` is set."""
        if self.gone:
            raise CandidateGone(self.gone)
        self.calls += 1
        number = self.calls
        self.returned = []
        try:
            call: dict[str, Any] = {"i": number, "a": [self.encode(a) for a in args]}
            if kwargs:
                call["k"] = self.encode(kwargs)
            if function:
                call["f"] = function
        except Unencodable as error:
            self.unencodable = f"argument: {error}"
            raise
        if given := containers([*args, *kwargs.values()]):
            call["m"] = self.takes_changes
        self.write(call)
        try:
            return self._result(self.reply(number=number), function, given, ends)
        except Malformed as error:
            self.gone = f"malformed: {error}"
            raise CandidateGone(self.gone) from None

    def _result(self, reply: dict[str, Any], function: int, given: list[Any], ends: bool) -> Any:
        """What a call returned or raised; `given`: the containers among its arguments."""
        known = self.containers = list(given)
        for part in reply["n"] if type(reply.get("n")) is list else ():
            known += decoded([part], self.decode)
        if "m" in reply and self.takes_changes:
            copy_changes(given, decoded(reply["m"], self.decode))
            self.changed = True
        if type(why := reply.get("u")) is str:
            self.unencodable = f"result: {why[:200]}"
            raise Unencodable(self.unencodable)
        if "x" in reply:
            name, _ = described(reply["x"])
            if ends and name == "StopIteration":
                raise StopIteration
            self.raised, self.line = _exception(self.decode(reply.get("e"))), reply.get("l")
            raise self.raised
        if type(value := reply.get("v")) is not bytes:
            raise Malformed("neither a value nor an exception")
        result = self.decode(value)
        if "again" in reply:
            if type(last := self.last.get(function)) is not type(result):
                raise Malformed("not the same result as the last one")
            overwrite(last, result)
            result = last
        self.last[function] = result if isinstance(result, MUTABLE) else None
        self.returned = [result]
        return result

    def fault(self, cause: str) -> None:
        """Records that the running test cannot pass."""
        self.unencodable = self.unencodable or cause

    def encode(self, value: Any) -> bytes:
        """The bytes of one of the tests' values. Raises Unencodable."""
        return encode(value, lambda: TestsEncoder(self.functions))

    def decode(self, data: Any) -> Any:
        """One of the candidate's values; functions and iterators as stand-ins. Raises Malformed."""
        return decode(data, self._special)

    def _special(self, tag: str, inner: list[Any]) -> Any:
        if tag == "own" and len(inner) == 1:
            return self.functions.original(inner[0])
        if tag == "argument":
            if len(inner) != 1 or type(inner[0]) is not int or not 0 <= inner[0] < len(self.containers):
                raise Malformed("not a container of the call")
            return self.containers[inner[0]]
        if tag not in ("function", "items"):
            if (value := made(tag, inner, answers=True)) is NotImplemented:
                raise Malformed("unknown tag")
            return value
        if len(inner) != 1 or type(inner[0]) is not int:
            raise Malformed("a function without a number")
        key = (tag, inner[0])
        if key not in self.stand_ins:
            self.stand_ins[key] = (proxy if tag == "function" else _items)(self, *inner)
        return self.stand_ins[key]


def proxy(candidate: Candidate, number: int, name: str = "function") -> Callable[..., Any]:
    """The stand-in of a function of the candidate."""

    def proxy(*args: Any, **kwargs: Any) -> Any:
        return candidate.call(number, args, kwargs)

    proxy.__name__ = proxy.__qualname__ = name
    return proxy


def _items(candidate: Candidate, number: int) -> Iterator[Any]:
    return items_of(lambda: candidate.call(number, (), {}, ends=True))


def failure_of_tests(error: BaseException) -> str:
    """Why a test failed by its own exception, without its text, which could hold an expected value."""
    own = f"{type(error).__name__} in the test code"
    return "assertion failed" if isinstance(error, AssertionError) else own


def copy_changes(args: Sequence[Any], after: list[Any]) -> None:
    """Makes the arguments' containers equal to their state after a call. Raises Malformed."""
    if len(after) != len(args):
        raise Malformed("changed arguments of another call")
    for old, new in zip(args, after, strict=True):
        overwrite(old, new)


def at_line(text: str, line: object) -> str:
    """The description of an exception, with the answer's line that raised it if the candidate gives one."""
    return f"{text}, line {line}" if type(line) is int and 0 < line < 1_000_000 else text


def described(description: Any) -> list[str]:
    """["Class", "text"] of a candidate's exception. Raises Malformed for anything else."""
    if not (isinstance(description, list) and [type(part) for part in description] == [str, str]):
        raise Malformed("a malformed exception")
    return description


def _exception(parts: Any) -> BaseException:
    """The exception that a candidate reports; if the answer defines its class, a local class of that name replaces it.

    None of the answer's exceptions can end the tests or one of their loops. Raises Malformed.
    """
    if type(parts) is not tuple or [type(part) for part in parts] != [str, str, tuple, dict, str]:
        raise Malformed("a malformed exception")
    name, known, args, state, text = parts
    base = getattr(builtins, known, None)
    if not (isinstance(base, type) and issubclass(base, _RAISED)) or issubclass(base, _NOT_RAISED):
        return RuntimeError(f"{name}: {text}")
    is_builtin = name == known and issubclass(base, Exception)
    kind = base if is_builtin else type(name.replace("\0", ""), (base,), {})
    try:
        error: BaseException = kind(*args)
    except Exception:  # the Unicode errors take five arguments
        return RuntimeError(f"{name}: {text}")
    if str(error) != text:
        error = type(kind.__name__, (kind,), {"__str__": lambda _: text})(*args)
    for attribute, value in state.items():
        if type(attribute) is str and not hasattr(error, attribute) and not callable(value):
            setattr(error, attribute, value)
    return error
