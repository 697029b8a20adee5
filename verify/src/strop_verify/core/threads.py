"""What runs in a thread, as a future."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def fill(future: "Future[T]", do: Callable[[], T]) -> None:
    """Calls the function; what it returns or raises is the future's."""
    try:
        result = do()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def begun(do: Callable[[], T], name: str) -> "Future[T]":
    """The function's result, from a thread of its own of that name, which keeps no process alive: it is left alone when
    it takes too long.
    """
    future: Future[T] = Future()
    threading.Thread(target=fill, args=(future, do), daemon=True, name=name).start()
    return future
