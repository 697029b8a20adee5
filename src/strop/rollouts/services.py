"""Services for effects (the verifier, threads, jailed programs, a folder per play), and the life cycle of environments,
which the same threads set up and close, with deadlines.

A thread that misses its deadline cannot be stopped. A play whose `setup` is late ends as *infra*; its environment is
closed once `setup` returns.
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

from strop.config.schema import Recipe
from strop.environments.surroundings import Surroundings, surroundings_of
from strop_verify.core.errors import SandboxError, UserError
from strop_verify.core.play import Ran, Run
from strop_verify.core.protocols import Environment, Verifier
from strop_verify.core.task import Task
from strop_verify.core.threads import fill
from strop_verify.core.verdict import Verdict
from strop_verify.sandbox import Folder, Limits, open_box
from strop_verify.sandbox.image import open_image
from strop_verify.sandbox.programs import OpenBox, OpenFolder, PlayFolder, Programs

THREADS = 256
"""Maximum number of concurrent calls; others wait."""
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Threads:
    """Calls functions in daemon threads."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._count = 0

    def submit(self, do: Callable[[], T]) -> "Future[T]":
        """Calls `do` at once, or when a thread is free."""
        future: Future[T] = Future()
        self._asked.put((future, do))
        if not self._idle.acquire(blocking=False) and self._count < THREADS:
            self._count += 1
            threading.Thread(target=self._work, daemon=True, name="play").start()
        return future

    def close(self) -> None:
        """Ends idle threads now, and the others once they are done."""
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
            del item, future, do  # keep nothing alive while waiting


class PlayServices:
    """The services of one play; see `core.play.Services`."""

    def __init__(
        self,
        verifier: Verifier,
        threads: Threads,
        programs: Programs,
        surroundings: Callable[[], Surroundings] = Surroundings,
    ) -> None:
        """`surroundings` gives what programs in the folder see; it is called when the folder is opened."""
        self._verifier, self._threads, self._programs = verifier, threads, programs
        self._surroundings = surroundings
        self._folder: PlayFolder | None = None
        self._closed = False
        self._lock = threading.Lock()
        self.elsewhere: Callable[[], None] = lambda: None
        """Ends what the play has running on another machine; called first by `close`."""

    @property
    def folder(self) -> PlayFolder:
        """The play's folder, opened at first use. Raises SandboxError once the play is closed."""
        with self._lock:
            if self._closed:
                raise SandboxError("the play was closed")
            if self._folder is None:
                found = self._surroundings()
                self._folder = self._programs.folder(found.read, found.environment)
            return self._folder

    def verify(self, task: Task, answer: str) -> Future[Verdict]:
        """Submits an answer to the verifier; see `core.play.Services`."""
        return self._verifier.submit(task, answer)

    def call(self, do: Callable[[], T]) -> Future[T]:
        """Calls a function in a thread; see `core.play.Services`."""
        return self._threads.submit(do)

    def run(self, program: Run) -> Future[Ran]:
        """Runs a program in a jail; see `core.play.Services`."""
        return self.call(lambda: (self.folder.play if program.lasting else self._programs.run)(program))

    @property
    def used(self) -> bool:
        """Whether the folder was opened."""
        return self._folder is not None

    def close(self) -> None:
        """Ends what runs in the folder and removes the folder; later uses raise an error."""
        self.elsewhere()
        with self._lock:
            self._closed = True
        if self._folder is not None:
            self._folder.close()


def jails_of(recipe: Recipe) -> tuple[OpenBox, OpenFolder, Callable[[Task], Surroundings]]:
    """The functions that open the jails of plays' programs and of plays' folders, and one that returns what a task's
    programs see there. Raises UserError.
    """
    box, folder = recipe.sandbox, recipe.play.folder
    open_one = partial(open_box, jail=box.jail, allow_unsafe=box.allow_unsafe)
    if box.root:
        if folder.packages:
            raise UserError(
                "play.folder.packages belong to this machine and cannot be used with sandbox.root; remove them"
            )
        open_one = partial(open_one, image=open_image(box.root))
    limits = Limits(
        dir_bytes=folder.disk_mb << 20, file_bytes=folder.file_mb << 20, processes=folder.processes
    )

    def surroundings(task: Task) -> Surroundings:
        if box.root:
            return Surroundings(tuple(folder.read))
        return surroundings_of(task, folder.packages, folder.read)

    return open_one, partial(Folder, open_one, limits=limits), surroundings


class Lifecycle:
    """Sets up and closes environments and their services."""

    def __init__(self, threads: Threads, close_seconds: float) -> None:
        self._threads, self._close_seconds = threads, close_seconds
        self._closing: dict[Future[None], float] = {}
        """{running close: its deadline}."""

    def set_up(self, environment: Environment, services: PlayServices) -> "Future[None] | None":
        """Starts the set-up; None if the environment has none."""
        setup = getattr(environment, "setup", None)
        if setup is None:
            return None
        takes = [p for p in inspect.signature(setup).parameters.values() if p.default is p.empty]
        return self._threads.submit(partial(setup, services) if takes else setup)

    def close(
        self, environment: Environment, services: PlayServices, before: "Future[Any] | None", *, held: bool
    ) -> None:
        """Closes an environment once `before`, a running call of it, has ended. `held`: whether it was set up."""
        if held or hasattr(environment, "close") or services.used:
            closing = self._threads.submit(partial(close_play, environment, services, before))
            self._closing[closing] = time.monotonic() + self._close_seconds
        self._closing = {future: at for future, at in self._closing.items() if not self._settled(future, at)}

    def finish(self) -> None:
        """Waits until all environments are closed or their deadlines have passed."""
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


def close_play(environment: Environment, services: PlayServices, before: "Future[Any] | None") -> None:
    """Stops what a running call, `before`, may wait for; once it has ended, closes the environment and its services."""
    if before is not None and not before.done():
        services.close()  # ends a program that the call may wait for
        wait([before])
    try:
        getattr(environment, "close", lambda: None)()
    finally:
        services.close()
