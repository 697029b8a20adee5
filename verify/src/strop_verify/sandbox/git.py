"""The only module that starts git. Every command has a deadline, which holds even if this process is killed."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

_KEPT = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY")
"""The user's variables that remotes may need."""
_SETTINGS = {
    "core.hooksPath": "/dev/null", "core.fsmonitor": "false", "core.autocrlf": "false",
    "core.excludesFile": "/dev/null", "core.attributesFile": "/dev/null", "core.fsync": "all",
    "commit.gpgSign": "false", "push.gpgSign": "false", "push.followTags": "false", "push.recurseSubmodules": "no",
    "gc.autoDetach": "false", "maintenance.auto": "false", "pack.threads": "1",
    "http.lowSpeedLimit": "1", "http.lowSpeedTime": "60",
}  # fmt: skip
_TOO_LONG = 124
"""Status of `timeout` when it has ended a command."""
_WHO = {"NAME": "Strop", "EMAIL": "strop@localhost"}


class GitError(Exception):
    """git failed or took too long; the message is one line, without passwords."""


class Git:
    """Runs git commands one at a time; `stop` ends the running one, from another thread.

    own     whether settings, identity and environment are only ours (no hooks, no signing, no GIT_*) or the user's
    folder  where it runs; default: the current directory
    through command that execs git, such as a shell that sets a limit
    """

    def __init__(self, *, own: bool, folder: Path | None = None, through: Sequence[str] = ()) -> None:
        self._own, self._through = own, through
        self._folder = folder
        self.held: tuple[int, ...] = ()
        """Descriptors that commands inherit, such as that of a lock."""
        self._stopped = False
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, *arguments: str, seconds: float = 60, remote: bool = False) -> str:
        """git's output, stripped. Raises GitError, also if git is missing or `seconds` have passed.

        remote  also read the user's configuration, which may be needed to log in
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            # Files, not pipes: a process that outlives git, such as a shared ssh connection, may hold them open.
            process = self._start(arguments, seconds, remote, output, errors)
            try:
                status = process.wait(seconds + 10)
            except subprocess.TimeoutExpired:
                status = _TOO_LONG
            finally:
                _end(process)
                self._process = None
            if status == _TOO_LONG:
                raise GitError(f"git {_command(arguments)} took longer than {seconds:g} s")
            if status:
                cause = _cause(_text(errors))
                raise GitError(cause or f"git {_command(arguments)} failed with status {status}")
            return _text(output).strip()

    def stop(self, *, kill: bool = False) -> None:
        """Ends the running command; later ones raise GitError. Unless killed, git removes its locks."""
        with self._lock:
            self._stopped = True
            if self._process is not None and self._process.poll() is None:
                _signal(self._process, signal.SIGKILL if kill else signal.SIGTERM)

    def _start(
        self, arguments: Sequence[str], seconds: float, remote: bool, output: IO[bytes], errors: IO[bytes]
    ) -> "subprocess.Popen[bytes]":
        pairs = _SETTINGS.items() if self._own else ()
        settings = [word for pair in pairs for word in ("-c", "=".join(pair))]
        deadline = ["timeout", "--kill-after=5", f"{seconds:g}"] if shutil.which("timeout") else []
        with self._lock:
            if self._stopped:
                raise GitError("stopped")
            try:
                self._process = subprocess.Popen(
                    [*deadline, *self._through, "git", *settings, *arguments],
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    pass_fds=self.held,
                    env=_environment(remote) if self._own else None,
                    start_new_session=True,  # no terminal for password prompts, no Ctrl-C from the user
                )
            except OSError as error:
                raise GitError(f"git cannot be started: {error.strerror}; install git") from error
            return self._process


def _environment(remote: bool) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    ours = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in _WHO.items()}
    alone: Mapping[str, str] = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"}
    return {**kept, **ours, **quiet, **({} if remote else alone)}


def _cause(errors: str) -> str:
    """The line that states the cause, without passwords in URLs."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    telling = [line for start in ("!", "fatal:", "error:") for line in lines if line.startswith(start)]
    return re.sub(r"://[^/@\s]+@", "://...@", next(iter(telling + lines), ""))


def _command(arguments: Sequence[str]) -> str:
    return next((word for word in arguments if not word.startswith("-")), "")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kills a command that is still running, and what it started."""
    if process.poll() is None:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it has ended
        os.killpg(process.pid, number)
