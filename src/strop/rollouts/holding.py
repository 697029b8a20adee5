"""Sets up environments that hold something, and closes them, each in a thread of its own and with a deadline.

A thread that passes its deadline cannot be ended. A play whose `setup` does so ends as *infra*; where it comes back
late, its environment is closed then.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread

from strop.core.protocols import Environment, Holding

_log = logging.getLogger(__name__)


class Holders:
    """The environments of some plays."""

    def __init__(self, close_seconds: float) -> None:
        self._close_seconds = close_seconds
        self._closing: dict[Future[None], float] = {}
        """When each must have come to its end."""
        self.late = 0
        """Environments that were not closed in time, or raised."""

    def set_up(self, environment: Environment) -> "Future[None] | None":
        """Begins to set up; None where there is nothing to do."""
        return in_thread(environment.setup) if isinstance(environment, Holding) else None

    def close(self, environment: Environment, setup: "Future[None] | None") -> None:
        """Begins to close, as soon as the set-up has come to its end."""
        if setup is not None and isinstance(environment, Holding):
            self._closing[in_thread(lambda: _close(environment, setup))] = (
                time.monotonic() + self._close_seconds
            )
        self._closing = {future: at for future, at in self._closing.items() if not self._settled(future, at)}

    def finish(self) -> None:
        """Waits until all are closed, or late."""
        for future, at in self._closing.items():
            wait([future], timeout=max(0.0, at - time.monotonic()))
            self._settled(future, 0.0)
        self._closing.clear()

    def _settled(self, future: "Future[None]", at: float) -> bool:
        if future.done():
            if (error := future.exception()) is not None:
                self._note(f"{type(error).__name__}: {error}")
            return True
        if time.monotonic() > at:
            self._note(f"it took more than {self._close_seconds:g} s")
            return True
        return False

    def _note(self, cause: str) -> None:
        self.late += 1
        _log.warning("an environment was not closed: %s", cause)


def _close(environment: Holding, setup: "Future[None]") -> None:
    setup.exception()
    environment.close()


def in_thread(do: Callable[[], None]) -> "Future[None]":
    """Runs it in a thread that keeps no process alive."""
    future: Future[None] = Future()

    def work() -> None:
        try:
            do()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(None)

    future.set_running_or_notify_cancel()
    Thread(target=work, daemon=True, name="environment").start()
    return future
