"""The standard streams of a jailed program, as of a shell's `program < input | reader`.

The jail may run the program as another user, and opening /dev/stdin or /proc/self/fd/1 checks the permissions of the
underlying file. These files have no name, so nothing else can open them.
"""

import contextlib
import fcntl
import os

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def input_file(data: bytes) -> int:
    """A descriptor, at offset 0, of a regular file in memory with the bytes, which nobody can change."""
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
        try:
            return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # no /proc: this descriptor is writable, but the file is sealed
            os.lseek(fd, 0, os.SEEK_SET)
            return os.dup(fd)
    finally:
        os.close(fd)


def output_pipe(room: int = 0) -> tuple[int, int]:
    """A pipe that any user may open for writing through its descriptor: (reader's end, program's end).

    `room`: capacity in bytes, as far as the kernel grants it. Node writes at most that much before `process.exit()`;
    to a file it would write everything.
    """
    near, far = os.pipe()
    os.fchmod(far, 0o622)
    if room:
        with contextlib.suppress(OSError):
            fcntl.fcntl(far, fcntl.F_SETPIPE_SZ, room)
    return near, far
