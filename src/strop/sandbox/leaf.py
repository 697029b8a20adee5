"""How a forked candidate confines itself before it runs hostile code, prepared by the process that forks it.

Its effect is that of `kernel.die_with_parent`, then the descriptors, then `confine.seal`.
"""

import os
import resource
import signal
from collections.abc import Mapping

from strop.sandbox import kernel, seccomp
from strop.sandbox.calls import Filter, make
from strop.sandbox.kernel import Call
from strop.sandbox.limits import STACKS, Limits, plan

_MOST_FDS = 1 << 16


class Leaf:
    """Confines the process that calls it, a fresh child of the one that made it; for good.

    limits       None leaves them as they are
    descriptors  target: source; the child's only descriptors are the targets, which count from 0 without a gap. No
                 target may be a later one's source. Empty: it keeps those that are open.
    tolerant     go on where seccomp is missing (the user asked for the weaker jail by name)
    """

    def __init__(self, limits: Limits | None, descriptors: Mapping[int, int], *, tolerant: bool) -> None:
        self._parent, self._tolerant = os.getpid(), tolerant
        self._calls: list[Call] = [
            (kernel.lean_prctl, (kernel.PR_SET_PDEATHSIG, signal.SIGKILL.value, 0, 0, 0)),
            *((os.dup2, (source, target)) for target, source in descriptors.items()),
            *([(os.closerange, (len(descriptors), _MOST_FDS))] if descriptors else []),
        ]
        if limits is not None:
            bounds = plan(limits, writes_files=False, stacks=STACKS)
            self._calls += ((resource.setrlimit, pair) for pair in bounds)
        self._filter = Filter(*seccomp.leaf_for_any()) if seccomp.supported() else None

    def __call__(self) -> None:
        """Raises OSError when the kernel refuses a step."""
        make(self._calls)
        if os.getppid() != self._parent:
            os._exit(0)
        if (self._filter is None or self._filter.install()) and not self._tolerant:
            raise OSError("the seccomp filter was refused")
