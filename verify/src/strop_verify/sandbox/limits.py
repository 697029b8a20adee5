"""Limits of one jailed program, and how to set them on the calling process."""

import os
import resource
from dataclasses import dataclass
from functools import lru_cache

STACKS = 2**30
"""Address space for thread stacks, in bytes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one answer. CPU time is what matters; wall time only ends answers that sleep."""

    cpu_seconds: float = 2.0
    """CPU seconds of the whole answer, for all its tests together."""
    wall_seconds: float = 12.0
    """Wall seconds of the whole answer; several times the CPU limit, so that a busy machine changes no verdict."""
    memory_bytes: int = 512 * 2**20
    """Address space of each process, in bytes. A Python answer that starts threads may reserve `STACKS` more, but at
    most this much may be resident."""
    output_bytes: int = 64 * 2**10
    """Bytes of output kept; a function that prints 16 times as much is stopped, and so is a program, unless
    `printed_bytes` is set."""
    printed_bytes: int | None = None
    """Bytes that a program may print on a stream before it is stopped."""
    result_bytes: int = 4 * 2**20
    """Bytes of encoded return values of one answer."""
    file_bytes: int = 16 * 2**20
    """Maximum size of a file, in bytes; candidates in the run profile can write none."""
    dir_bytes: int = 64 * 2**20
    """Bytes of all files of a work directory together, if it is a separate file system."""
    tree_bytes: int = 2 * 2**30
    """Memory of all processes of a program and of its files together, in bytes, if there is a cgroup."""
    open_files: int = 64
    """Open file descriptors of each process."""
    processes: int = 64
    """Processes of a program in the build profile, in addition to those that its user already has."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if (value := getattr(self, name)) is not None and value <= 0:
                raise ValueError(f"limit {name} must be above 0, not {value}")


def limit_processes(processes: int) -> None:
    """Limits processes of this one and its descendants to this many more than the user already has.

    RLIMIT_NPROC counts every thread of the user and is not enforced for uid 0.
    """
    most = _threads_of_user() + processes
    resource.setrlimit(*_lowered(resource.RLIMIT_NPROC, most, most))


@lru_cache(64)
def plan(limits: Limits, *, writes_files: bool, stacks: int = 0) -> tuple[tuple[int, tuple[int, int]], ...]:
    """(resource, (soft, hard)) of each limit, none above those of this process, which computes them before it forks.

    RLIMIT_CPU has whole seconds and only backs up the parent's exact CPU clock, hence one second more. With RLIMIT_CORE
    at 0 the kernel still passes a core to a program in core_pattern; at 1 byte it passes none.
    `stacks`: bytes of address space by which the process may raise its own soft limit.
    """
    cpu = int(limits.cpu_seconds) + 2
    size = limits.file_bytes if writes_files else 0
    return (
        _lowered(resource.RLIMIT_CPU, cpu, cpu + 1),
        _lowered(resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes + stacks),
        _lowered(resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        _lowered(resource.RLIMIT_FSIZE, size, size),
        _lowered(resource.RLIMIT_CORE, 1, 1),
    )


def _lowered(which: int, soft: int, hard: int) -> tuple[int, tuple[int, int]]:
    ceiling = resource.getrlimit(which)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    return which, (soft, hard)


def _threads_of_user() -> int:
    user, count = os.getuid(), 0
    if not os.path.isdir("/proc/1"):
        return 0  # a separate root, which shows only its own processes
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # it has ended meanwhile
    return count
