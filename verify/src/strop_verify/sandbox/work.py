"""One piece of work in a box, from the parent's side: its files, its programs and how they ended."""

import json
import os
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from strop_verify.core.errors import NotStarted
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Capture

Profile = Literal["run", "build"]
"""run: threads but no processes, no writing. build: processes, and writing in the work directory."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a jailed program ended."""

    status: int
    """Exit status, or minus the signal that killed it. A status of 0 proves nothing about what it did."""
    expired: Literal["", "cpu", "wall", "output"]
    """The limit that ended it, or empty."""
    stdout: bytes
    stderr: bytes
    truncated: bool
    """Whether a stream had more than limits.output_bytes, so that `stdout` or `stderr` is cut off."""
    seconds: float
    """Wall seconds, start and clean-up included."""
    cpu_seconds: float
    """CPU seconds of the whole tree."""
    peak_bytes: int
    """Largest resident set of a process of the tree."""
    left: int
    """Number of processes that the program left behind; they were killed."""
    sized: bool
    """Whether the work directory was a tmpfs with a size; otherwise only each file's size was bounded."""
    out_of_memory: bool = False
    """Whether the kernel killed one of its processes because the tree used more than limits.tree_bytes."""
    captured: tuple[Capture, Capture] = field(default_factory=lambda: (Capture(1), Capture(1)))
    """Stdout and stderr with their last bytes, for display."""


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A regular file in a work directory."""

    size: int
    """Bytes."""
    executable: bool
    """Whether its owner may run it."""


class Contents(NamedTuple):
    """What is in a work directory."""

    files: dict[str, FileInfo]
    """By relative path, sorted. Paths that are not UTF-8 are decoded as by `os.fsdecode`."""
    bytes: int
    """Space that all entries take, at least a page each."""


Run = Callable[[dict[str, Any], Sequence[bytes], bytes | socket.socket, Limits, bool], CommandResult]
"""Runs a program, given its job, contents of new files, input, limits, and whether the process may be restarted."""
Ask = Callable[[dict[str, Any], Sequence[bytes], bool], tuple[dict[str, Any], list[int]]]
"""The reply to a request and its descriptors, given the job, contents of new files, whether to start a process."""


class Work:
    """A work directory and the programs in it. Made by `Box.work`."""

    def __init__(self, run: Run, ask: Ask, read: Sequence[str]) -> None:
        self._run, self._ask, self._read = run, ask, list(read)
        self._waiting: dict[str, tuple[bytes, bool]] = {}
        self.used = False
        """Whether anything was written or run in it."""

    def put(self, files: Mapping[str, bytes | str], *, executable: Collection[str] = ()) -> None:
        """Adds or replaces files, to be written before the next program starts. `executable`: names of programs."""
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            self._waiting[safe_name(name)] = data, name in executable

    def flush(self, limits: Limits | None = None) -> None:
        """Writes the files of `put` now. `limits`: of the directory.

        Raises ValueError for a name or size that cannot be written (others may have been), SandboxError.
        """
        sizes, contents = self._taken()
        job = {"op": "put", "files": sizes, "limits": asdict(limits or Limits())}
        self._answer(job, contents, starts=True)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | socket.socket = b"",
        limits: Limits | None = None,
        profile: Profile = "run",
        read: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Runs `argv` in the work directory until its whole process tree has ended.

        It can read only system programs and libraries, the work directory and the paths in `read`, perhaps also those
        of earlier programs in this box. The environment is PATH, HOME, TMPDIR, LANG and `environment`. Memory, files
        and processes are bounded per process, CPU exactly for the first process and by RLIMIT_CPU for the others; in
        the jail "full" memory and processes also as a whole. The program can read and write a socket as `stdin`, which
        is closed here once it has it.
        Raises NotStarted if there is no such program or a file cannot be written, SandboxError if the box is broken.
        """
        if not argv:
            raise NotStarted("argv is empty")
        bounds = limits or Limits()
        job: dict[str, Any] = {
            "op": "run",
            "argv": list(argv),
            "limits": asdict(bounds),
            "profile": profile,
            "read": [*self._read, *read],
            "environment": dict(environment or {}),
        }
        sizes, contents = self._taken()
        job["files"] = sizes
        fresh, self.used = not self.used, True
        return self._run(job, contents, stdin, bounds, fresh)

    def read(self, name: str, *, limit: int = 1 << 20) -> bytes:
        """Reads a regular file; follows no link.

        Raises FileNotFoundError, ValueError if it is longer than `limit` bytes or not a regular file, SandboxError.
        """
        name = safe_name(name)
        if name in self._waiting:
            return self._waiting[name][0]
        if not self.used:
            raise FileNotFoundError(name)
        with os.fdopen(self._answer({"op": "read", "name": name})[0], "rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ValueError(f"{name} is longer than {limit} bytes")
        return data

    def contents(self, under: str = "") -> Contents:
        """The contents of the directory, or of a folder `under` it by paths from there, without files that wait to be
        written. Follows no link.

        Raises ValueError for more than `workdir.ENTRIES` entries or folders deeper than `workdir.DEPTH`,
        FileNotFoundError, SandboxError.
        """
        if not self.used:
            return Contents({}, 0)
        job = {"op": "list", "under": safe_name(under) if under else ""}
        with os.fdopen(self._answer(job)[0], "rb") as file:
            found = json.load(file)
        files = sorted(found["files"].items())
        return Contents({name: FileInfo(*info) for name, info in files}, found["bytes"])

    def make_folders(self, names: Collection[str]) -> None:
        """Makes missing folders and their parents. Raises ValueError, SandboxError."""
        self._answer({"op": "folders", "names": [safe_name(name) for name in names]}, starts=True)

    def close_folders(self, closed: Collection[str], still_open: Collection[str]) -> None:
        """See `image_root.ImageRoot.close_folders`. Raises ValueError, SandboxError."""
        self._answer({"op": "close", "closed": [*closed], "open": [*still_open]}, starts=True)

    def listen(self) -> socket.socket:
        """A socket that listens on 127.0.0.1 in the programs' private network; they may connect to it from now on.

        Raises SandboxError.
        """
        (fd,) = self._answer({"op": "listen"}, starts=True)
        return socket.socket(fileno=fd)

    def remove(self, names: Collection[str]) -> None:
        """Removes files, links and whole folders, one after another.

        Raises FileNotFoundError for the first missing one, ValueError for a name that leaves the directory.
        """
        asked = [safe_name(name) for name in names]
        if asked and not self.used:
            raise FileNotFoundError(asked[0])
        if asked:
            self._answer({"op": "remove", "names": asked})

    def _taken(self) -> tuple[list[tuple[str, int, bool]], list[bytes]]:
        """(name, bytes, executable) of the waiting files, and their contents."""
        waiting, self._waiting = self._waiting, {}
        return [(name, len(data), run) for name, (data, run) in waiting.items()], [
            d for d, _ in waiting.values()
        ]

    def _answer(
        self, job: dict[str, Any], contents: Sequence[bytes] = (), *, starts: bool = False
    ) -> list[int]:
        """The descriptors of the reply. `starts`: the request may be the first and start the process."""
        fresh = starts and not self.used
        self.used = self.used or starts
        reply, fds = self._ask({**job, "read": self._read} if starts else job, contents, fresh)
        if reply["error"]:
            raise (FileNotFoundError if reply.get("absent") else ValueError)(reply["error"])
        return fds


def safe_name(name: str) -> str:
    """The normalised name of a file below the work directory. Raises ValueError if it leaves it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise ValueError(f"file name {name!r} leaves the work directory; use a relative name without '..'")
    return str(path)
