"""The tests' side of a module that lives in the candidate: one conversation, with what went wrong in it.

Trusted code in a jailed process. Everything that arrives is a claim of hostile code: values are decoded to exact
builtin types, handles to proxies (`verification.python.suite.proxies`), exceptions to local classes. A *fault* is what
no passing test may have in it; it fails the test during which it was seen, whatever the test makes of it.
"""

import builtins
import functools
import random
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from strop.verification.python.candidate_client import CandidateClient, CandidateGone, copy_changes, decoded
from strop.verification.python.codec import Encoder, Malformed, Unencodable, tagged
from strop.verification.python.decoder import decode
from strop.verification.python.suite.altered import SuiteCalls
from strop.verification.python.suite.dates import date_of, tagged_date
from strop.verification.python.suite.handles import BINARY

_FUNCTIONS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.BuiltinMethodType,
    types.MethodDescriptorType,
    functools.partial,
)
_CHANGING = frozenset(f"__{n}__" for n in ("setitem", "delitem", "enter", "exit", *(f"i{b}" for b in BINARY)))
_NOT_RAISED = (KeyboardInterrupt, GeneratorExit, StopAsyncIteration, SystemExit)


class Session(CandidateClient):
    """One candidate; `faults` are those of the running test."""

    def __init__(
        self,
        fd: int,
        limit: int,
        make: Callable[["Session", int, dict[str, Any]], Any],
        calls: SuiteCalls,
        draws: random.Random,
    ) -> None:
        super().__init__(fd, limit)
        self.draws = draws
        """For what the answer must not know ahead."""
        self.make, self.calls = make, calls
        self.faults: list[str] = []
        self.requests = self.changes = 0
        """`changes`: requests by which an object may change."""
        self.proxies: dict[int, Any] = {}
        self.classes: set[int] = set()
        """Numbers of classes among them."""
        self.direct: set[int] = set()
        """Numbers of what was taken from the module by name."""
        self._asked = self.handles = 0
        """`handles`: how many came."""
        self.numbers: dict[type, int] = {}
        """Of local exception classes."""
        self.functions: list[Callable[..., Any]] = []
        self.known: dict[int, int] = {}
        """Numbers of `functions` by id."""
        self.lock = threading.RLock()

    def fault(self, cause: str) -> None:
        """Notes that the running test cannot pass."""
        self.faults.append(cause[:300])

    def ask(self, operation: str, number: int, *args: Any, name: str = "", kwargs: Any = None) -> Any:
        """One request about object `number`. Raises what the candidate raised, Unencodable or CandidateGone."""
        if self.gone:
            raise CandidateGone(self.gone)
        with self.lock:
            self.requests += 1
            self.changes += operation in ("call", "set", "del") or name in _CHANGING
            exact = str.__str__(name)
            request: dict[str, Any] = {"i": self.requests, "op": operation, "h": number, "n": exact}
            if operation == "call":
                args, kwargs = self.calls.passed_on(args, kwargs, of_class=number in self.classes)
            try:
                request["a"] = [self.encode(a) for a in args]
                if operation == "call":
                    request["k"] = self.encode(kwargs)
                    request["m"] = any(type(a) in (list, dict, set) for a in args)
            except Unencodable as error:
                self.fault(f"argument: {error}")
                raise
            self.write(request)
            try:
                ends = operation == "do" and name == "__next__"
                self._asked = number
                plain = not number or (operation == "call" and number in self.direct - self.classes)
                return self._result(request["i"], args, ends=ends, word=not plain)
            except (Malformed, TypeError, ValueError, KeyError, RecursionError) as error:
                if error is self.raised:
                    raise
                self.gone = f"malformed: {error}"[:300]
                raise CandidateGone(self.gone) from None

    def _result(self, number: int, args: tuple[Any, ...], *, ends: bool, word: bool) -> Any:
        """The answer to a request. `ends`: it is for an iterator's next item, and may end a loop of the tests.

        `word`: it is what an object says, not what a function returns.
        """
        while "cb" in (reply := self.read()):
            self._call_back(reply)
        if reply.get("i") != number:
            raise Malformed("an answer to another request")
        for key, stream in (("o", sys.stdout), ("e", sys.stderr)):
            if type(reply.get(key)) is str:
                stream.write(reply[key])
        if "x" in reply:
            self.raised = self._exception(reply["x"], ends)
            raise self.raised
        if "v" not in reply:
            raise Malformed("neither a value nor an exception")
        if "m" in reply and self.takes_changes:
            copy_changes(args, decoded(reply["m"], self.decode))
            self.changed = True
        known = self.handles
        value = self.decode(reply["v"])
        if word:
            self.calls.told(reply["v"], objects=self.handles > known)
        return value

    def _call_back(self, message: dict[str, Any]) -> None:
        number = message["cb"]
        if type(number) is not int or not 0 <= number < len(self.functions):
            raise Malformed("a call of no function")
        args, kwargs = decoded(message["a"], self.decode), self.decode(message["k"])
        try:
            reply: dict[str, Any] = {"r": self.encode(self.functions[number](*args, **kwargs))}
        except Exception as error:
            if isinstance(error, AssertionError | Unencodable):
                self.fault(f"{type(error).__name__} in a function of the tests")
            known = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
            reply = {"x": [known, str(error)[:300]]}
        self.write(reply)

    def number_of(self, function: Callable[..., Any]) -> int:
        """The number of a function of the tests, the same each time it is given to the answer."""
        if id(function) not in self.known:  # functions live as long as the session, so ids are not used again
            self.known[id(function)] = len(self.functions)
            self.functions.append(function)
        return self.known[id(function)]

    def encode(self, value: Any) -> bytes:
        """The bytes of a value of the tests. Raises Unencodable."""
        return _OutEncoder(self).whole(value)

    def decode(self, data: Any) -> Any:
        """A value of the candidate's, handles as proxies. Raises Malformed."""
        if type(data) is not bytes:
            raise Malformed("no value")
        return decode(data, self._special)

    def _special(self, kind: str, inner: list[Any]) -> Any:
        if (date := date_of(kind, inner)) is not None:
            return date
        if kind != "ref" or not inner or type(inner[0]) is not int:
            raise Malformed("unknown tag")
        number = inner[0]
        self.handles += 1
        if number not in self.proxies:
            about = inner[1] if len(inner) == 2 else None
            if not isinstance(about, dict):
                raise Malformed("a handle of nothing")
            if about.get("k"):
                self.proxies[number] = self._exception_class(about["k"])
            else:
                self.proxies[number] = self.make(self, number, about)
                if "k" in about:
                    self.classes.add(number)
        found = self.proxies[number]
        if self._asked and not isinstance(found, type) and number not in self.classes:
            self.calls.came(number)
        return found

    def _exception_class(self, about: Any, depth: int = 20) -> type:
        if isinstance(about, str):
            kind = getattr(builtins, about, None)
            if not (isinstance(kind, type) and issubclass(kind, BaseException)) or kind in _NOT_RAISED:
                return RuntimeError
            return kind
        number, name, bases = about
        if type(number) is not int or not isinstance(name, str) or depth <= 0:
            raise Malformed("bad exception class")
        known = self.proxies.get(number)
        if isinstance(known, type):
            return known
        parents = tuple(dict.fromkeys(self._exception_class(b, depth - 1) for b in bases)) or (Exception,)
        kind = type(name[:80], parents, {"__module__": "answer", "__str__": _text})
        self.proxies[number], self.numbers[kind] = kind, number
        return kind

    def _exception(self, description: Any, ends: bool) -> BaseException:
        about, text, args, attributes = description
        kind = self._exception_class(about)
        if issubclass(kind, StopIteration) and not ends:
            return RuntimeError(f"{kind.__name__}: {text}"[:300])
        values, named = self.decode(args), self.decode(attributes)
        if not isinstance(text, str) or type(values) is not list or type(named) is not dict:
            raise Malformed("bad exception")
        try:
            error: BaseException = kind(*values)
        except Exception:
            error = RuntimeError(f"{kind.__name__}: {text}")
        if kind in self.numbers:
            for key, value in {**named, "_strop_text": text}.items():
                if isinstance(key, str) and not key.startswith("__"):
                    error.__dict__[key] = value
        return error


def _text(error: BaseException) -> str:
    return str(error.__dict__.get("_strop_text", BaseException.__str__(error)))


class _OutEncoder(Encoder):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def beyond(self, value: Any, why: str) -> bytes:
        kind, session = type(value), self.session
        if (number := getattr(kind, "_strop_handle", None)) is not None:
            return tagged("ref", number(value))
        if isinstance(value, type) and value in session.numbers:
            return tagged("ref", session.numbers[value])
        if kind is type or kind is types.BuiltinFunctionType:
            name = str(value.__name__)
            if getattr(builtins, name, None) is value:
                return tagged("name", name)
        if isinstance(value, BaseException) and kind.__module__ == "builtins":
            return tagged("exc", kind.__name__, str(value))
        if kind in _FUNCTIONS:
            return tagged("cb", session.number_of(value))
        return tagged_date(value) or super().beyond(value, why)
