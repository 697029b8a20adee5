"""The far end of an answer's functions, in the tester process: calls cross to the candidate, plain data comes back.

Values are exact builtin types (verification.python.codec). Lists, dicts and sets that the candidate changes in place
are changed here too. Whatever else arrives ends the conversation for good: no later call can succeed.
"""

import builtins
import select
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from strop.verification.python.codec import Malformed, Oversize, Unencodable, encode
from strop.verification.python.decoder import decode
from strop.verification.python.wire import Closed, FrameReader, read_blocking, write_blocking

_SHORT = struct.pack("ll", 0, 20_000)
"""A struct timeval of 20 ms."""
_MUTABLE = (list, dict, set)
_NOT_RAISED = (Warning, StopIteration, StopAsyncIteration)
GONE = "gone"
"""Why a conversation ended when the candidate's process did."""


class CandidateGone(BaseException):
    """The candidate died or broke the protocol; no later call can succeed."""


class CandidateClient:
    """A conversation with the candidate. `gone` is set once, by whatever ends it first."""

    def __init__(self, fd: int, limit: int) -> None:
        self.fd, self.reader, self.gone = fd, FrameReader(limit), ""
        self.raised: BaseException | None = None
        self.takes_changes = True
        """Whether what the candidate does to arguments is done to those of the tests too. It is asked for it anyhow."""
        self.changed = False
        """Whether it was, at least once."""

    def begin(self, job: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> bool:
        """Sends the job and passes the candidate's stages on; False, and "done" or "broken" sent, if it stops there."""
        try:
            with suppress(CandidateGone):  # then its first frame is missing too
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
        """The next message; raises CandidateGone with `gone` set."""
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

    def write(self, message: dict[str, Any]) -> None:
        """Sends a message; raises CandidateGone."""
        try:
            write_blocking(self.fd, message)
        except Closed:
            self.gone = GONE
            raise CandidateGone(self.gone) from None


class Candidate(CandidateClient):
    """The far end of the entry point (function 0) and the helpers."""

    def __init__(self, fd: int, limit: int, idle: Callable[[], None]) -> None:
        super().__init__(fd, limit)
        self.idle = idle
        """Called before a wait that is not short."""
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _SHORT)
        channel.detach()
        self.calls = 0
        self.unencodable = ""
        self.line: Any = 0
        """Where the answer raised its last exception."""
        self.returned: list[Any] = []
        """The last call's result, if it had one."""

    def _next(self) -> dict[str, Any]:
        while True:
            try:
                return super()._next()
            except BlockingIOError:  # not soon
                self.idle()
                select.select([self.fd], [], [])

    def call(self, function: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a function over there; its builtin exceptions are raised here."""
        if self.gone:
            raise CandidateGone(self.gone)
        self.calls += 1
        self.returned = []
        try:
            mutable = any(isinstance(a, _MUTABLE) for a in args)
            call = {"i": self.calls, "a": [encode(a) for a in args], "m": mutable}
            if kwargs:
                call["k"] = encode(kwargs)
            if function:
                call["f"] = function
        except Unencodable as error:
            self.unencodable = f"argument: {error}"
            raise
        self.write(call)
        reply = self.read()
        try:
            return self._result(reply, args)
        except Malformed as error:
            self.gone = f"malformed: {error}"
            raise CandidateGone(self.gone) from None

    def _result(self, reply: dict[str, Any], args: tuple[Any, ...]) -> Any:
        if reply.get("i") != self.calls:
            raise Malformed("an answer to another call")
        if type(why := reply.get("u")) is str:
            self.unencodable = f"result: {why[:200]}"
            raise Unencodable(self.unencodable)
        if "x" in reply:
            self.raised, self.line = _exception(reply["x"]), reply.get("l")
            raise self.raised
        if type(value := reply.get("v")) is not bytes:
            raise Malformed("neither a value nor an exception")
        if "m" in reply and self.takes_changes:
            copy_changes(args, decoded(reply["m"], decode))
            self.changed = True
        self.returned = [decode(value)]
        return self.returned[0]


def failure_of_tests(error: BaseException) -> str:
    """Why a test failed by an exception of its own, whose text could hold an expected value."""
    return (
        "assertion failed"
        if isinstance(error, AssertionError)
        else f"{type(error).__name__} in the test code"
    )


def decoded(parts: Any, decode: Callable[[bytes], Any]) -> list[Any]:
    """The values of a list of bytes. Raises Malformed."""
    if type(parts) is not list or not all(type(part) is bytes for part in parts):
        raise Malformed("no list of values")
    return [decode(part) for part in parts]


def copy_changes(args: tuple[Any, ...], after: list[Any]) -> None:
    """Makes lists, dicts and sets among the arguments equal to what a call left of them. Raises Malformed."""
    if len(after) != len(args):
        raise Malformed("changed arguments of another call")
    for old, new in zip(args, after, strict=True):
        if type(old) is list and type(new) is list:
            old[:] = new
        elif (type(old) is dict and type(new) is dict) or (type(old) is set and type(new) is set):
            old.clear()
            old.update(new)


def at_line(text: str, line: object) -> str:
    """The description of an exception with the answer's line that raised it, where a candidate names one."""
    return f"{text}, line {line}" if type(line) is int and 0 < line < 1_000_000 else text


def described(description: Any) -> list[str]:
    """["Class", "text"] of a candidate's exception. Raises Malformed for anything else."""
    if not (isinstance(description, list) and [type(part) for part in description] == [str, str]):
        raise Malformed("a malformed exception")
    return description


def _exception(description: Any) -> BaseException:
    name, text = described(description)
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)) or issubclass(kind, _NOT_RAISED):
        return RuntimeError(f"{name}: {text}")  # nothing of the answer's ends the tests, or a loop of theirs
    try:
        return kind(text)
    except Exception:
        return RuntimeError(f"{name}: {text}")  # the Unicode errors take five arguments
