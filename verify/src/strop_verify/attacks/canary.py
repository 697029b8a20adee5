"""Evidence outside the jail: resources that no answer may reach, watched while answers are judged.

A secret file, a variable in the grader's environment, listeners on loopback (TCP, UDP, unix sockets by path and
abstract name, vsock if available), signals to the grader, its limits, priority and tracer. What an answer reaches is
reported whatever its verdict. Signals are counted only in the main thread.
"""

import contextlib
import os
import resource
import secrets
import shutil
import signal
import socket
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import strop_verify

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class Canaries:
    """A context manager; `facts` are the values of the placeholders in attacks' texts."""

    def __init__(self) -> None:
        self.secret = 1_000_000 + secrets.randbelow(8_000_000)
        self.token = secrets.token_hex(6)
        """Names whatever an attack creates, so that it is found again."""
        self.terminated = False
        """Whether SIGTERM has arrived: from an answer, or from a user who wants to stop."""
        self._words = {kind: secrets.token_hex(8) for kind in ("file", "environment", "reached")}
        self._signals: list[str] = []
        self._stack = contextlib.ExitStack()
        self._listeners: dict[str, socket.socket] = {}

    def __enter__(self) -> "Canaries":
        self.folder = Path(tempfile.mkdtemp(prefix="canary-"))
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.file = self.folder / "secret.txt"
        self.file.write_text(f"{self.secret} {self._words['file']}\n", encoding="utf-8")
        self.file.chmod(0o644)
        self.folder.chmod(0o755)
        self._variable = f"CANARY_{self.token}"
        os.environ[self._variable] = f"{self.secret} {self._words['environment']}"
        self._stack.callback(os.environ.pop, self._variable, None)
        self._listen()
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._stack.callback(signal.signal, number, signal.signal(number, self._count))
        self._state = self._look()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def facts(self) -> dict[str, str]:
        """Values of the placeholders. An attack that reached what it tried to reach prints @REACHED@."""
        ports = {name: str(self._listeners[name].getsockname()[1]) for name in ("TCP", "UDP")}
        return {
            "SECRET": str(self.secret),
            "TOKEN": self.token,
            "KEY": str(int(self.token[:7], 16)),
            "REACHED": self._words["reached"],
            "CANARY": str(self.file),
            "CANARY_DIR": str(self.folder),
            "ENV": self._variable,
            "SOURCE": str(Path(strop_verify.__file__).resolve().parent),
            "PID": str(os.getpid()),
            "UNIX": str(self.folder / "listener"),
            "DATAGRAMS": str(self.folder / "datagrams"),
            "ABSTRACT": f"canary-{self.token}",
            "VSOCK": "7331",
            "FREE_PORT": str(self._free_port),
            **ports,
        }

    def leaked(self, text: str) -> list[str]:
        """The canaries whose content is in a text, in words."""
        names = {"file": "leaked: the secret file", "environment": "leaked: the grader's environment"}
        names["reached"] = "reached: what it says it must not reach"
        return [names[kind] for kind, word in self._words.items() if word in text]

    def touched(self) -> list[str]:
        """What was reached since the last call, in words."""
        found = [f"connected: {name}" for name, s in self._listeners.items() if _heard(s)]
        found += [f"signalled: {name}" for name in self._signals]
        self._signals.clear()
        now = self._look()
        found += [f"changed: {key}" for key in now if now[key] != self._state[key]]
        self._state = now
        return found

    def _count(self, number: int, frame: FrameType | None) -> None:
        self._signals.append(signal.Signals(number).name)
        self.terminated = self.terminated or number == signal.SIGTERM

    def _listen(self) -> None:
        self._open("TCP", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self._open("UDP", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self._open("UNIX", socket.AF_UNIX, socket.SOCK_STREAM, str(self.folder / "listener"))
        self._open("DATAGRAMS", socket.AF_UNIX, socket.SOCK_DGRAM, str(self.folder / "datagrams"))
        self._open("ABSTRACT", socket.AF_UNIX, socket.SOCK_STREAM, f"\0canary-{self.token}")
        with contextlib.suppress(OSError, AttributeError):
            self._open("VSOCK", socket.AF_VSOCK, socket.SOCK_STREAM, (socket.VMADDR_CID_ANY, 7331))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._free_port = probe.getsockname()[1]

    def _open(self, name: str, family: int, kind: int, address: Any) -> None:
        listener = socket.socket(family, kind)
        self._stack.callback(listener.close)
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen(64)
        listener.setblocking(False)
        self._listeners[name] = listener

    def _look(self) -> dict[str, object]:
        """The state of the host and of the grader's process that must not change."""
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        limits = (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE)
        seen: dict[str, object] = {
            "the grader's tracer": next(x for x in status.splitlines() if x.startswith("TracerPid")),
            "the grader's limits": [resource.getrlimit(which) for which in limits],
            "the grader's priority": os.getpriority(os.PRIO_PROCESS, 0),
            "the grader's cores": os.sched_getaffinity(0),
            "the grader's OOM score": Path("/proc/self/oom_score_adj").read_text(encoding="utf-8"),
            "the host's name": os.uname().nodename,
        }
        for path in (self.folder, self.file, self.folder / "listener"):
            try:
                stat = os.lstat(path)
                seen[f"canary {path.name}"] = (stat.st_mode, stat.st_uid, stat.st_nlink, stat.st_ctime_ns)
            except FileNotFoundError:
                seen[f"canary {path.name}"] = None
        return seen


def _heard(listener: socket.socket) -> bool:
    """Whether anyone connected or sent data; takes everything that is waiting."""
    heard = False
    while True:
        try:
            if listener.type == socket.SOCK_DGRAM:
                listener.recv(1)
            else:
                listener.accept()[0].close()
            heard = True
        except BlockingIOError:
            return heard
