"""Starts Strop's own helper processes, with an empty environment and only the named descriptors."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import strop_verify
from strop_verify.sandbox.interpreter import interpreter_reads, program

_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from {module} import main; main()"


def helper(module: str, *arguments: str) -> list[str]:
    """The command that runs `module`'s main() in a bare Python: no site-packages, no environment, no bytecode written.

    In the helper, sys.argv is ["-c", source folder, *arguments].
    """
    options = ["-P", "-s", "-S", "-B", "-X", "utf8"]
    return [program(), *options, "-c", _BOOT.format(module=module), source_folder(), *arguments]


def helper_reads() -> tuple[str, ...]:
    """Paths that a helper in its own root needs to start: Python, and the parts of Strop's source that run in helpers,
    which hold no tasks.
    """
    package = os.path.join(source_folder(), "strop_verify")
    return (*interpreter_reads(), *(os.path.join(package, name) for name in _PARTS))


_PARTS = ("__init__.py", "core", "sandbox", "verification")


def source_folder() -> str:
    """The folder that contains the package."""
    return str(Path(strop_verify.__file__).resolve().parent.parent)


class Process:
    """A started helper. Its standard error is kept to explain a failure."""

    def __init__(self, popen: "subprocess.Popen[bytes]") -> None:
        self._popen = popen
        self._lock = threading.Lock()
        self.pid = popen.pid

    def kill(self) -> None:
        """Kills and reaps the process. Safe to call twice, from any thread."""
        with self._lock:
            self._popen.kill()
            self._popen.wait()
            if self._popen.stderr is not None and not self._popen.stderr.closed:
                self._words = self._read()
                self._popen.stderr.close()

    def wait(self, seconds: float) -> None:
        """Waits until it ends or the time is up."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(seconds)

    _words = ""

    def last_words(self) -> str:
        """The last line that it wrote to standard error, for an error message."""
        with self._lock:
            if self._popen.stderr is not None and not self._popen.stderr.closed:
                self._words = self._read() or self._words
            return self._words

    def _read(self) -> str:
        assert self._popen.stderr is not None
        fd = self._popen.stderr.fileno()
        os.set_blocking(fd, False)
        data = b""
        with contextlib.suppress(BlockingIOError):
            data = os.read(fd, 1 << 16)
        lines = data.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else self._words


def spawn(argv: Sequence[str], *, environment: Mapping[str, str], keep: Sequence[int]) -> Process:
    """Starts `argv` by fork and exec with standard input and output on /dev/null. Raises OSError."""
    return Process(
        subprocess.Popen(
            argv,
            env=dict(environment),
            cwd="/",
            pass_fds=tuple(keep),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    )
