"""Calls that a forked child makes, prepared by the process that forks it.

Each page of memory that a forked child touches is copied, and that is most of its cost. So what it does is a flat list
of C calls with their arguments, made once. A result of -1 means that the kernel refused.
"""

import ctypes
import os
import struct
from collections.abc import Iterable

from strop.sandbox import kernel
from strop.sandbox.kernel import Call, lean_prctl

_put_id = struct.Struct("=I").pack_into


def make(calls: Iterable[Call]) -> None:
    """Makes them one after another. Raises OSError at the first that is refused."""
    for function, arguments in calls:
        if function(*arguments) == -1:
            raise OSError(f"{function.__name__}{arguments} was refused")


def becoming(uid: int, *, keep_reading: bool = False) -> list[Call]:
    """Changes a process to user and group `uid` without supplementary groups; needs to be root.

    keep_reading  keeps CAP_DAC_READ_SEARCH, also across exec, for programs that lie where only root may look; Landlock
                  has to bound what is read then

    The bounding set is emptied right here. The parent-death signal and capabilities are gone afterwards, as the kernel
    has it: set the former again.
    """
    kernel.forgo_privileged_exec(keep_reading=keep_reading)
    ids: list[Call] = [(os.setgroups, ([],)), (os.setresgid, (uid,) * 3), (os.setresuid, (uid,) * 3)]
    if not keep_reading:
        return ids
    return [
        (lean_prctl, (kernel.PR_SET_KEEPCAPS, 1, 0, 0, 0)),
        # access(2) ignores the capabilities of an ordinary user without this bit, and gcc looks for its linker with it
        (lean_prctl, (kernel.PR_SET_SECUREBITS, kernel.SECBIT_NO_SETUID_FIXUP, 0, 0, 0)),
        *ids,
        kernel.setting_capabilities(kernel.READING, kernel.READING),
        (lean_prctl, (kernel.PR_CAP_AMBIENT, 2, kernel.CAP_DAC_READ_SEARCH, 0, 0)),
    ]


class Filter:
    """A seccomp filter for a future process. `places`: offsets at which that process's id goes."""

    def __init__(self, program: bytes, places: tuple[int, ...] = ()) -> None:
        self._filter, self._places = bytearray(program), places
        self._view = (ctypes.c_char * len(program)).from_buffer(self._filter)
        self._fprog = kernel.Fprog(len(program) // 8, ctypes.addressof(self._view))
        self._install = (kernel.PR_SET_SECCOMP, 2, ctypes.pointer(self._fprog), 0, 0)

    def install(self) -> int:
        """On the calling process; -1 when it is refused."""
        own = os.getpid()
        for place in self._places:
            _put_id(self._filter, place, own)
        return int(lean_prctl(*self._install))
