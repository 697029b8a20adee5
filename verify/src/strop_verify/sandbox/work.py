"""One piece of work in a box, as the parent sees it: its files, its programs and how each of them ended."""

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
"""run: threads but no other process, no file written. build: processes, and writing in the work directory."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a jailed program ended."""

    status: int
    """Exit status; negative for the signal that ended it. An exit status of 0 proves nothing about what it did."""
    expired: Literal["", "cpu", "wall", "output"]
    """The limit that ended it, or empty."""
    stdout: bytes
    stderr: bytes
    truncated: bool
    """Whether a stream had more than limits.output_bytes; the rest is not in `stdout` and `stderr`."""
    seconds: float
    """Wall seconds, start and clean-up included."""
    cpu_seconds: float
    """CPU seconds of the whole tree."""
    peak_bytes: int
    """Largest resident set of any process of the tree."""
    left: int
    """Processes that the program left behind; they were killed."""
    sized: bool
    """Whether the work directory was a tmpfs with a size; else its files were bounded one by one only."""
    out_of_memory: bool = False
    """Whether the kernel killed one of its processes because the tree used more than limits.tree_bytes."""
    captured: tuple[Capture, Capture] = field(default_factory=lambda: (Capture(1), Capture(1)))
    """Stdout and stderr with their ends, for who shows them."""


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
    """By relative path, in its order. Bytes of a path that are no UTF-8 are as `os.fsdecode` gives them."""
    bytes: int
    """What all entries take, at least a page each."""


Run = Callable[[dict[str, Any], Sequence[bytes], bytes | socket.socket, Limits, bool], CommandResult]
"""Runs a program: its job, what is in the new files, its input, its limits, whether the process may be a fresh one."""
Ask = Callable[[dict[str, Any], Sequence[bytes], bool], tuple[dict[str, Any], list[int]]]
"""The reply to a request, and its descriptors: its job, what is in the new files, whether it may start the process."""


class Work:
    """The files and programs of one piece of work. Made by `Box.work`."""

    def __init__(self, run: Run, ask: Ask, read: Sequence[str]) -> None:
        self._run, self._ask, self._read = run, ask, list(read)
        self._waiting: dict[str, tuple[bytes, bool]] = {}
        self.used = False
        """Whether something was written or run in it."""

    def put(self, files: Mapping[str, bytes | str], *, executable: Collection[str] = ()) -> None:
        """Adds or replaces files; they are written before the next program starts. `executable`: names of programs."""
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            self._waiting[safe_name(name)] = data, name in executable

    def flush(self, limits: Limits | None = None) -> None:
        """Writes at once what was put; `limits`: of the directory.

        Raises ValueError for a name or size that can't be written (others may be there then), SandboxError.
        """
        sizes, contents = self._taken()
        job = {"op": "put", "files": sizes, "limits": asdict(limits or Limits()), "read": self._read}
        fresh, self.used = not self.used, True
        self._answer(job, contents, fresh=fresh)

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
        """Runs `argv` in the work directory to the end of its whole tree.

        Reads system programs and libraries, the work directory and the paths in `read`, of this program and maybe of
        earlier ones in this box; nothing else. The environment is PATH, HOME, TMPDIR, LANG and `environment`. Memory,
        files and processes are bounded per process, CPU of the first process exactly and of each other by RLIMIT_CPU;
        in the jail "full" memory and processes also as a whole. A socket as `stdin` is the program's to read and write;
        it is closed here once the program has it.
        Raises NotStarted when there is no such program or a file can't be written; SandboxError when the box is broken.
        """
        if not argv:
            raise NotStarted("no program is named")
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
        """A regular file that a program wrote; no link is followed.

        Raises FileNotFoundError, ValueError when it is longer than `limit` bytes or no regular file, SandboxError.
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
        """What is in the directory, or in a folder of it by paths from there, without files that were only put. The box
        looks itself, and follows no link.

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
        """Makes folders, and those above them, where they are missing. Raises ValueError, SandboxError."""
        fresh, self.used = not self.used, True
        asked = [safe_name(name) for name in names]
        self._answer({"op": "folders", "names": asked, "read": self._read}, fresh=fresh)

    def close_folders(self, closed: Collection[str], still_open: Collection[str]) -> None:
        """See `image_root.ImageRoot.close_folders`. Raises ValueError, SandboxError."""
        fresh, self.used = not self.used, True
        job = {"op": "close", "closed": [*closed], "open": [*still_open], "read": self._read}
        self._answer(job, fresh=fresh)

    def listen(self) -> socket.socket:
        """A socket that listens on 127.0.0.1 in the programs' own network, where they may connect to it from now on.

        Raises SandboxError.
        """
        fresh, self.used = not self.used, True
        (fd,) = self._answer({"op": "listen", "read": self._read}, fresh=fresh)
        return socket.socket(fileno=fd)

    def remove(self, names: Collection[str]) -> None:
        """Removes files, links and whole folders, one after another.

        Raises FileNotFoundError for the first that is not there, ValueError for a name that leaves the directory.
        """
        asked = [safe_name(name) for name in names]
        if asked and not self.used:
            raise FileNotFoundError(asked[0])
        if asked:
            self._answer({"op": "remove", "names": asked})

    def _taken(self) -> tuple[list[tuple[str, int, bool]], list[bytes]]:
        """(name, bytes, executable) of the files that wait, and what is in them."""
        waiting, self._waiting = self._waiting, {}
        return [(name, len(data), run) for name, (data, run) in waiting.items()], [
            d for d, _ in waiting.values()
        ]

    def _answer(
        self, job: dict[str, Any], contents: Sequence[bytes] = (), *, fresh: bool = False
    ) -> list[int]:
        reply, fds = self._ask(job, contents, fresh)
        if reply["error"]:
            raise (FileNotFoundError if reply.get("absent") else ValueError)(reply["error"])
        return fds


def safe_name(name: str) -> str:
    """The name of a file below the work directory. Raises ValueError when it leaves it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise ValueError(f"file name {name!r} leaves the work directory; use a relative name without '..'")
    return str(path)
