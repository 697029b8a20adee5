"""Stand-ins for the answer's module, classes, functions and objects, in the tests' process.

What a test does with a proxy is done with the object in the candidate's process; values come back as exact builtin
types. Python lets the left operand decide a comparison, so an object of a hostile class could call itself equal to the
expected value, or compute with it until only the desired result is left. Hence, for operators:

1. An object whose class the tests have not taken from the module by name is unequal to every plain value, and any other
   operator on it is a breach (see `Session`). This stops a class that the answer made up to pass for a number.
2. Where the tests know its class, an object that calls itself equal to a plain value is a breach as well, and so is
   arithmetic with a plain value that gives a plain value, directly or through an intermediate object.
3. An object whose class the tests do not know must keep its length, and give as many items, as long as nothing was
   called or set.
4. An object that calls itself equal to another one and to a fresh random text or a foreign object is a breach, and so
   are two that are both equal and unequal.

Not covered here: the answer decides how two objects compare and what a method or an attribute returns. `second_look`
checks this if the task has a reference.
"""

import dis
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from strop_verify.verification.python.codec import Malformed, Unencodable
from strop_verify.verification.python.suite.handles import BINARY
from strop_verify.verification.python.suite.session import Session, classes_of
from strop_verify.verification.python.values import VALUE_METHODS


class Remote:
    """An object of the answer. Its class, classes and kind are claims of the candidate."""

    __slots__ = (
        "__weakref__", "_strop_classes", "_strop_length", "_strop_mixed", "_strop_number", "_strop_session",
    )  # fmt: skip
    __doc__ = None
    _strop_session: Session
    _strop_number: int
    _strop_classes: tuple[int, ...]

    def __init__(self, session: Session, number: int, classes: tuple[int, ...]) -> None:
        set_slot = object.__setattr__
        set_slot(self, "_strop_session", session)
        set_slot(self, "_strop_number", number)
        set_slot(self, "_strop_classes", classes)
        set_slot(self, "_strop_mixed", False)
        set_slot(self, "_strop_length", (-1, 0))

    def _strop_handle(self) -> int:
        return self._strop_number

    def __getattr__(self, name: str) -> Any:
        found = self._strop_session.ask("get", self._strop_handle(), name=name)
        if name in VALUE_METHODS and not _named(self):
            self._strop_session.fault(f"{name} of an object of a class that the tests do not name")
        if isinstance(found, RemoteClass) and isinstance(self, RemoteClass):
            _known(self._strop_session).add(found._strop_handle())
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self._strop_session.ask("set", self._strop_handle(), value, name=name)

    def __delattr__(self, name: str) -> None:
        self._strop_session.ask("del", self._strop_handle(), name=name)


class RemoteCallable(Remote):
    """An object of the answer that can be called."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        return self._strop_session.ask("call", self._strop_handle(), *args, kwargs=kwargs)


class RemoteClass(RemoteCallable):
    """A class of the answer other than an exception; works with `isinstance` and `issubclass`."""

    __slots__ = ()

    def __instancecheck__(self, instance: Any) -> bool:
        if isinstance(instance, Remote):
            return self._strop_handle() in instance._strop_classes
        return issubclass(type(instance), tuple) and self._strop_handle() in classes_of(type(instance))

    def __subclasscheck__(self, other: Any) -> bool:
        return isinstance(other, RemoteClass) and self._strop_handle() in other._strop_classes

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        self._strop_session.fault("a class of the tests cannot extend one of the answer")
        raise TypeError("a class of the tests cannot extend one of the answer")


class RemoteModule(types.ModuleType):
    """The answer's module. `from module import *` imports public names except those in `hidden`.

    `used`: names that occur in the tests; they do not know a class by any other name.
    """

    def __init__(self, name: str, session: Session, hidden: frozenset[str], used: frozenset[str]) -> None:
        super().__init__(name)
        self.__dict__["_strop"] = (session, hidden, used)

    def __getattr__(self, name: str) -> Any:
        session, hidden, used = self.__dict__["_strop"]
        if name == "__all__":
            return _public(session, hidden)
        if name.startswith("__"):
            raise AttributeError(name)
        found = session.ask("get", 0, name=name)
        if isinstance(found, RemoteClass) and name in used:
            _known(session).add(found._strop_handle())
        if isinstance(found, Remote):
            session.direct.add(found._strop_handle())
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            self.__dict__["_strop"][0].ask("set", 0, value, name=name)

    def __delattr__(self, name: str) -> None:
        self.__dict__["_strop"][0].ask("del", 0, name=name)


def make(session: Session, number: int, about: dict[str, Any]) -> Remote:
    """The proxy of a handle that the candidate describes."""
    classes = about.get("m")
    if type(classes) is not list or not all(type(c) is int for c in classes):
        raise Malformed("bad handle")
    kind = RemoteClass if "k" in about else RemoteCallable if about.get("c") is True else Remote
    return kind(session, number, tuple(classes))


def _known(session: Session) -> set[int]:
    """Numbers of the classes that the tests have taken from the module by name."""
    return session.__dict__.setdefault("named", set())  # type: ignore[no-any-return]


def _named(proxy: Any) -> bool:
    return not _known(proxy._strop_session).isdisjoint((*proxy._strop_classes, proxy._strop_handle()))


def _public(session: Session, hidden: frozenset[str]) -> list[str]:
    names = session.ask("do", 0, name="__dir__")
    bad = ("_", "test", "Test", "pytest", "setup", "teardown", "setUp", "tearDown")
    known = [name for name in names if type(name) is str and name.isidentifier()]
    return [name for name in known if name not in hidden and not name.startswith(bad)]


def _do(proxy: Remote, name: str, *args: Any) -> Any:
    return proxy._strop_session.ask("do", proxy._strop_handle(), *args, name=name)


def _refuse(proxy: Remote, name: str) -> TypeError:
    proxy._strop_session.fault(f"{name} on an object of the answer where the tests may expect a plain value")
    return TypeError(f"{name} of this object does not cross")


def _says_true(proxy: Remote, name: str, other: Any) -> bool:
    """Whether the comparison holds; one that raises does not."""
    try:
        return _do(proxy, name, other) is True
    except Exception:
        return False


def _equals_anything(proxy: Remote) -> bool:
    """Whether the object calls itself equal to a fresh random text, or to an object of another class."""
    text = proxy._strop_session.draws.randbytes(8).hex()
    return any(_says_true(proxy, "__eq__", other) for other in (text, lambda: None))


def _equality(name: str) -> Callable[[Remote, Any], bool]:
    differs = name == "__ne__"

    def compare(self: Remote, other: Any) -> bool:
        if self is other and not _named(self):
            return not differs
        remote = isinstance(other, Remote)
        if not remote and not _named(self):
            return differs
        try:
            self._strop_session.encode(other)
        except Unencodable:
            return differs
        found = _do(self, name, other)
        if type(found) is not bool:
            raise _refuse(self, name)
        if remote and _named(self) and _named(other):
            if found and _says_true(self, "__eq__" if differs else "__ne__", other):
                self._strop_session.fault("two objects that are both equal and unequal")
            if found is not differs and _equals_anything(self):
                self._strop_session.fault("an object that is equal to everything")
        elif found is not differs:
            _refuse(self, name)
        return bool(found)

    return compare


def _order(name: str) -> Callable[[Remote, Any], bool]:
    def compare(self: Remote, other: Any) -> bool:
        if not isinstance(other, Remote) or not _named(self) or not _named(other):
            raise _refuse(self, name)
        found = _do(self, name, other)
        if type(found) is not bool:
            raise _refuse(self, name)
        return found

    return compare


def _arithmetic(name: str) -> Callable[[Remote, Any], Any]:
    def compute(self: Remote, other: Any) -> Any:
        if not _named(self):
            raise _refuse(self, name)
        found = _do(self, name, other)
        if not isinstance(other, Remote) or self._strop_mixed or other._strop_mixed:
            if not isinstance(found, Remote):
                raise _refuse(self, name)
            object.__setattr__(found, "_strop_mixed", True)
        return found

    return compute


def _numeric(name: str) -> Callable[..., Any]:
    def compute(self: Remote, *args: Any) -> Any:
        if not _named(self) or self._strop_mixed:
            raise _refuse(self, name)
        return _do(self, name, *args)

    return compute


def _forward(name: str) -> Callable[..., Any]:
    return lambda self, *args: _do(self, name, *args)


def _length(name: str) -> Callable[[Remote], Any]:
    def length(self: Remote) -> Any:
        found = _do(self, name)
        if type(found) is int and not _named(self):
            changes, before = self._strop_length
            if changes == self._strop_session.changes and before != found:
                self._strop_session.fault("an object whose length changes by itself")
            object.__setattr__(self, "_strop_length", (self._strop_session.changes, found))
        return found

    return length


def _iteration(name: str) -> Callable[[Remote], Any]:
    def iterate(self: Remote) -> Any:
        items = _do(self, name)
        if _named(self) or not isinstance(items, Remote):
            return items
        try:
            length = len(self)
        except Exception:  # it has none
            return items
        return _counted(self._strop_session, items, length)

    return iterate


def _counted(session: Session, items: Remote, length: int) -> Iterator[Any]:
    changes, count = session.changes, 0
    with suppress(StopIteration):
        while True:
            yield _do(items, "__next__")
            count += 1
    if session.changes == changes and count != length:
        session.fault("an object that does not give as many items as its length")


def _exit(name: str) -> Callable[..., Any]:
    def leave(self: Remote, kind: Any, error: Any, trace: types.TracebackType | None) -> bool:
        swallows = _do(self, name, kind, error, None)
        if error is None or not swallows:
            return False
        if isinstance(error, AssertionError) or not _raised_here(trace):
            self._strop_session.fault("a context manager of the answer swallows an exception of the test")
            return False
        return True

    return leave


def _raised_here(trace: types.TracebackType | None) -> bool:
    """Whether an exception comes from a `raise` of the frame that caught it: the test's own, inside its `with`."""
    if trace is None or trace.tb_next is not None:
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


for _make, _names in (
    (_equality, ["eq", "ne"]),
    (_order, ["lt", "le", "gt", "ge"]),
    (_arithmetic, [prefix + name for prefix in ("", "r", "i") for name in BINARY] + ["divmod"]),
    (_numeric, ["neg", "pos", "abs", "invert", "round", "index", "int", "float", "complex", "contains"]),
    (_length, ["len"]),
    (_iteration, ["iter", "reversed"]),
    (_forward, ["next", "hash", "bool", "repr", "str", "bytes", "format", "dir"]),
    (_forward, ["getitem", "setitem", "delitem", "enter", "copy", "deepcopy"]),
    (_exit, ["exit"]),
):
    for _name in _names:
        setattr(Remote, f"__{_name}__", _make(f"__{_name}__"))
