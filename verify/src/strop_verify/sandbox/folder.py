"""`Folder`: a jailed folder that lasts over many programs, for as long as an environment with tools is played.

    with Folder(limits=Limits(cpu_seconds=20)) as folder:
        folder.put({"hello.sh": "echo $1 > greeting"}, executable=["hello.sh"])
        folder.run(["sh", "hello.sh", "hi"])
        folder.read("greeting")

What is in it is bounded by `limits.dir_bytes`: exactly where the jail gives it a file system with a size (see
`CommandResult.sized`). In other jails a program can write more while it runs, each file up to `limits.file_bytes`;
after that nothing is put or run before files are removed.
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

    Every method raises SandboxError when the jail broke, and from then on: its files are lost. ValueError, NotStarted
    and FileNotFoundError mean that what was asked for is wrong; all stays as it was.
    """

    def __init__(
        self,
        open_one: Callable[[], Box] = open_box,
        *,
        limits: Limits | None = None,
        read: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`limits`: of the folder, and of programs that have none of their own. `read`: what programs may read.
        `environment`: variables of every program.
        """
        self.limits = limits or Limits()
        self._open, self._read, self._environment = open_one, read, dict(environment or {})
        self._lock = threading.Lock()
        self._thread: ThreadPoolExecutor | None = (
            None  # one; the box lives as long as the thread that started it
        )
        self._stack, self._inside = ExitStack(), ExitStack()
        self._box: Box | None = None
        self._work: Work | None = None
        self._ended = ""

    def put(self, files: Mapping[str, str | bytes], *, executable: Collection[str] = ()) -> None:
        """Adds or replaces files, by relative name; a folder or link in the way is removed. `executable`: programs.

        Raises ValueError for a name that leaves the folder or can't be one, and for more than the folder may hold
        (what is replaced counts until then); some of the files may be there then.
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
        """Runs a program in the folder to the end of its whole tree; it may write and start processes.

        See `Work.run`. What it leaves is there for the next one. Raises NotStarted when there is no such program, or
        the folder holds too much.
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
        """A socket that listens on 127.0.0.1 in the programs' own network; only they reach it, and nothing else.

        The first call of a folder. `read`: what its programs may read beside. Raises UserError in a jail whose programs
        have no network of their own.
        """
        self._read = [*dict.fromkeys([*self._read, *read])]

        def begin(work: Work) -> socket.socket:
            assert self._box is not None
            if not self._box.jail.own_root:
                fault = f"the jail {self._box.jail.name} gives programs no network of their own to reach a server in"
                raise UserError(
                    f"{fault}; use sandbox.jail=namespaces or full (strop doctor lists what works here)"
                )
            return work.listen()

        return self._call(begin)

    def stop(self) -> None:
        """Ends the program that runs, if one does; what it has written stays."""
        if self._box is not None:
            self._box.stop()

    def read(self, name: str, *, limit: int = 1 << 20) -> bytes:
        """A regular file; no link is followed.

        Raises FileNotFoundError, ValueError when it is longer than `limit` bytes, no regular file, or outside.
        """
        return self._call(lambda work: work.read(name, limit=limit))

    def files(self, under: str = "") -> dict[str, FileInfo]:
        """The regular files by relative path, in its order, those below a folder by paths from there. Links are neither
        listed nor followed.

        Raises ValueError when there are too many entries, or folders too deep inside each other, to list;
        FileNotFoundError.
        """
        return self._call(lambda work: work.contents(under).files)

    def make(self, names: Collection[str]) -> None:
        """Makes folders, and those above them, where they are missing; a file or link in the way is removed.

        Raises ValueError for a name that leaves the folder or can't be one.
        """
        self._call(lambda work: work.make_folders(names))

    def close_folders(self, closed: Collection[str], still_open: Collection[str]) -> None:
        """In an image: programs to come cannot write in the folders of its root called so, nor in the root itself, but
        in the paths that are still open. Raises ValueError for one that passes through a link.
        """
        self._call(lambda work: work.close_folders(closed, still_open))

    def remove(self, names: Collection[str]) -> None:
        """Removes files, links and whole folders. Raises FileNotFoundError for the first that is not there,
        ValueError for a name that leaves the folder.
        """
        self._call(lambda work: work.remove(names))

    def empty(self) -> bool:
        """Gives it a new, empty directory for another user; whether that worked. Nothing else lasts in it: programs
        end with their whole tree. Where it did not, close it.

        Not for a folder in use: no other call may be under way.
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
        """Ends what runs and removes everything. Safe to call twice, from any thread; other calls then raise
        SandboxError, also those under way.

        Raises SandboxError when something that was started cannot be killed.
        """
        with self._lock:
            self._ended = self._ended or "the folder was closed"
            thread, self._thread = self._thread, None
        if thread is None:
            return
        done = thread.submit(self._end)
        while not wait([done], _LOOK_SECONDS).done:
            if self._box is not None:
                self._box.close()  # again and again: a program may be about to start
        thread.shutdown()
        done.result()

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _full(self, work: Work, more: int) -> str:
        """Why `more` bytes do not fit, or empty. The kernel sees to that in a folder with a size."""
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
