"""`open_box`: a worker process of the jail that runs programs in work directories, one at a time.

    with open_box() as box, box.work({"hello.py": "print(1)"}) as work:
        result = work.run(["python3", "hello.py"])

The process (strop.sandbox.keeper) is started with the first program, by a fresh exec, and enters its namespaces once. A
box belongs to one thread: the kernel ties the process's life to the thread that started it.
"""

import contextlib
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from strop.core.errors import SandboxError
from strop.sandbox import confine
from strop.sandbox.answer import Answer
from strop.sandbox.cgroup import Cgroup
from strop.sandbox.jails import LAUNCHER_BYTES, Jail, choose, launched
from strop.sandbox.limits import Limits
from strop.sandbox.pump import Capture, Pump
from strop.sandbox.report import require_jail
from strop.sandbox.result import CommandResult
from strop.sandbox.slots import Slot
from strop.sandbox.spawn import Process, helper, helper_reads, spawn
from strop.sandbox.work import Work

_START_SECONDS = 20.0
_EXTRA_SECONDS = 10.0
"""Wall seconds beyond the program's, for starting it and for ending its tree."""
_WORK = "/box"
"""The work directory where the box has a root of its own."""


def open_box(*, jail: str = "auto", allow_unsafe: bool = False, read: Sequence[str] = ()) -> "Box":
    """A box in the jail of that name (strop.sandbox.jails). Close it or use it as a context manager.

    read  paths that its programs may read, if they are known already; `Work.run` takes more
    Raises SandboxError where the host cannot hold hostile code or does not offer that jail.
    """
    require_jail(allow_unsafe)
    return Box(choose(jail), allow_unsafe=allow_unsafe, read=read)


class Box:
    """One worker process. Every method raises SandboxError when it is broken; then close it and open another."""

    def __init__(self, jail: Jail, *, allow_unsafe: bool, read: Sequence[str] = ()) -> None:
        self.jail = jail
        self._allow_unsafe = allow_unsafe
        self._read = set(read)
        self._own_root = jail.namespaces or bool(jail.launcher)
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.path = _WORK if self._own_root else tempfile.mkdtemp(prefix="strop-", dir=parent)
        """The work directory as programs see it; also their current directory, HOME and TMPDIR."""
        self._process: Process | None = None
        self._control: socket.socket | None = None
        self._cgroup: Cgroup | None = None
        self._slot: Slot | None = None
        self._busy = False

    @contextmanager
    def work(self, files: Mapping[str, bytes | str] | None = None) -> "Iterator[Work]":
        """A fresh work directory that holds `files` (relative names); it is wiped at the end. One at a time.

        Raises ValueError for a file name that leaves the work directory.
        """
        if self._busy:
            raise ValueError("this box has a work directory in use")
        self._busy = True
        try:
            work = Work(self._run, self._ask)
            work.put(files or {})
            yield work
            if self._control is not None and work.used:
                self._ask({"op": "wipe"})
        except BaseException:
            self.close()  # in the middle of something: the next program gets a fresh process
            raise
        finally:
            self._busy = False

    def close(self) -> None:
        """Ends the process and all it started, and removes the work directory. Safe to call twice, from any thread.

        Raises SandboxError when something that it started cannot be killed.
        """
        control, process, cgroup, slot = self._control, self._process, self._cgroup, self._slot
        self._control = self._process = self._cgroup = self._slot = None
        if control is not None:
            with contextlib.suppress(OSError):
                control.shutdown(socket.SHUT_RDWR)  # it ends its tree and itself
            control.close()
        if process is not None:
            process.wait(_EXTRA_SECONDS)
            process.kill()
        if cgroup is not None:
            cgroup.close()
        if not self._own_root:
            shutil.rmtree(self.path, ignore_errors=True)
        if slot is not None:
            slot.release()

    def __enter__(self) -> "Box":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        slot = self._slot = self.jail.slot()
        held = [slot.fd] if slot else []
        settings = self.jail.settings(slot, allow_unsafe=self._allow_unsafe)
        # A launcher stands between: its death is the parent's.
        parent = 0 if self.jail.launcher else os.getpid()
        reads = json.dumps(sorted(self._read))
        worker = (str(theirs.fileno()), str(parent), settings, self.path, reads, str(held[0] if held else -1))
        argv = helper("strop.sandbox.keeper", *worker)
        visible = (*confine.SYSTEM_READ, *confine.PROGRAMS_READ, *confine.python_read(), *helper_reads())
        command = launched(self.jail, argv, read=(*visible, *self._read), work=self.path, processes=True)
        try:
            self._process = spawn(command, environment={}, keep=[theirs.fileno(), *held])
        finally:
            theirs.close()
        self._control = ours
        if self.jail.cgroup:
            self._cgroup = Cgroup()
            self._cgroup.add(self._process.pid)
        ours.sendall(b"G")
        self._receive(_START_SECONDS)
        return ours

    def _control_for(self, read: Sequence[str], *, fresh: bool) -> socket.socket:
        """The socket of a running process that sees the paths. `fresh`: it may be started anew for that."""
        if self._own_root and not set(read) <= self._read:
            if not fresh:
                missing = sorted(set(read) - self._read)
                raise SandboxError(
                    f"{missing} must be named with the first program of a work directory, or to open_box"
                )
            self._read |= set(read)
            if self._control is not None:
                self.close()
        try:
            return self._control or self._start()
        except OSError as error:
            raise SandboxError(f"the jail's worker process could not be started: {error}") from error

    def _run(
        self, job: dict[str, Any], contents: Mapping[str, bytes], stdin: bytes, limits: Limits, fresh: bool
    ) -> CommandResult:
        control = self._control_for(job["read"], fresh=fresh)
        began = time.monotonic()
        with ExitStack() as stack:
            (in_read, in_write), (out_read, out_write), (err_read, err_write) = (os.pipe() for _ in range(3))
            for fd in (out_read, err_read):
                stack.callback(os.close, fd)
            near_input = os.fdopen(in_write, "wb", buffering=0)
            stack.callback(near_input.close)
            kills = self._bound(limits)
            try:
                self._request(
                    {**job, "files": [[n, len(d)] for n, d in contents.items()]},
                    contents,
                    control,
                    [in_read, out_write, err_write],
                )
            finally:
                for fd in (in_read, out_write, err_write):
                    os.close(fd)
            out, err, said = Capture(limits.output_bytes), Capture(limits.output_bytes), Answer()
            pump = Pump(Limits(cpu_seconds=1e9, wall_seconds=limits.wall_seconds + _EXTRA_SECONDS))
            pump.read(control.fileno(), said)
            pump.read(out_read, out)
            pump.read(err_read, err)
            pump.write(in_write, stdin)
            flood = False
            while not said.whole:
                if not near_input.closed and not pump.writing(in_write):
                    near_input.close()  # before the wait: a program may read to the end of its input first
                if not pump.step():
                    break
                if not flood and (out.flood or err.flood):
                    flood = True
                    control.send(b"K")
            control.setblocking(True)
            if not said.whole or "broken" in said.message:
                raise self._broken(said.message.get("broken", "it said nothing"))
            pump.drain(out_read)
            pump.drain(err_read)
        report = said.message
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
            sized=report["sized"] or (self.jail.launcher == "bwrap" and limits.dir_bytes >= LAUNCHER_BYTES),
            out_of_memory=self._cgroup is not None and self._cgroup.kills() > kills,
        )

    def _bound(self, limits: Limits) -> int:
        """Sets the limits of the cgroup, if there is one; returns how often it ran out of memory so far."""
        if self._cgroup is None:
            return 0
        self._cgroup.limit(limits.tree_bytes, limits.processes + 8)
        return self._cgroup.kills()

    def _request(
        self, job: dict[str, Any], contents: Mapping[str, bytes], control: socket.socket, fds: list[int]
    ) -> None:
        data = json.dumps(job).encode()
        try:
            control.settimeout(_EXTRA_SECONDS)
            socket.send_fds(control, [b"R"], fds)
            control.sendall(b"".join([b"%08d" % len(data), data, *contents.values()]))
        except OSError as error:
            raise self._broken(str(error)) from None

    def _ask(self, job: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        assert self._control is not None
        self._request(job, {}, self._control, [])
        return self._receive(_EXTRA_SECONDS)

    def _receive(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        assert self._control is not None
        said, fds = Answer(), []
        try:
            self._control.settimeout(seconds)
            while not said.whole:
                data, more, _, _ = socket.recv_fds(self._control, 1 << 16, 1)
                fds += more
                if not data:
                    raise self._broken("it hung up")
                said(data)
        except OSError as error:
            raise self._broken(str(error)) from None
        if "broken" in said.message:
            raise self._broken(said.message["broken"])
        return said.message, fds

    def _broken(self, why: str) -> SandboxError:
        words = self._process.last_words() if self._process is not None else ""
        self.close()
        return SandboxError(f"the jail's worker process broke: {why}" + (f" ({words})" if words else ""))
