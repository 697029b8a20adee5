"""One piece of work in a box, as the parent sees it: its files, its programs and how each of them ended."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from strop.core.errors import NotStarted
from strop.sandbox.limits import Limits

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
    """Whether a stream had more than limits.output_bytes; the rest was dropped."""
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


Run = Callable[[dict[str, Any], Mapping[str, bytes], bytes | socket.socket, Limits, bool], CommandResult]
"""Runs a program: its job, the files that are new, its input, its limits, whether it is the first here."""
Ask = Callable[[dict[str, Any]], tuple[dict[str, Any], list[int]]]
"""The reply to a request, and its descriptors."""


class Work:
    """The files and programs of one piece of work. Made by `Box.work`."""

    def __init__(self, run: Run, ask: Ask) -> None:
        self._run, self._ask = run, ask
        self._waiting: dict[str, bytes] = {}
        self.used = False
        """Whether a program has run in it."""

    def put(self, files: Mapping[str, bytes | str]) -> None:
        """Adds or replaces files; they are written before the next program starts."""
        for name, content in files.items():
            self._waiting[safe_name(name)] = content.encode() if isinstance(content, str) else content

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
        job = {
            "op": "run",
            "argv": list(argv),
            "limits": asdict(bounds),
            "profile": profile,
            "read": list(read),
            "environment": dict(environment or {}),
        }
        contents, self._waiting = self._waiting, {}
        result = self._run(job, contents, stdin, bounds, not self.used)
        self.used = True
        return result

    def read(self, name: str, *, limit: int = 1 << 20) -> bytes:
        """A regular file that a program wrote; no link is followed.

        Raises FileNotFoundError, ValueError when it is longer than `limit` bytes or no regular file, SandboxError.
        """
        safe_name(name)
        if name in self._waiting:
            return self._waiting[name]
        if not self.used:
            raise FileNotFoundError(name)
        reply, fds = self._ask({"op": "read", "name": name})
        if not fds:
            raise (
                FileNotFoundError(name)
                if reply["error"] == "FileNotFoundError"
                else ValueError(reply["error"])
            )
        with os.fdopen(fds[0], "rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ValueError(f"{name} is longer than {limit} bytes")
        return data


def safe_name(name: str) -> str:
    """The name of a file below the work directory. Raises ValueError when it leaves it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise ValueError(f"file name {name!r} leaves the work directory; use a relative name without '..'")
    return str(path)
