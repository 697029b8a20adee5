"""Gives an answer the streams, names and limits that plain Python would give it.

The zygote was started without `site`, its streams are not those of a program, and an answer runs some calls deep in it.
This module makes up for that before the first fork.
"""

import _thread
import io
import os
import resource
import site
import sys
from collections.abc import Callable
from typing import Any

_MOST_DEPTH = 2**31 - 1
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/"}


def prepare() -> None:
    """Runs in the zygote before the first fork: sets up what candidates share. Streams use descriptors by number."""
    aside = [os.dup(fd) for fd in range(3)]
    near, far = os.pipe()
    with open(os.__file__, "rb") as file:  # streams remember that input is seekable and output is not
        for fd, like in enumerate((file.fileno(), far, far)):
            os.dup2(like, fd)
    sys.stdin = sys.__stdin__ = _stream(0, "r", "<stdin>", "surrogateescape")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "w", "<stdout>", "surrogateescape")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "w", "<stderr>", "backslashreplace")  # type: ignore[misc]
    for fd, old in enumerate(aside):
        os.dup2(old, fd)
        os.close(old)
    os.close(near)
    os.close(far)
    os.environ.clear()
    os.environ.update(_ENVIRONMENT)
    sys.argv = ["answer.py"]
    site.setquit()
    site.setcopyright()
    site.sethelper()
    _Depth.install()
    _thread.stack_size = _with_room(_thread.stack_size)
    for name in ("start_new_thread", "start_joinable_thread"):  # the latter since Python 3.13
        if hasattr(_thread, name):
            setattr(_thread, name, _with_room(getattr(_thread, name)))


def _stream(fd: int, mode: str, name: str, errors: str) -> io.TextIOWrapper:
    """As CPython's `create_stdio`."""
    binary: Any = open(fd, f"{mode}b", closefd=False)  # noqa: SIM115
    binary.raw.name = name
    stream = io.TextIOWrapper(binary, "utf-8", errors, newline="\n", line_buffering=fd == 2)
    stream.mode = mode  # type: ignore[misc]
    return stream


class _Depth:
    """The recursion limit, counted from where the answer begins."""

    get, set = sys.getrecursionlimit, sys.setrecursionlimit
    limit, below = 1000, 8
    """`below`: frames below a function; counting them in each candidate would take 0.1 ms."""

    @classmethod
    def install(cls) -> None:
        cls.limit = cls.get()
        cls.set(cls.limit + cls.below)
        sys.getrecursionlimit, sys.setrecursionlimit = _get_limit, _set_limit

    @classmethod
    def begin(cls, calls: int) -> None:
        """In the candidate: a program will run this many calls below the caller."""
        frame: Any = sys._getframe(1)
        cls.below = calls
        while (frame := frame.f_back) is not None:
            cls.below += 1
        cls.set(cls.limit + cls.below)


begin = _Depth.begin


def _get_limit() -> int:
    """Return the current value of the recursion limit."""
    return _Depth.limit


def _set_limit(limit: int, /) -> None:
    """Set the maximum depth of the Python interpreter stack to n."""
    number = limit.__index__() if hasattr(limit, "__index__") else limit
    right = type(number) is int and 0 < number <= _MOST_DEPTH
    _Depth.set(min(number + _Depth.below, _MOST_DEPTH) if right else limit)
    _Depth.limit = number


def _with_room(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps the function to lift the address-space limit first: threads' reserved stacks use no memory."""

    def with_room(*arguments: Any, **options: Any) -> Any:
        if arguments or options:
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        return function(*arguments, **options)

    with_room.__name__ = with_room.__qualname__ = function.__name__
    with_room.__doc__ = function.__doc__
    return with_room
