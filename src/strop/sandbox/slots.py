"""User ids of workers: each belongs to one worker of the machine at a time, and nothing outlives its use.

A slot is held by a lock on one byte of a file that all processes of root share, and is free again when its last holder
has ended, in whatever way.
"""

import contextlib
import fcntl
import itertools
import os
import struct
import subprocess

from strop.core.errors import SandboxError
from strop.sandbox.spawn import helper
from strop.sandbox.users import FIRST_SLOT, KILL_SECONDS, SLOTS, gone, left_over, processes_of

_DYING_SECONDS = 1.0
"""How long the processes of a worker that is gone may take to be gone too, before they are killed."""
_FOLDERS = ("/run", "/tmp")
_NUMBERS = itertools.count()
_LOST: list["Slot"] = []
"""Slots with processes that could not be killed: held for as long as this process lives."""


class Slot:
    """One user id. The descriptor `fd` holds it; a process that inherits it keeps holding it."""

    def __init__(self, uid: int) -> None:
        """Raises OSError when another worker has it."""
        self.uid = uid
        folder = next((path for path in _FOLDERS if os.access(path, os.W_OK)), _FOLDERS[-1])
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = os.open(os.path.join(folder, "strop-slots"), flags, 0o600)
        try:
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, uid, 1, 0)
            fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK, lock)
        except OSError:
            os.close(self.fd)
            raise

    def release(self) -> None:
        """Kills everything that runs under the user id, then gives it back. Safe to call twice.

        Raises SandboxError where that fails; the user id is then not used again.
        """
        if self.fd < 0 or self in _LOST:
            return
        if not gone(self.uid, _DYING_SECONDS):
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                command = helper("strop.sandbox.users", str(self.uid))
                subprocess.run(command, env={}, cwd="/", timeout=2 * KILL_SECONDS)
            if left := processes_of(self.uid):
                _LOST.append(self)
                raise SandboxError(left_over(self.uid, left))
        fd, self.fd = self.fd, -1
        if fd >= 0:  # another thread may have been first
            os.close(fd)


def take() -> Slot:
    """A user id that nobody uses. Raises SandboxError when there is none."""
    first = os.getpid() * 31 + next(_NUMBERS)
    for number in range(SLOTS):
        uid = FIRST_SLOT + (first + number) % SLOTS
        if not processes_of(uid):
            with contextlib.suppress(OSError):
                return Slot(uid)
    raise SandboxError(f"all user ids from {FIRST_SLOT} to {FIRST_SLOT + SLOTS - 1} are in use by workers")
