"""Who answers: the transformers engine, vLLM, any OpenAI-compatible server, and a scripted policy for tests.

Importing this package, which comes before torch, changes two process settings that matter for small models on CPUs:

1. Idle OpenMP threads spin briefly, then sleep: pure spinning starves the verifiers, pure sleeping made sampling 1.5
   times slower (measured with SmolLM2-135M on 2 cores). To override this, set GOMP_SPINCOUNT or OMP_WAIT_POLICY.
2. glibc keeps freed memory instead of returning it to the kernel after every operation: a tenth less CPU time. The
   accumulated memory is returned once per step (`release_memory`).
"""

import ctypes
import os
from contextlib import suppress

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_freed_memory(below: int) -> None:
    """Has blocks of fewer bytes stay here when they are freed, and larger ones go back to the kernel at once."""
    with suppress(OSError, AttributeError):  # another C library: its own policy stays
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_M_MMAP_THRESHOLD, below)
        libc.mallopt(_M_TRIM_THRESHOLD, (1 << 31) - 1)


def release_memory() -> None:
    """Hands freed memory back to the kernel; without it the heap of a long run grows by fragments."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
keep_freed_memory(below=32 << 20)
