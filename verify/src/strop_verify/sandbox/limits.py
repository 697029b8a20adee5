"""Limits of one jailed program, and setting them on the calling process."""

import os
import resource
from dataclasses import dataclass
from functools import lru_cache

STACKS = 2**30
"""Bytes of addresses for stacks of threads."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one answer. CPU time is the one that matters; wall time only ends sleepers."""

    cpu_seconds: float = 2.0
    """CPU seconds of the whole answer, all its tests together."""
    wall_seconds: float = 12.0
    """Wall seconds of the whole answer; several times the CPU limit, so that a busy machine changes no verdict."""
    memory_bytes: int = 512 * 2**20
    """Address space of each process, in bytes. A Python answer that asks for larger stacks of threads may reserve
    `STACKS` more addresses, but no more than this may be resident."""
    output_bytes: int = 64 * 2**10
    """Bytes of output kept; a function that prints 16 times as much is stopped. A program's whole output is bounded by
    16 times this, where `printed_bytes` says nothing else."""
    printed_bytes: int | None = None
    """Bytes that a program may print on a stream before it is ended."""
    result_bytes: int = 4 * 2**20
    """Bytes of encoded return values of one answer."""
    file_bytes: int = 16 * 2**20
    """Largest file, in bytes; candidates of the run profile can write none."""
    dir_bytes: int = 64 * 2**20
    """All files of a work directory together, in bytes, where it is a separate file system."""
    tree_bytes: int = 2 * 2**30
    """Memory of all processes of a program and of its files together, in bytes, where there is a cgroup."""
    open_files: int = 64
    """Open file descriptors of each process."""
    processes: int = 64
    """Processes of a program in the build profile, above those that its user has already."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if (value := getattr(self, name)) is not None and value <= 0:
                raise ValueError(f"limit {name} must be above 0, not {value}")


def limit_processes(processes: int) -> None:
    """Lets this process and what it starts have so many processes above those that the user has already.

    RLIMIT_NPROC counts every thread of the user and is not enforced for uid 0.
    """
    most = _threads_of_user() + processes
    resource.setrlimit(*_lowered(resource.RLIMIT_NPROC, most, most))


@lru_cache(64)
def plan(limits: Limits, *, writes_files: bool, stacks: int = 0) -> tuple[tuple[int, tuple[int, int]], ...]:
    """(resource, (soft, hard)) of each limit, none above what this process has; made ahead by one that forks.

    RLIMIT_CPU has whole seconds and is the backstop behind the parent's exact CPU clock, hence one second more. With
    RLIMIT_CORE at 0 the kernel still hands a core to a program that core_pattern names; at 1 byte it hands one to none.
    `stacks`: bytes of addresses by which the process may raise its own soft limit.
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
        return 0  # its own root, where it sees only its own processes
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # it ended meanwhile
    return count
