"""The tests' side of a module that lives in the candidate: one conversation, with its breaches.

Trusted code in a jailed process. Everything that arrives is a claim of hostile code: values are decoded to exact
builtin types, handles to proxies (`verification.python.suite.proxies`), exceptions to local classes. A *breach*
(`fault`) is an event that no passing test may contain; it fails the test during which it was seen, whatever the test
makes of it.
"""

import builtins
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

from strop_verify.verification.python.candidate_client import CandidateClient, CandidateGone, copy_changes
from strop_verify.verification.python.codec import Malformed, Unencodable, tagged
from strop_verify.verification.python.decoder import decode
from strop_verify.verification.python.functions import TestsEncoder, decoded
from strop_verify.verification.python.suite.altered_calls import SuiteCalls
from strop_verify.verification.python.suite.handles import BINARY
from strop_verify.verification.python.values import MUTABLE, made

_CHANGING = frozenset(f"__{n}__" for n in ("setitem", "delitem", "enter", "exit", *(f"i{b}" for b in BINARY)))
_NOT_RAISED = (KeyboardInterrupt, GeneratorExit, StopAsyncIteration, SystemExit)


class Session(CandidateClient):
    """One candidate; `faults` are the breaches of the running test."""

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
        """Random draws that the answer must not be able to predict."""
        self.make, self.calls = make, calls
        self.faults: list[str] = []
        self.requests = self.changes = 0
        """`changes`: requests that may change an object."""
        self.proxies: dict[int, Any] = {}
        self.classes: set[int] = set()
        """Numbers of the classes among the proxies."""
        self.direct: set[int] = set()
        """Numbers of what was taken from the module by name."""
        self._asked = self.handles = 0
        """`handles`: how many handles arrived."""
        self.numbers: dict[type, int] = {}
        """Numbers of local exception classes."""
        self._tuples: dict[tuple[int, type], Any] = {}
        self.lock = threading.RLock()

    @property
    def met_objects(self) -> bool:
        """Whether the answer sent an object that is not a class and was not taken from its module by name."""
        others = self.proxies.keys() - self.direct - self.classes
        return any(not isinstance(self.proxies[number], type) for number in others)

    def fault(self, cause: str) -> None:
        """Records a breach, so that the running test cannot pass."""
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
                    request["m"] = any(isinstance(a, MUTABLE) for a in args)
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
        """The result of a request. `ends`: it asks for an iterator's next item, and may end a loop of the tests.

        `word`: the value comes from an object, not from a function.
        """
        reply = self.reply(number=number)
        for key, stream in (("o", sys.stdout), ("e", sys.stderr)):
            if type(reply.get(key)) is str:
                stream.write(reply[key])
        if "x" in reply:
            self.raised = self._exception(reply["x"], ends)
            raise self.raised
        if "v" not in reply:
            raise Malformed("neither a value nor an exception")
        known = self.handles
        value = self.decode(reply["v"])
        objects = self.handles > known
        if "m" in reply and self.takes_changes:
            copy_changes(args, decoded(reply["m"], self.decode))
            self.changed = True
        if word:
            self.calls.told(reply["v"], objects=objects)
        return value

    def encode(self, value: Any) -> bytes:
        """The bytes of a value of the tests. Raises Unencodable."""
        return _OutEncoder(self).whole(value)

    def decode(self, data: Any) -> Any:
        """Decodes a value of the candidate, with proxies for handles. Raises Malformed."""
        if type(data) is not bytes:
            raise Malformed("no value")
        return decode(data, self._special)

    def _special(self, kind: str, inner: list[Any]) -> Any:
        if (value := made(kind, inner, answers=True)) is not NotImplemented:
            return value
        if kind == "own" and len(inner) == 1:
            return self.functions.original(inner[0])
        if kind == "tuple" and len(inner) == 4 and type(inner[0]) is int:
            value = made("named", inner[1:], answers=True)
            return self._tuple_class(inner[0], type(value))._make(value)
        if kind != "ref" or not inner or type(inner[0]) is not int:
            raise Malformed("unknown tag")
        number = inner[0]
        self.handles += 1
        if number not in self.proxies:
            about = inner[1] if len(inner) == 2 else None
            if not isinstance(about, dict):
                raise Malformed("a handle without a description")
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

    def _tuple_class(self, number: int, plain: Any) -> Any:
        """The local class for named tuples whose class in the candidate has that number."""
        key = (number, plain)
        if key not in self._tuples:
            about = {"__slots__": (), "_strop_classes": (number,)}
            self._tuples[key] = type(plain.__name__, (plain,), about)
        return self._tuples[key]

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


def classes_of(kind: type) -> tuple[int, ...]:
    """The number of the answer's class that a local named-tuple class stands for; empty for other classes."""
    return getattr(kind, "_strop_classes", ())


def _text(error: BaseException) -> str:
    return str(error.__dict__.get("_strop_text", BaseException.__str__(error)))


class _OutEncoder(TestsEncoder):
    def __init__(self, session: Session) -> None:
        super().__init__(session.functions)
        self.session = session

    def beyond(self, value: Any, why: str, depth: int) -> None:
        number = getattr(type(value), "_strop_handle", None)
        if number is not None:
            self.out += tagged("ref", number(value))
        elif issubclass(type(value), tuple) and (classes := classes_of(type(value))):
            self.tag(("tuple", *classes, tuple(value)), depth)
        elif isinstance(value, type) and value in self.session.numbers:
            self.out += tagged("ref", self.session.numbers[value])
        else:
            super().beyond(value, why, depth)
