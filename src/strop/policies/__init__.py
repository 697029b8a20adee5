"""Policies: the transformers engine, vLLM, any OpenAI-compatible server, and a scripted policy for tests.

Importing this package, which happens before torch is imported, changes two process settings for small models on CPUs:

1. Idle OpenMP threads spin briefly, then sleep: pure spinning starves the verifiers, pure sleeping made sampling 1.5
   times slower (measured with SmolLM2-135M on 2 cores). To override this, set GOMP_SPINCOUNT or OMP_WAIT_POLICY.
2. glibc keeps freed memory instead of returning it to the kernel after every operation, which saves a tenth of the CPU
   time. It is returned once per step (`release_memory`).
"""

import ctypes
import os
from contextlib import suppress

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_freed_memory(below: int) -> None:
    """Makes glibc keep freed blocks of fewer than `below` bytes, and return larger ones to the kernel at once."""
    with suppress(OSError, AttributeError):  # not glibc: nothing changes
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_M_MMAP_THRESHOLD, below)
        libc.mallopt(_M_TRIM_THRESHOLD, (1 << 31) - 1)


def release_memory() -> None:
    """Returns freed memory to the kernel; otherwise fragmentation makes the heap of a long run grow."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
keep_freed_memory(below=32 << 20)
