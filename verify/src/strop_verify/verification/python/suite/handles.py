"""The candidate's side of a module that lives apart from its tests: objects as handles, values as exact builtin types.

Runs in the candidate's process, which the answer may take over entirely; whatever it sends is only a claim.
A value crosses as itself if `verification.python.values` supports it; any other object of the answer gets a number and
crosses with the tag "ref": number, {"m": numbers of its classes, "c": callable, "k": its name and bases if it is an
exception class, or None for another class}; later by its number alone. A plain named tuple crosses as a value with the
number of its class, under the tag "tuple".

Takes {"i", "op", "h", ...} (get, set, del, call, do: see OPERATIONS) and answers {"i", "v" or "x", "o", "e"}: value or
exception, and what was printed. A call of a function of the tests sends {"cb": number, "a", "k"} and waits for {"r"} or
{"x"}, serving further requests meanwhile. Values are fields of bytes.
"""

import copy
import io
import operator
import sys
import types
from collections.abc import Callable, Collection
from typing import Any

from strop_verify.verification.python.codec import encode, tagged
from strop_verify.verification.python.decoder import decode
from strop_verify.verification.python.functions import StandIns
from strop_verify.verification.python.nearest import nearest
from strop_verify.verification.python.values import ValueEncoder, changed, named_tuple_parts

_Receive = Callable[[], Any]
_Send = Callable[[dict[str, Any]], None]


def _method(name: str) -> Callable[..., Any]:
    return lambda value, *args: getattr(type(value), name)(value, *args)


def _reflected(operation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value, other: operation(other, value)


BINARY = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor",
)  # fmt: skip
_SIMPLE = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "index", *BINARY)
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{f"__{n}__": getattr(operator, f"__{n}__") for n in _SIMPLE},
    **{f"__r{n}__": _reflected(getattr(operator, f"__{n}__")) for n in BINARY},
    **{f"__i{n}__": getattr(operator, f"__i{n}__") for n in BINARY},
    **{f"__{f.__name__}__": f for f in (len, iter, next, hash, bool, repr, str, int, float, complex, bytes)},
    **{f"__{f.__name__}__": f for f in (round, reversed, divmod, format, dir)},
    **{f"__{n}__": getattr(operator, n) for n in ("getitem", "setitem", "delitem", "contains")},
    "__enter__": _method("__enter__"),
    "__exit__": _method("__exit__"),
    "__copy__": copy.copy,
    "__deepcopy__": lambda value, memo: copy.deepcopy(value),
}
"""The operations that `do` may request, by the name of the special method."""


class _RefEncoder(ValueEncoder):
    answers = True

    def __init__(self, table: "Table") -> None:
        super().__init__()
        self.table = table

    def beyond(self, value: Any, why: str, depth: int) -> None:
        if depth > 0 and isinstance(value, tuple) and (parts := named_tuple_parts(value)):
            self.tag(("tuple", self.table.number(type(value)), *parts), depth)
        else:
            super().beyond(value, why, depth)

    def further(self, value: Any, why: str, depth: int) -> None:
        if depth > 0 and self.table.stands_in(value) and (plain := nearest(value)) is not None:
            self.put((plain,), depth - 1)
        else:
            self.out += self.table.own(value) or self.table.ref(value)


class Table(StandIns):
    """The objects that the tests hold, by number; 0 is the module. They live as long as the process."""

    def __init__(self, receive: _Receive, send: _Send, named: Collection[str] | None = None) -> None:
        """`named`: names that the tests use; objects of other classes cross as the nearest plain value."""
        super().__init__(receive, send)
        self.named = None if named is None else frozenset(named)
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.described: set[int] = {0}
        """Numbers whose objects the tests know; a class may have a number before it is sent itself."""

    def stands_in(self, value: Any) -> bool:
        """Whether a plain value may replace the object."""
        own = (c.__name__ for c in type(value).__mro__ if c.__module__ != "builtins")
        return self.named is not None and self.named.isdisjoint(own)

    def number(self, value: Any) -> int:
        """The number of an object, assigned the first time."""
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return self.numbers[id(value)]

    def ref(self, value: Any) -> bytes:
        """The bytes of a handle."""
        number = self.number(value)
        if number in self.described:
            return tagged("ref", number)
        self.described.add(number)
        classes = [self.number(c) for c in type(value).__mro__[:50] if c.__module__ != "builtins"]
        about: dict[str, Any] = {"m": classes, "c": callable(value)}
        if isinstance(value, type):
            about["m"] = [self.number(c) for c in value.__mro__[:50] if c.__module__ != "builtins"]
            about["k"] = self._exception_class(value) if issubclass(value, BaseException) else None
        return tagged("ref", number, about)

    def _exception_class(self, kind: type) -> list[Any]:
        bases = [self._named(base) for base in kind.__bases__]
        return [self.number(kind), kind.__name__, bases]

    def _named(self, kind: type) -> Any:
        return kind.__name__ if kind.__module__ == "builtins" else self._exception_class(kind)

    def encode(self, value: Any) -> bytes:
        """The bytes of any value."""
        return _RefEncoder(self).whole(value)

    def decode(self, data: bytes) -> Any:
        """A value from the tests."""
        return decode(data, self._special)

    def _special(self, kind: str, inner: list[Any]) -> Any:
        if kind == "ref":
            return self.objects[inner[0]]
        if kind == "tuple":
            return tuple.__new__(self.objects[inner[0]], inner[1])
        return self.special(kind, inner)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carries out one request."""
        reply: dict[str, Any] = {"i": request["i"]}
        try:
            args = [self.decode(a) for a in request.get("a", [])]
            reply["v"] = self.encode(self._do(request, args))
            if request.get("m") and (after := changed(args, request["a"], self.encode)) != request["a"]:
                reply["m"] = after
        except BaseException as error:
            reply.pop("v", None)
            reply["x"] = self.describe(error)
        return reply | _printed()

    def _do(self, request: dict[str, Any], args: list[Any]) -> Any:
        subject, operation = self.objects[request["h"]], request["op"]
        if operation == "call":
            return subject(*args, **self.decode(request["k"]))
        if operation == "get":
            return getattr(subject, request["n"])
        if operation == "set":
            return setattr(subject, request["n"], args[0])
        if operation == "del":
            return delattr(subject, request["n"])
        return OPERATIONS[request["n"]](subject, *args)

    def describe(self, error: BaseException) -> list[Any]:
        """[class name or [number, name, bases], text, arguments, attributes]."""
        kind = type(error)
        try:
            text = str(error)[:1000]
        except BaseException:
            text = "(its text is unavailable)"
        try:
            return [self._named(kind), text, self.encode(list(error.args)), self.encode(dict(vars(error)))]
        except BaseException:
            return ["RuntimeError", text, encode([text]), encode({})]


class _Tee(io.TextIOBase):
    """Writes to the original stream, and keeps the text for the tests' own capturing."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.kept = inner, io.StringIO()

    def write(self, text: str) -> int:
        self.kept.write(text)
        return int(self.inner.write(text))

    def flush(self) -> None:
        self.inner.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def take(self) -> str:
        text, self.kept = self.kept.getvalue(), io.StringIO()
        return text


def _printed() -> dict[str, str]:
    printed = {}
    for key, stream in (("o", sys.stdout), ("e", sys.stderr)):
        if type(stream) is _Tee and (text := stream.take()):
            printed[key] = text
    return printed


def serve(job: dict[str, Any], receive: _Receive, send: _Send, describe: Callable[[Any], Any]) -> None:
    """Builds and loads the module, then serves requests until the channel closes (Closed from `receive`)."""
    module = types.ModuleType(job["module"])
    sys.modules[job["module"]] = module
    sys.stdout, sys.stderr = _Tee(sys.stdout), _Tee(sys.stderr)
    try:
        compiled = compile(job["code"], "<answer>", "exec", dont_inherit=True)
    except BaseException as error:
        return send({"build": describe(error)})
    send({"built": True})
    table = Table(receive, send, job.get("near"))
    table.number(module)
    try:
        exec(compiled, module.__dict__)
    except BaseException as error:
        return send({"load": describe(error)})
    send({"loaded": True})
    while True:
        table.send(table.answer(table.receive()))
