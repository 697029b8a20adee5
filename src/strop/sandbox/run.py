"""`run_command`: one program in the jail, with files, standard input and bounds."""

import base64
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from strop.core.errors import SandboxError
from strop.sandbox.limits import Limits
from strop.sandbox.pump import Capture, Pump
from strop.sandbox.report import require_jail
from strop.sandbox.spawn import helper, spawn

Profile = Literal["run", "build"]
"""run: threads but no other process, no file written. build: processes, and writing in the work directory."""

_EXTRA_SECONDS = 10.0
"""Wall seconds beyond the program's, for starting it and for ending its tree."""


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
    """Wall seconds, start and clean-up of the jail included."""
    cpu_seconds: float
    """CPU seconds of the whole tree."""
    peak_bytes: int
    """Largest resident set of any process of the tree."""
    left: int
    """Processes that the program left behind; they were killed."""
    sized: bool
    """Whether the work directory was a tmpfs with a size; else its files were bounded one by one only."""


def run_command(
    argv: Sequence[str],
    *,
    files: Mapping[str, bytes | str] | None = None,
    stdin: bytes = b"",
    limits: Limits | None = None,
    profile: Profile = "run",
    read: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    allow_unsafe: bool = False,
) -> CommandResult:
    """Runs `argv` in a fresh work directory that holds `files` (relative names), to the end of its whole tree.

    Reads system programs and libraries, the work directory and the paths in `read`; nothing else. The environment is
    PATH, HOME, TMPDIR, LANG and `environment`. Memory, files and processes are bounded per process, CPU of the first
    process exactly and of each other by RLIMIT_CPU. Raises SandboxError when the jail cannot be built or the program
    cannot be started, ValueError for a file name that leaves the work directory.
    """
    require_jail(allow_unsafe)
    limits = limits or Limits()
    contents = {_safe_name(n): c.encode() if isinstance(c, str) else c for n, c in (files or {}).items()}
    with ExitStack() as stack:
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        work = tempfile.mkdtemp(prefix="strop-", dir=parent)
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        job = {
            "argv": list(argv),
            "files": {name: base64.b64encode(data).decode() for name, data in contents.items()},
            "work": work,
            "limits": asdict(limits),
            "profile": profile,
            "read": list(read),
            "environment": dict(environment or {}),
            "allow_unsafe": allow_unsafe,
        }
        return _converse(job, stdin, limits, stack)


def _converse(job: dict[str, Any], stdin: bytes, limits: Limits, stack: ExitStack) -> CommandResult:
    began = time.monotonic()
    ours, theirs = socket.socketpair()
    stack.callback(ours.close)
    (in_read, in_write), (out_read, out_write), (err_read, err_write) = (os.pipe() for _ in range(3))
    far = [theirs.fileno(), in_read, out_write, err_write]
    argv = helper("strop.sandbox.nopriv", str(far[0]), str(os.getpid()), *map(str, far[1:]))
    stack.callback(os.close, out_read)
    stack.callback(os.close, err_read)
    near_input = os.fdopen(in_write, "wb", buffering=0)
    stack.callback(near_input.close)
    try:
        process = spawn(argv, environment={}, keep=far)
    finally:
        theirs.close()
        for fd in far[1:]:
            os.close(fd)
    stack.callback(process.kill)
    out, err, said = Capture(limits.output_bytes), Capture(limits.output_bytes), Capture(1 << 16)
    pump = Pump(Limits(cpu_seconds=1e9, wall_seconds=limits.wall_seconds + _EXTRA_SECONDS))
    pump.read(ours.fileno(), said)
    pump.read(out_read, out)
    pump.read(err_read, err)
    pump.write(ours.fileno(), json.dumps(job).encode() + b"\n")
    pump.write(in_write, stdin)
    flood = False
    while not said.ended and pump.step():
        if not near_input.closed and not pump.writing(in_write):
            near_input.close()
        if not flood and (out.flood or err.flood):
            flood = True
            ours.shutdown(socket.SHUT_WR)  # the init process ends the tree and reports
    pump.drain(out_read)
    pump.drain(err_read)
    if not said.kept:
        raise SandboxError(f"the jail's init process broke: {process.last_words() or 'it said nothing'}")
    report = json.loads(said.text)
    if report["error"]:
        raise SandboxError(f"{job['argv'][0]} could not be started in the jail: {report['error']}")
    return CommandResult(
        status=report["status"],
        expired="output" if flood else report["expired"],
        stdout=bytes(out.kept),
        stderr=bytes(err.kept),
        truncated=out.seen > out.limit or err.seen > err.limit,
        seconds=time.monotonic() - began,
        cpu_seconds=report["cpu"],
        peak_bytes=report["peak"],
        left=report["left"],
        sized=report["sized"],
    )


def _safe_name(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"file name {name!r} leaves the work directory; use a relative name without '..'")
    return name
