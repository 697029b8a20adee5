"""`Folder`: a jailed folder that persists over many programs, such as those of a play in an environment with tools.

    with Folder(limits=Limits(cpu_seconds=20)) as folder:
        folder.put({"hello.sh": "echo $1 > greeting"}, executable=["hello.sh"])
        folder.run(["sh", "hello.sh", "hi"])
        folder.read("greeting")

`limits.dir_bytes` bounds its contents: exactly if the jail gives it a file system with a size (`CommandResult.sized`).
In other jails a program can exceed it while it runs, with each file up to `limits.file_bytes`; then nothing can be put
or run until files are removed.
"""

import socket
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from typing import TypeVar

from strop_verify.core.errors import NotStarted, SandboxError, UserError
from strop_verify.sandbox.box import Box, open_box
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.work import CommandResult, FileInfo, Work, safe_name

_LOOK_SECONDS = 0.05
_Done = TypeVar("_Done")


class Folder:
    """A writable folder and the programs in it. Nothing starts before the first use. One call at a time; others wait.

    Once the jail breaks, every method raises SandboxError, and the files are lost. ValueError, NotStarted and
    FileNotFoundError mean that the request is wrong; nothing has changed.
    """

    def __init__(
        self,
        open_one: Callable[[], Box] = open_box,
        *,
        limits: Limits | None = None,
        read: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`limits`: of the folder, and the default for programs. `read`: paths that programs may read. `environment`:
        variables of every program.
        """
        self.limits = limits or Limits()
        self._open, self._read, self._environment = open_one, read, dict(environment or {})
        self._lock = threading.Lock()
        # one thread, because the box ends with the thread that started it
        self._thread: ThreadPoolExecutor | None = None
        self._stack, self._inside = ExitStack(), ExitStack()
        self._box: Box | None = None
        self._work: Work | None = None
        self._ended = ""

    def put(self, files: Mapping[str, str | bytes], *, executable: Collection[str] = ()) -> None:
        """Adds or replaces files, by relative name; a folder or link in the way is removed. `executable`: programs.

        Raises ValueError for an invalid name or one that leaves the folder, and for more than the folder may hold,
        replaced files included; some of the files may have been written then.
        """
        if unknown := set(executable) - set(files):
            raise ValueError(f"executable names {min(unknown)!r}, which is not among the files")
        contents = {
            safe_name(name): data.encode() if isinstance(data, str) else data for name, data in files.items()
        }
        size = sum(map(len, contents.values()))

        def write(work: Work) -> None:
            if fault := self._full(work, size):
                raise ValueError(fault)
            work.put(contents, executable={safe_name(name) for name in executable})
            work.flush(self.limits)

        self._call(write)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | str = b"",
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Runs a program in the folder until its whole process tree has ended; it may write and start processes.

        See `Work.run`. Its files stay for the next program. Raises NotStarted if there is no such program, or the
        folder is too full.
        """
        bounds = replace(limits or self.limits, dir_bytes=self.limits.dir_bytes)
        data = stdin.encode() if isinstance(stdin, str) else stdin

        def start(work: Work) -> CommandResult:
            if fault := self._full(work, 0):
                raise NotStarted(fault)
            variables = {**self._environment, **(environment or {})}
            return work.run(argv, stdin=data, limits=bounds, profile="build", environment=variables)

        return self._call(start)

    def listen(self, read: Sequence[str] = ()) -> socket.socket:
        """A socket that listens on 127.0.0.1 in the programs' private network; only they reach it, and nothing else.

        Must be a folder's first call. `read`: further paths that programs may read. Raises UserError in a jail without
        a private network.
        """
        self._read = [*dict.fromkeys([*self._read, *read])]

        def begin(work: Work) -> socket.socket:
            assert self._box is not None
            if not self._box.jail.own_root:
                fault = f"the jail {self._box.jail.name} has no private network in which programs can reach a server"
                raise UserError(
                    f"{fault}; use sandbox.jail=namespaces or full (strop doctor lists what works here)"
                )
            return work.listen()

        return self._call(begin)

    def stop(self) -> None:
        """Ends the running program, if any; what it has written stays."""
        if self._box is not None:
            self._box.stop()

    def read(self, name: str, *, limit: int = 1 << 20) -> bytes:
        """Reads a regular file; follows no link.

        Raises FileNotFoundError, ValueError if it is longer than `limit` bytes, not a regular file, or outside.
        """
        return self._call(lambda work: work.read(name, limit=limit))

    def files(self, under: str = "") -> dict[str, FileInfo]:
        """The regular files in the folder or one `under` it, by path from there, sorted. Links are neither listed nor
        followed.

        Raises ValueError for too many entries or too deep folders, FileNotFoundError.
        """
        return self._call(lambda work: work.contents(under).files)

    def make(self, names: Collection[str]) -> None:
        """Makes missing folders and their parents; a file or link in the way is removed.

        Raises ValueError for an invalid name or one that leaves the folder.
        """
        self._call(lambda work: work.make_folders(names))

    def close_folders(self, closed: Collection[str], still_open: Collection[str]) -> None:
        """In an image, stops later programs from writing to these folders of its root or to the root itself, except in
        `still_open`. Raises ValueError for a path through a link.
        """
        self._call(lambda work: work.close_folders(closed, still_open))

    def remove(self, names: Collection[str]) -> None:
        """Removes files, links and whole folders. Raises FileNotFoundError for the first missing one, ValueError for a
        name that leaves the folder.
        """
        self._call(lambda work: work.remove(names))

    def empty(self) -> bool:
        """Replaces the directory with a new, empty one for another user. Nothing else persists: programs end with their
        whole tree. False if that failed: then close it.

        No other call may be in progress.
        """

        def begin_anew(_: Work) -> None:
            self._work = None
            self._inside.close()

        try:
            if self._work is not None:
                self._call(begin_anew)
        except SandboxError:
            return False
        return not self._ended

    def close(self) -> None:
        """Ends what runs and removes everything. Safe to call twice, from any thread; other calls, also those in
        progress, then raise SandboxError.

        Raises SandboxError if something that was started cannot be killed.
        """
        with self._lock:
            self._ended = self._ended or "the folder was closed"
            thread, self._thread = self._thread, None
        if thread is None:
            return
        done = thread.submit(self._end)
        while not wait([done], _LOOK_SECONDS).done:
            if self._box is not None:
                self._box.close()  # repeatedly: a program may be about to start
        thread.shutdown()
        done.result()

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _full(self, work: Work, more: int) -> str:
        """Why `more` bytes do not fit, or empty. In a folder with a size the kernel enforces it."""
        used = 0
        assert self._box is not None
        if not self._box.sized(self.limits):
            try:
                used = work.contents().bytes
            except ValueError as error:
                return f"the folder is too full: {error}; remove some"
        if used + more <= self.limits.dir_bytes:
            return ""
        return f"the folder may hold {self.limits.dir_bytes} bytes, not {used + more}; remove files"

    def _call(self, action: Callable[[Work], _Done]) -> _Done:
        with self._lock:
            if self._ended:
                raise SandboxError(self._ended)
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix="folder")
            future = self._thread.submit(self._act, action)
        return future.result()

    def _act(self, action: Callable[[Work], _Done]) -> _Done:
        if self._ended:
            raise SandboxError(self._ended)
        try:
            if self._work is None:
                self._box = self._box or self._stack.enter_context(self._open())
                self._work = self._inside.enter_context(self._box.work(read=self._read))
            return action(self._work)
        except (NotStarted, ValueError, FileNotFoundError):
            raise
        except (SandboxError, OSError) as error:
            self._ended = self._ended or f"the folder is lost: {error}"
            raise SandboxError(self._ended) from error

    def _end(self) -> None:
        try:
            if self._box is not None:
                self._box.close()
        finally:
            self._inside.close()
            self._stack.close()
