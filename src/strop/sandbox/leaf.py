"""How a forked candidate confines itself before it runs hostile code, prepared by the process that forks it.

Each page of memory that a forked child touches is copied, and that is most of its cost. So this is a flat list of
C calls with their arguments, made once. Its effect is that of `kernel.die_with_parent`, then the descriptors, then
`confine.seal`.
"""

import ctypes
import os
import resource
import signal
import struct
from collections.abc import Callable, Mapping
from typing import Any

from strop.sandbox import kernel, seccomp
from strop.sandbox.limits import Limits, plan

_MOST_FDS = 1 << 16
_PUT_ID = struct.Struct("=I").pack_into
_Calls = list[tuple[Callable[..., Any], tuple[Any, ...]]]


class Leaf:
    """Confines the process that calls it, a fresh child of the one that made it; for good.

    descriptors  target: source; the child's only descriptors are the targets, which count from 0 without a gap. No
                 target may be a later one's source.
    tolerant     go on where seccomp is missing (the user asked for the weaker jail by name)
    """

    def __init__(self, limits: Limits, descriptors: Mapping[int, int], *, tolerant: bool) -> None:
        self._parent, self._tolerant = os.getpid(), tolerant
        self._calls: _Calls = [
            (kernel.lean_prctl, (kernel.PR_SET_PDEATHSIG, signal.SIGKILL.value, 0, 0, 0)),
            *((os.dup2, (source, target)) for target, source in descriptors.items()),
            (os.closerange, (len(descriptors), _MOST_FDS)),
            *((resource.setrlimit, pair) for pair in plan(limits, writes_files=False)),
        ]
        self._filter = bytearray()
        self._places: tuple[int, ...] = ()
        if seccomp.supported():
            program, self._places = seccomp.leaf_for_any()
            self._filter = bytearray(program)
            self._view = (ctypes.c_char * len(program)).from_buffer(self._filter)
            self._fprog = kernel.Fprog(len(program) // 8, ctypes.addressof(self._view))
            self._install = (kernel.PR_SET_SECCOMP, 2, ctypes.pointer(self._fprog), 0, 0)

    def __call__(self) -> None:
        """Raises OSError when the kernel refuses a step."""
        for function, arguments in self._calls:
            if function(*arguments) == -1:
                raise OSError(f"prctl{arguments} was refused")
        if os.getppid() != self._parent:
            os._exit(0)
        own = os.getpid()
        for place in self._places:
            _PUT_ID(self._filter, place, own)
        if (not self._filter or kernel.lean_prctl(*self._install)) and not self._tolerant:
            raise OSError("the seccomp filter was refused")
