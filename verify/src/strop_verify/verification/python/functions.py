"""Functions and iterators across the trust boundary: each stays where it is, and the other side gets a stand-in.

The stand-in of a function is a function, that of an iterator a generator. Arguments, results and exceptions cross like
any value, so neither side runs the other's code. Functions are numbered; an iterator goes by the number of its
`__next__`, an in-memory file by those of its methods. The answer calls a function of the tests with {"cb": number, "a",
"k"}, then serves requests until it gets {"r": value} or {"x": [builtin class, text]}. Standard library only.
"""

import builtins
import functools
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO, StringIO
from typing import Any

from strop_verify.verification.python.codec import Malformed, Unencodable, tagged
from strop_verify.verification.python.values import ValueEncoder, made

_FUNCTIONS = (
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType, functools.partial,
)  # fmt: skip
_OF_ITERATORS = ("builtins", "itertools", "_collections")
"""Modules whose iterators the tests may pass, which excludes the tests' own classes and mocks."""
_OF_FILES = ("read", "readline", "readlines", "write", "writelines", "getvalue", "close", "__next__")
"""What an answer may do with an in-memory file; `seek` could make it gigabytes long."""


class ObjectTable:
    """Functions and iterators of one side that the other may call; the table keeps them alive."""

    def __init__(self, first: Sequence[Any] = ()) -> None:
        self.functions: list[Any] = [*first]
        self._kept: list[Any] = [*first]
        self._numbers: dict[int, int] = {}

    def number_of(self, value: Any) -> int:
        """The number of a function, or of an iterator's `__next__`: the same each time."""
        if id(value) not in self._numbers:  # a kept object keeps its id
            self._numbers[id(value)] = len(self.functions)
            self._kept.append(value)
            self.functions.append(value.__next__ if isinstance(value, Iterator) else value)
        return self._numbers[id(value)]

    def __getitem__(self, number: Any) -> Any:
        """The function with this number, which may be hostile. Raises Malformed."""
        if type(number) is not int or not 0 <= number < len(self.functions):
            raise Malformed("a call of an unknown function")
        return self.functions[number]

    def original(self, number: Any) -> Any:
        """The function or iterator with this number. Raises Malformed."""
        self[number]
        return self._kept[number]


def is_function(value: Any) -> bool:
    """Whether the value is a function rather than another callable."""
    return type(value) in _FUNCTIONS


class TestsEncoder(ValueEncoder):
    """Encodes what the tests pass to an answer."""

    def __init__(self, functions: ObjectTable) -> None:
        super().__init__()
        self.functions = functions

    def further(self, value: Any, why: str, depth: int) -> None:
        """Writes functions, mocks (as functions), iterators, in-memory files and exceptions. Raises Unencodable."""
        kind = type(value)
        name = str(value.__name__) if kind is types.BuiltinFunctionType else ""
        if name and vars(builtins).get(name) is value:
            self.out += tagged("name", name)
        elif isinstance(value, BaseException) and kind.__module__ == "builtins":
            self.out += tagged("exc", kind.__name__, *value.args)
        elif is_function(value):
            self.out += tagged("cb", self.functions.number_of(value))
        elif isinstance(value, Iterator) and kind.__module__ in _OF_ITERATORS:
            self.out += tagged("iter", self.functions.number_of(value))
        elif issubclass(kind, getattr(sys.modules.get("unittest.mock"), "CallableMixin", ())):
            call = value.__call__  # a mock itself must not come back
            self.out += tagged("cb", self.functions.number_of(call))
        elif kind is StringIO or kind is BytesIO:
            methods = (getattr(value, name) for name in _OF_FILES)
            self.out += tagged("file", *map(self.functions.number_of, methods))
        else:
            super().further(value, why, depth)


def items_of(following: Callable[[], Any]) -> Iterator[Any]:
    """Yields what the function returns until it raises StopIteration."""
    while True:
        try:
            item = following()
        except StopIteration:
            return
        yield item


def decoded(parts: Any, decode: Callable[[bytes], Any]) -> list[Any]:
    """The values of a list of bytes. Raises Malformed."""
    if type(parts) is not list or not all(type(part) is bytes for part in parts):
        raise Malformed("not a list of values")
    return [decode(part) for part in parts]


def called_back(
    message: dict[str, Any],
    functions: ObjectTable,
    encode: Callable[[Any], bytes],
    decode: Callable[[Any], Any],
    fault: Callable[[str], None],
) -> dict[str, Any]:
    """In the tests' process: calls the function that a hostile answer asks for; returns the reply. Raises Malformed.

    An assertion that fails in it fails the test, whatever the answer does with the exception.
    """
    function, kwargs = functions[message["cb"]], decode(message.get("k"))
    args = decoded(message.get("a"), decode)
    if type(kwargs) is not dict or not all(type(key) is str for key in kwargs):
        raise Malformed("malformed keyword arguments")
    try:
        return {"r": encode(function(*args, **kwargs))}
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        if isinstance(error, AssertionError | Unencodable):
            fault(f"{type(error).__name__} in a function of the tests")
        known = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
        return {"x": [known, str(error)[:300]]}


def _file(*methods: Callable[..., Any]) -> Any:
    """In the answer's process: the stand-in of an in-memory file."""
    own = dict(zip(_OF_FILES, map(staticmethod, methods), strict=True))
    itself = dict.fromkeys(("__iter__", "__enter__"), lambda self: self)
    return type("File", (), {**own, **itself, "__exit__": lambda self, *_: self.close()})()


class StandIns:
    """In the answer's process: stand-ins of the tests' functions and iterators, one for each."""

    def __init__(self, receive: Callable[[], Any], send: Callable[[dict[str, Any]], None]) -> None:
        self.receive, self.send = receive, send
        self._stand_ins: dict[int, Any] = {}
        self._stand_in_numbers: dict[int, int] = {}

    def stand_in(self, tag: str, number: int) -> Any:
        """The stand-in with this number."""
        if number not in self._stand_ins:
            function = self._function(number)
            made = self._stand_ins[number] = items_of(function) if tag == "iter" else function
            self._stand_in_numbers[id(made)] = number
        return self._stand_ins[number]

    def own(self, value: Any) -> bytes:
        """The bytes of a stand-in, which the tests decode to their original; empty for anything else."""
        number = self._stand_in_numbers.get(id(value))
        return b"" if number is None else tagged("own", number)

    def special(self, kind: str, inner: list[Any]) -> Any:
        """The value of one of `TestsEncoder`'s tags. Raises Malformed."""
        if kind == "cb" or kind == "iter":
            return self.stand_in(kind, inner[0])
        if kind == "file":
            return _file(*(self.stand_in("cb", number) for number in inner))
        if kind == "name":
            return getattr(builtins, inner[0])
        if kind == "exc":
            return getattr(builtins, inner[0])(*inner[1:])
        if (value := made(kind, inner, answers=False)) is NotImplemented:
            raise Malformed("unknown tag")
        return value

    def _function(self, number: int) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            self.send({"cb": number, "a": [self.encode(a) for a in args], "k": self.encode(kwargs)})
            while "r" not in (message := self.receive()) and "x" not in message:
                self.send(self.answer(message))
            if "x" in message:
                name, text = message["x"]
                raise getattr(builtins, name)(text)
            return self.decode(message["r"])

        return function

    def encode(self, value: Any) -> bytes:
        """The bytes of one of the answer's values."""
        raise NotImplementedError

    def decode(self, data: bytes) -> Any:
        """A value from the tests."""
        raise NotImplementedError

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carries out one request of the tests."""
        raise NotImplementedError
