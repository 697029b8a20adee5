"""What effects start on: the verifier, threads, programs in jails and a folder for each play; and the life of
environments, which are set up and closed in the same threads, each with a deadline.

A thread that passes its deadline cannot be ended. A play whose `setup` does so ends as *infra*; where it comes back
late, its environment is closed then.
"""

import inspect
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from strop.core.errors import NotStarted, SandboxError
from strop.core.play import Ran, Run
from strop.core.protocols import Environment, Verifier
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.sandbox import Box, CommandResult, Folder, Limits, open_box

PROGRAMS = max(2, os.cpu_count() or 1)
"""Programs that run at the same time."""
THREADS = 256
"""Calls that go on at the same time; others wait."""
NOT_STARTED = 127
"""The status of what can't be started, as in a shell."""
OUTPUT = 1 << 16
"""Most bytes that a program may print."""
OpenBox = Callable[[], Box]
OpenFolder = Callable[[], Folder]
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
            try:
                result = do()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
            del item, future, do  # not while it waits


class SharedServices:
    """Of the plays of one call. Jails start with the first program."""

    def __init__(
        self, verifier: Verifier, open_one: OpenBox = open_box, open_folder: OpenFolder = Folder
    ) -> None:
        self.verifier, self.open_folder = verifier, open_folder
        self.threads = Threads()
        self.places = threading.Semaphore(PROGRAMS)
        self._open_one = open_one
        self._free: queue.SimpleQueue[Box] = queue.SimpleQueue()
        self._boxes: list[Box] = []
        self._closed = False

    def run(self, program: Run) -> Ran:
        """A program in a work directory that is thrown away."""
        with self.places:
            box = self._box()
            try:
                with box.work(program.files) as work:
                    return _ran(partial(work.run, profile="build"), program)
            except ValueError as error:  # a file's name
                return _not_started(error)
            finally:
                self._free.put(box)  # one that broke has ended, and starts anew

    def _box(self) -> Box:
        try:
            return self._free.get_nowait()
        except queue.Empty:
            box = self._open_one()
        self._boxes.append(box)
        if self._closed:
            box.close()
            raise SandboxError("the plays are over")
        return box

    def close(self) -> None:
        """Ends every jail, and programs that still run with it."""
        self._closed = True
        for box in list(self._boxes):
            box.close()
        self.threads.close()


class PlayServices:
    """Of one play; see `core.play.Services`."""

    def __init__(self, shared: SharedServices) -> None:
        self._shared = shared
        self._folder: PlayFolder | None = None
        self._lock = threading.Lock()

    @property
    def folder(self) -> "PlayFolder":
        """Opened when it is first asked for."""
        with self._lock:
            if self._folder is None:
                self._folder = PlayFolder(self._shared.open_folder(), self._shared.places)
            return self._folder

    def verify(self, task: Task, answer: str) -> Future[Verdict]:
        """See `core.play.Services`."""
        return self._shared.verifier.submit(task, answer)

    def call(self, do: Callable[[], T]) -> Future[T]:
        """See `core.play.Services`."""
        return self._shared.threads.submit(do)

    def run(self, program: Run) -> Future[Ran]:
        """See `core.play.Services`."""
        return self.call(lambda: self.folder.play(program) if program.lasting else self._shared.run(program))

    @property
    def used(self) -> bool:
        """Whether it has a folder."""
        return self._folder is not None

    def close(self) -> None:
        """Ends what runs in the folder, and removes it."""
        if self._folder is not None:
            self._folder.close()


class PlayFolder:
    """See `core.play.Folder`."""

    def __init__(self, inner: Folder, places: threading.Semaphore) -> None:
        self._inner, self._places = inner, places
        self.close = inner.close

    def put(self, files: Mapping[str, str | bytes], *, executable: Collection[str] = ()) -> None:
        """See `core.play.Folder`."""
        self._inner.put(files, executable=executable)

    def read(self, name: str, *, limit: int = 1 << 20) -> bytes:
        """See `core.play.Folder`."""
        return self._inner.read(name, limit=limit)

    def files(self) -> dict[str, int]:
        """See `core.play.Folder`."""
        return {name: info.size for name, info in self._inner.files().items()}

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        seconds: float = 10.0,
        memory_bytes: int = 1 << 30,
        environment: Mapping[str, str] | None = None,
    ) -> Ran:
        """See `core.play.Folder`."""
        program = Run(tuple(argv), stdin=stdin, seconds=seconds, memory_bytes=memory_bytes)
        with self._places:
            return _ran(partial(self._inner.run, environment=environment), program, self._inner.limits)

    def play(self, program: Run) -> Ran:
        """Puts a program's files, and runs it."""
        try:
            self.put(program.files)
        except (NotStarted, ValueError) as error:
            return _not_started(error)
        with self._places:
            return _ran(self._inner.run, program, self._inner.limits)


def _ran(run: Callable[..., CommandResult], program: Run, bounds: Limits | None = None) -> Ran:
    """How a program ended. Raises SandboxError where the jail broke."""
    limits = replace(
        bounds or Limits(),
        cpu_seconds=program.seconds,
        wall_seconds=3 * program.seconds,
        memory_bytes=program.memory_bytes,
        output_bytes=OUTPUT,
    )
    try:
        result = run(program.argv, stdin=program.stdin.encode(), limits=limits)
    except (NotStarted, ValueError) as error:  # the policy may have chosen program, files and input
        return _not_started(error)
    except (SandboxError, OSError) as error:
        raise SandboxError(f"a program could not be run: {error}") from error
    return Ran(
        status=result.status,
        output=result.stdout.decode(errors="replace"),
        errors=result.stderr.decode(errors="replace"),
        expired=result.expired,
        seconds=result.seconds,
    )


def _not_started(error: Exception) -> Ran:
    return Ran(status=NOT_STARTED, output="", errors=str(error), expired="", seconds=0.0)


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
