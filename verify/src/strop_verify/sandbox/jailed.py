"""The parent's side of a jailed process of ours: starts, limits, messages and ends it, and explains its death.

A fresh exec starts a module's main(), whose arguments are: control descriptor, parent's pid, settings
(confine.WorkerSettings as JSON), its work directory if it has one, and further ones. When ready it sends
{"hello": its pid}. Both sides send JSON messages over the control socket, one per packet; {"broken": why} is its last.
"""

import contextlib
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Sequence
from typing import Any

from strop_verify.core.errors import StropError, WorkerDied
from strop_verify.sandbox import confine
from strop_verify.sandbox.cgroup import Cgroup
from strop_verify.sandbox.jails import Jail, launched
from strop_verify.sandbox.spawn import Process, helper, helper_reads, spawn

START_SECONDS = 20.0
ANSWER_SECONDS = 10.0
"""Time for an answer, or for ending what it started, before a process counts as broken."""
PACKET_BYTES = 1 << 16


class WorkFolder:
    """A work directory: a new folder, or /box in the process's own root. `path` is as the process sees it.

    The folder's name begins with the prefix and this process's id.
    """

    def __init__(self, jail: Jail, prefix: str) -> None:
        self._here = not jail.own_root
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.path = tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=parent) if self._here else "/box"

    def clear(self) -> None:
        """Removes the folder outside the jail, if any. Safe to call twice."""
        if self._here:
            shutil.rmtree(self.path, ignore_errors=True)


class JailedProcess:
    """One process and its control socket. It ends at the latest with the thread that starts it, also if the trainer is
    killed. Every method but `close` raises `error` if the process is broken.
    """

    def __init__(
        self,
        module: str,
        jail: Jail,
        *,
        allow_unsafe: bool = False,
        arguments: Sequence[str] = (),
        read: Sequence[str] = (),
        folder: WorkFolder | None = None,
        programs: bool = False,
        forks: bool = False,
        hash_seed: int = 0,
        error: type[StropError] = WorkerDied,
    ) -> None:
        """`read`: paths that it must see. `folder`: its work directory, removed with it. `hash_seed`: PYTHONHASHSEED.

        `programs`: it starts programs, so it gets a process namespace and a cgroup if the jail has them, and time to
        end them. `forks`: it ends its forks and itself when its control socket is closed. Raises SandboxError if no
        user id is free.
        """
        self.pid, self.closed = 0, False
        self.work = folder.path if folder else ""
        """Its work directory as it sees it."""
        self._error, self._folder, self._ends = error, folder, programs or forks
        self._process: Process | None = None
        self.cgroup: Cgroup | None = None
        self._slot = jail.slot()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        held = [theirs.fileno(), *([self._slot.fd] if self._slot else [])]
        settings = jail.settings(self._slot, allow_unsafe=allow_unsafe)
        parent = (
            0 if jail.launcher else os.getpid()
        )  # a launcher is the parent itself, and its child dies with it
        own = (self.work, *arguments) if folder else arguments
        argv = helper(module, str(theirs.fileno()), str(parent), settings, *own)
        visible = (*confine.SYSTEM_READ, *helper_reads(), *read)
        visible += confine.PROGRAMS_READ if programs else ()
        command = launched(jail, argv, read=visible, work=self.work, processes=programs)
        environment = {"PYTHONHASHSEED": str(hash_seed), "LD_BIND_NOW": "1"}
        if not programs:  # else each of a program's first threads reserves 64 MB of addresses
            environment["MALLOC_ARENA_MAX"] = "1"
        try:
            self._process = spawn(command, environment=environment, keep=held)
            theirs.close()
            self.pid = self._process.pid
            if programs:
                if jail.cgroup:
                    self.cgroup = Cgroup()
                    self.cgroup.add(self.pid)
                self.send({"go": True})
            hello = self.receive(START_SECONDS)["hello"]
            self.pid = self.pid if programs else int(hello)
        except BaseException:
            theirs.close()
            self.close()
            raise

    def send(self, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
        """Sends a message, with descriptors."""
        try:
            socket.send_fds(self.control, [json.dumps(message).encode()], fds)
        except OSError as error:
            raise self.died(str(error)) from None

    def send_bytes(self, data: bytes) -> None:
        """Sends bytes in packets; an earlier message must have announced their number."""
        try:
            for start in range(0, len(data), PACKET_BYTES):
                self.control.send(data[start : start + PACKET_BYTES])
        except OSError as error:
            raise self.died(str(error)) from None

    def receive(self, seconds: float = ANSWER_SECONDS, fds: list[int] | None = None) -> dict[str, Any]:
        """The next message; a descriptor that comes with it is added to `fds`."""
        try:
            self.control.settimeout(seconds)
            if fds is None:
                return self.parsed(self.control.recv(PACKET_BYTES))
            data, found, _, _ = socket.recv_fds(self.control, PACKET_BYTES, 1)
        except OSError as error:
            raise self.died(str(error)) from None
        fds += found
        return self.parsed(data)

    def ask(self, message: dict[str, Any], fds: Sequence[int] = ()) -> dict[str, Any]:
        """Sends a request and returns the reply."""
        self.send(message, fds)
        return self.receive()

    def parsed(self, packet: bytes) -> dict[str, Any]:
        """The message in a packet from the control socket. Raises `error` for b"", the end, or a broken process."""
        if not packet:
            raise self.died("it closed its control socket")
        message: dict[str, Any] = json.loads(packet)
        if "broken" in message:
            raise self.died(message["broken"])
        return message

    def died(self, why: str) -> StropError:
        """The error for a broken process, with the last line that it wrote."""
        words = self._process.last_words() if self._process else ""
        return self._error(f"worker process {self.pid} broke: {why}" + (f" ({words})" if words else ""))

    def close(self) -> None:
        """Ends the process and all it started, reaps it and removes its folder. Safe to call twice, from any thread.

        Raises SandboxError if something that it started cannot be killed.
        """
        self.closed = True
        if self._process is not None:
            if self._ends:
                with contextlib.suppress(OSError):
                    self.control.shutdown(socket.SHUT_RDWR)  # it ends its tree and itself
                self._process.wait(ANSWER_SECONDS)
            self._process.kill()
        with contextlib.suppress(OSError):
            self.control.close()
        if self.cgroup is not None:
            self.cgroup.close()
        if self._folder is not None:
            self._folder.clear()
        if self._slot is not None:
            self._slot.release()
