"""Runs functions in threads, with their results as futures."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def fill(future: "Future[T]", do: Callable[[], T]) -> None:
    """Calls the function and sets its result or its exception on the future."""
    try:
        result = do()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def begun(do: Callable[[], T], name: str) -> "Future[T]":
    """Runs the function in a new daemon thread of that name and returns its result as a future. A thread that takes too
    long does not keep the process alive.
    """
    future: Future[T] = Future()
    threading.Thread(target=fill, args=(future, do), daemon=True, name=name).start()
    return future
