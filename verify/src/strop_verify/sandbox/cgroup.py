"""A control group for one box: limits its total memory and processes. Version 2, else version 1.

Created once by the trainer and used for every program of the box; needs root or a delegated group. Groups of dead
trainers are removed when the next one is created.
"""

import contextlib
import itertools
import os
import time

_ROOT = "/sys/fs/cgroup"
_NUMBERS = itertools.count()
_FILES = {
    2: {"memory": "memory.max", "swap": "memory.swap.max", "pids": "pids.max", "events": "memory.events"},
    1: {"memory": "memory.limit_in_bytes", "swap": "memory.swappiness", "pids": "pids.max",
        "events": "memory.oom_control"},
}  # fmt: skip


class Cgroup:
    """One group (with version 1, one each in the memory and pids hierarchies). Raises OSError if not allowed."""

    def __init__(self) -> None:
        self.version, parents = _hierarchies()
        _sweep(parents)
        name = f"strop-{os.getpid()}-{next(_NUMBERS)}"
        self._paths = [os.path.join(parent, name) for parent in parents]
        self._limits = (0, 0)
        made: list[str] = []
        try:
            for path in self._paths:
                os.mkdir(path)
                made.append(path)
            self._names = _FILES[self.version]
            _write(os.path.join(self._paths[0], self._names["swap"]), "0", optional=True)
            self.limit(1 << 40, 1 << 15)
        except OSError:
            for path in made:
                os.rmdir(path)
            raise

    def limit(self, memory_bytes: int, processes: int) -> None:
        """Limits all its processes together; files that they write to a tmpfs count as memory."""
        if (memory_bytes, processes) == self._limits:
            return
        _write(os.path.join(self._paths[0], self._names["memory"]), str(memory_bytes))
        _write(os.path.join(self._paths[-1], self._names["pids"]), str(processes))
        self._limits = (memory_bytes, processes)

    def add(self, pid: int) -> None:
        """Adds a process, and everything that it starts from now on."""
        for path in self._paths:
            _write(os.path.join(path, "cgroup.procs"), str(pid))

    def kills(self) -> int:
        """How many of its processes the kernel has killed for lack of memory."""
        with open(os.path.join(self._paths[0], self._names["events"])) as file:
            return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)

    def close(self) -> None:
        """Removes the group; its processes must be gone. Safe to call twice."""
        for path in self._paths:
            _remove(path)


def _hierarchies() -> tuple[int, list[str]]:
    """(version, folders in which to create groups)."""
    with open("/proc/self/cgroup") as file:
        own = {
            name: path
            for line in file
            for _, names, path in [line.strip().split(":", 2)]
            for name in names.split(",")
        }
    unified = _ROOT + own.get("", "/").rstrip("/")
    try:
        with open(os.path.join(unified, "cgroup.controllers")) as file:
            offered = set(file.read().split())
    except OSError:
        offered = set()
    if {"memory", "pids"} <= offered:
        parent = os.path.dirname(unified) if unified != _ROOT else unified
        _write(os.path.join(parent, "cgroup.subtree_control"), "+memory +pids")
        return 2, [parent]
    places = [f"{_ROOT}/{name}{own[name].rstrip('/')}" for name in ("memory", "pids") if name in own]
    if len(places) == 2 and all(os.path.isdir(place) for place in places):
        return 1, places
    raise OSError("neither cgroup version 2 nor version 1 offers the memory and pids controllers here")


def _sweep(parents: list[str]) -> None:
    for parent in parents:
        for name in os.listdir(parent):
            words = name.split("-")
            if words[0] == "strop" and len(words) == 3 and not os.path.exists(f"/proc/{words[1]}"):
                with contextlib.suppress(OSError):
                    os.rmdir(os.path.join(parent, name))


def _remove(path: str) -> None:
    deadline = time.monotonic() + 2
    while os.path.isdir(path):
        try:
            os.rmdir(path)
        except OSError:  # its last process is still exiting
            if time.monotonic() > deadline:
                return
            time.sleep(0.005)


def _write(path: str, text: str, *, optional: bool = False) -> None:
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError:
        if not optional:
            raise
