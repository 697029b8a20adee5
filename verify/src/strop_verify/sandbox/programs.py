"""Runs programs that a policy chose, in a work directory for each or in a folder that lasts for a play.

A program that cannot be started has status 127, as in a shell: if it raised an error, a policy could discard its own
failures. SandboxError is for our own failures.
"""

import os
import queue
import socket
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial

from strop_verify.core.errors import NotStarted, SandboxError, UserError
from strop_verify.core.play import Ran, Run
from strop_verify.sandbox.box import Box, open_box
from strop_verify.sandbox.folder import Folder
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.work import CommandResult

AT_ONCE = max(2, os.cpu_count() or 1)
"""Programs that run at the same time."""
NOT_STARTED = 127
"""The status of a program that cannot be started, as in a shell."""
MOST_FOLDERS = 400
"""Maximum folders at a time: each has a process, and in most jails its own user."""
WARM = 16
"""Emptied folders to keep; with this many, opening a new folder closes an unsuitable one."""
PRINTED_BYTES = 4 << 30
"""Bytes that a program in a play's folder may print on a stream; reading 1 GB takes about a second."""
_NEVER = 1e6
"""Wall seconds of a program that is ended by another call."""
CLOSING_SECONDS = 20.0
"""How long a play waits for another's folder to be closed."""
OpenBox = Callable[[], Box]
OpenFolder = Callable[..., Folder]
"""Called with `read` and `environment`, as `Folder` is."""


class Programs:
    """Runs programs of many plays, from their threads. Jails start with the first program."""

    def __init__(self, open_one: OpenBox = open_box, open_folder: OpenFolder = Folder) -> None:
        self._open_one, self._open_folder = open_one, open_folder
        self._places = threading.Semaphore(AT_ONCE)
        self._free: queue.SimpleQueue[Box] = queue.SimpleQueue()
        self._boxes: list[Box] = []
        self._idle: list[tuple[Hashable, Folder]] = []
        """Emptied folders of finished plays, with their readable paths and environment."""
        self._closed = False
        self._folders, self._counting = 0, threading.Condition()

    def run(self, program: Run) -> Ran:
        """Runs a program in a work directory that is deleted afterwards."""
        with self._places:
            box = self._box()
            try:
                with box.work(program.files, read=program.read) as work:
                    return _ran(partial(work.run, profile="build"), program, Limits())
            except ValueError as error:  # an invalid file name
                return _not_started(error)
            finally:
                self._free.put(box)  # a broken box starts again when used

    def folder(self, read: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> "PlayFolder":
        """A folder for one play, whose programs can read these paths and have these variables.

        Raises UserError if too many are open.
        """
        key = tuple(read), tuple(sorted((environment or {}).items()))
        with self._counting:
            if not self._counting.wait_for(lambda: self._folders < MOST_FOLDERS, CLOSING_SECONDS):
                raise UserError(f"more than {MOST_FOLDERS} plays hold a folder; lower play.at_once")
            self._folders += 1
            number = next((n for n, (known, _) in enumerate(self._idle) if known == key), None)
            warm = None if number is None else self._idle.pop(number)[1]
            cold = self._idle.pop(0)[1] if warm is None and len(self._idle) >= WARM else None
        if cold is not None:
            cold.close()
        made = warm or self._open_folder(read=[*read], environment=environment)
        return PlayFolder(made, self._places, partial(self._gone, key))

    def _gone(self, key: Hashable, folder: Folder, broken: bool) -> None:
        """Takes back a play's folder; if it can be emptied, another play will use it in the same jail."""
        kept = False
        try:
            if not broken and not self._closed and folder.empty():
                with self._counting:
                    if kept := not self._closed:
                        self._idle.append((key, folder))
            if not kept:
                folder.close()
        finally:
            with self._counting:
                self._folders -= 1
                self._counting.notify()

    def close(self) -> None:
        """Ends all jails and the programs in them, except folders in use."""
        with self._counting:
            self._closed = True
            idle, self._idle = self._idle, []
        for box in list(self._boxes):
            box.close()
        for _, folder in idle:
            folder.close()

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


class PlayFolder:
    """See `core.play.JailedFolder`. After `close` no call reaches the folder behind it, which may be another play's."""

    def __init__(
        self, inner: Folder, places: threading.Semaphore, gone: Callable[[Folder, bool], None]
    ) -> None:
        self._inner, self._places, self._gone = inner, places, gone
        self._lock, self._calls, self._closed = threading.Lock(), 0, False

    def close(self) -> None:
        """Ends what runs in it and gives it back. Safe to call twice."""
        with self._lock:
            first, self._closed, calling = not self._closed, True, bool(self._calls)
        if first:
            self._gone(self._inner, calling)

    def put(self, files: Mapping[str, str | bytes], *, executable: Collection[str] = ()) -> None:
        """See `core.play.JailedFolder`."""
        with self._open() as inner:
            inner.put(files, executable=executable)

    def read(self, name: str, *, limit: int = 1 << 20) -> bytes:
        """See `core.play.JailedFolder`."""
        with self._open() as inner:
            return inner.read(name, limit=limit)

    def files(self) -> dict[str, int]:
        """See `core.play.JailedFolder`."""
        with self._open() as inner:
            return {name: info.size for name, info in inner.files().items()}

    def remove(self, names: Collection[str]) -> None:
        """See `core.play.JailedFolder`."""
        with self._open() as inner:
            inner.remove(names)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        seconds: float = 10.0,
        memory_bytes: int = 1 << 30,
        environment: Mapping[str, str] | None = None,
        waits: bool = False,
    ) -> Ran:
        """See `core.play.JailedFolder`."""
        program = Run(tuple(argv), stdin=stdin, seconds=seconds, memory_bytes=memory_bytes, lasting=True)
        with nullcontext() if waits else self._places, self._open() as inner:
            run = partial(inner.run, environment=environment)
            return _ran(run, program, inner.limits, wall=_NEVER if waits else None)

    def listen(self, read: Sequence[str] = ()) -> socket.socket:
        """See `core.play.JailedFolder`."""
        with self._open() as inner:
            return inner.listen(read)

    def stop(self) -> None:
        """See `core.play.JailedFolder`."""
        with self._open() as inner:
            inner.stop()

    def play(self, program: Run) -> Ran:
        """Writes a program's files and runs it."""
        try:
            self.put(program.files)
        except (NotStarted, ValueError) as error:
            return _not_started(error)
        with self._places, self._open() as inner:
            return _ran(inner.run, program, inner.limits)

    @contextmanager
    def _open(self) -> Iterator[Folder]:
        """The folder, for one call. Raises SandboxError after `close`."""
        with self._lock:
            if self._closed:
                raise SandboxError("the folder was closed")
            self._calls += 1
        try:
            yield self._inner
        finally:
            with self._lock:
                self._calls -= 1


def _ran(
    run: Callable[..., CommandResult], program: Run, bounds: Limits, *, wall: float | None = None
) -> Ran:
    """Runs a program and returns how it ended. Raises SandboxError if the jail broke."""
    limits = replace(
        bounds,
        cpu_seconds=program.seconds,
        wall_seconds=wall or 3 * program.seconds,
        memory_bytes=program.memory_bytes,
        output_bytes=program.output_bytes,
        printed_bytes=PRINTED_BYTES if program.lasting else None,
    )
    try:
        result = run(program.argv, stdin=program.stdin.encode(), limits=limits)
    except (NotStarted, ValueError) as error:  # the policy may choose program, files and input
        return _not_started(error)
    except (SandboxError, OSError) as error:
        raise SandboxError(f"a program could not be run: {error}") from error
    (output, left_out), (errors, left_out_too) = (one.excerpt() for one in result.captured)
    return Ran(result.status, output, errors, result.expired, result.seconds, left_out + left_out_too)


def _not_started(error: Exception) -> Ran:
    return Ran(status=NOT_STARTED, output="", errors=str(error), expired="", seconds=0.0)
