"""The trainer's side of a worker process: starting it by a fresh exec, talking to it, ending it.

Lives on the thread that starts it: the kernel ties the child's life to that thread, so a worker process ends with its
thread at the latest, also when the whole trainer is killed.
"""

import contextlib
import os
import socket
from typing import Any

from strop.core.errors import WorkerDied
from strop.sandbox import confine
from strop.sandbox.jails import choose, launched
from strop.sandbox.spawn import Process, helper, helper_reads, spawn
from strop.verification.python.codec import dumps, loads

START_SECONDS = 20.0
ANSWER_SECONDS = 10.0
"""How long a worker process may take for a fork or a reap before it counts as broken."""


class Server:
    """One worker process and its control socket. Every method raises WorkerDied when the process is broken."""

    def __init__(
        self,
        module: str,
        *,
        jail: str = "auto",
        allow_unsafe: bool = False,
        arguments: tuple[str, ...] = (),
        read: tuple[str, ...] = (),
        work: str = "",
        hash_seed: int = 0,
    ) -> None:
        """`arguments` go to the module's main(). `read`, `work`: paths that a launcher makes visible and writable.

        `hash_seed`: PYTHONHASHSEED of the process and of all that it forks.
        """
        self.pid, self.closed = 0, False
        chosen = choose(jail)
        self._slot = chosen.slot()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control = ours
        settings = chosen.settings(self._slot, allow_unsafe=allow_unsafe)
        parent = 0 if chosen.launcher else os.getpid()  # a launcher stands between: its death is the parent's
        argv = helper(module, str(theirs.fileno()), str(parent), settings, *arguments)
        visible = (*confine.SYSTEM_READ, *confine.python_read(), *helper_reads(), *read)
        command = launched(chosen, argv, read=visible, work=work, processes=False)
        try:
            self.process: Process = spawn(
                command,
                environment={"PYTHONHASHSEED": str(hash_seed), "LD_BIND_NOW": "1"},
                keep=(theirs.fileno(),),
            )
        finally:
            theirs.close()
        try:
            self.pid = int(self.receive(START_SECONDS)["hello"])
        except WorkerDied:
            self.close()
            raise

    def send(self, message: dict[str, Any], fds: list[int] | None = None) -> None:
        """One packet, with descriptors."""
        data = dumps(message)
        try:
            socket.send_fds(self.control, [data], fds or [])
        except OSError as error:
            raise self._died(str(error)) from None

    def receive(self, seconds: float = ANSWER_SECONDS) -> dict[str, Any]:
        """The next packet."""
        try:
            self.control.settimeout(seconds)
            data = self.control.recv(1 << 16)
        except OSError as error:
            raise self._died(str(error)) from None
        if not data:
            raise self._died("it hung up")
        message: dict[str, Any] = loads(data)
        return message

    def ask(self, message: dict[str, Any], fds: list[int] | None = None) -> dict[str, Any]:
        """A request and its reply."""
        self.send(message, fds)
        return self.receive()

    def close(self) -> None:
        """Ends the process and reaps it; its candidates die with it. Safe to call twice, from any thread.

        Raises SandboxError when one cannot be killed.
        """
        self.closed = True
        self.process.kill()
        with contextlib.suppress(OSError):
            self.control.close()
        if self._slot is not None:
            self._slot.release()

    def _died(self, why: str) -> WorkerDied:
        said = self.process.last_words()
        return WorkerDied(f"worker process {self.pid} broke: {why}" + (f" ({said})" if said else ""))
