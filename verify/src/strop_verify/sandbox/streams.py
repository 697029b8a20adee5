"""The standard streams of a jailed program, as a shell makes them for `program < input | reader`.

The jail may run the program as another user, and opening /dev/stdin or /proc/self/fd/1 asks for the permissions of what
lies behind the descriptor. Nothing else can reach that: it has no name.
"""

import contextlib
import fcntl
import os

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def input_file(data: bytes) -> int:
    """A descriptor of a regular file in memory that holds the bytes and that nobody can change, at its start."""
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
        try:
            return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # no /proc: the program could write, were it not sealed
            os.lseek(fd, 0, os.SEEK_SET)
            return os.dup(fd)
    finally:
        os.close(fd)


def output_pipe(room: int = 0) -> tuple[int, int]:
    """A pipe that any user may open for writing by its descriptor: the reader's end, the program's end.

    `room`: bytes that it takes at once, as far as the kernel grants them. Node writes no more than that before
    `process.exit()`; into a file it would write everything.
    """
    near, far = os.pipe()
    os.fchmod(far, 0o622)
    if room:
        with contextlib.suppress(OSError):
            fcntl.fcntl(far, fcntl.F_SETPIPE_SZ, room)
    return near, far
