"""What effects start on: the verifier, threads, programs in jails and a folder for each play; and the life of
environments, which are set up and closed in the same threads, each with a deadline.

A thread that passes its deadline cannot be ended. A play whose `setup` does so ends as *infra*; where it comes back
late, its environment is closed then.
"""

import inspect
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, TypeVar

from strop.environments.surroundings import Surroundings
from strop_verify.core.errors import SandboxError
from strop_verify.core.play import Ran, Run
from strop_verify.core.protocols import Environment, Verifier
from strop_verify.core.task import Task
from strop_verify.core.threads import fill
from strop_verify.core.verdict import Verdict
from strop_verify.sandbox.programs import PlayFolder, Programs

THREADS = 256
"""Calls that go on at the same time; others wait."""
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Threads:
    """Calls functions in threads that keep no process alive."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._count = 0

    def submit(self, do: Callable[[], T]) -> "Future[T]":
        """Begins at once, or when a thread is free."""
        future: Future[T] = Future()
        self._asked.put((future, do))
        if not self._idle.acquire(blocking=False) and self._count < THREADS:
            self._count += 1
            threading.Thread(target=self._work, daemon=True, name="play").start()
        return future

    def close(self) -> None:
        """Ends those that have nothing to do, and the others when they are done."""
        for _ in range(self._count):
            self._asked.put(None)

    def _work(self) -> None:
        while True:
            try:
                item = self._asked.get_nowait()
            except queue.Empty:
                self._idle.release()
                item = self._asked.get()
            if item is None:
                return
            future, do = item
            if not future.set_running_or_notify_cancel():
                continue
            fill(future, do)
            del item, future, do  # not while it waits


class PlayServices:
    """Of one play; see `core.play.Services`."""

    def __init__(
        self,
        verifier: Verifier,
        threads: Threads,
        programs: Programs,
        surroundings: Callable[[], Surroundings] = Surroundings,
    ) -> None:
        """`surroundings`: what programs in its folder find, asked for when it is opened."""
        self._verifier, self._threads, self._programs = verifier, threads, programs
        self._surroundings = surroundings
        self._folder: PlayFolder | None = None
        self._closed = False
        self._lock = threading.Lock()

    @property
    def folder(self) -> PlayFolder:
        """Opened when it is first asked for. Raises SandboxError once the play is closed."""
        with self._lock:
            if self._closed:
                raise SandboxError("the play was closed")
            if self._folder is None:
                found = self._surroundings()
                self._folder = self._programs.folder(found.read, found.environment)
            return self._folder

    def verify(self, task: Task, answer: str) -> Future[Verdict]:
        """See `core.play.Services`."""
        return self._verifier.submit(task, answer)

    def call(self, do: Callable[[], T]) -> Future[T]:
        """See `core.play.Services`."""
        return self._threads.submit(do)

    def run(self, program: Run) -> Future[Ran]:
        """See `core.play.Services`."""
        return self.call(lambda: (self.folder.play if program.lasting else self._programs.run)(program))

    @property
    def used(self) -> bool:
        """Whether it has a folder."""
        return self._folder is not None

    def close(self) -> None:
        """Ends what runs in the folder, and removes it. What is about to open it gets an error."""
        with self._lock:
            self._closed = True
        if self._folder is not None:
            self._folder.close()


class Lifecycle:
    """Sets up and closes the environments of some plays, and what their services hold."""

    def __init__(self, threads: Threads, close_seconds: float) -> None:
        self._threads, self._close_seconds = threads, close_seconds
        self._closing: dict[Future[None], float] = {}
        """When each must have come to its end."""

    def set_up(self, environment: Environment, services: PlayServices) -> "Future[None] | None":
        """Begins to set up; None where there is nothing to do."""
        setup = getattr(environment, "setup", None)
        if setup is None:
            return None
        takes = [p for p in inspect.signature(setup).parameters.values() if p.default is p.empty]
        return self._threads.submit(partial(setup, services) if takes else setup)

    def close(
        self, environment: Environment, services: PlayServices, before: "Future[Any] | None", *, held: bool
    ) -> None:
        """Begins to close, as soon as `before`, a call of the environment that goes on, has come to its end.

        held  whether it was set up
        """
        if held or hasattr(environment, "close") or services.used:
            closing = self._threads.submit(partial(_close, environment, services, before))
            self._closing[closing] = time.monotonic() + self._close_seconds
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
                _log.warning("an environment was not closed: %s: %s", type(error).__name__, error)
            return True
        if time.monotonic() > at:
            _log.warning("an environment was not closed: it took more than %g s", self._close_seconds)
            return True
        return False


def _close(environment: Environment, services: PlayServices, before: "Future[Any] | None") -> None:
    if before is not None and not before.done():
        services.close()  # ends a program that it waits for
        wait([before])
    try:
        getattr(environment, "close", lambda: None)()
    finally:
        services.close()
