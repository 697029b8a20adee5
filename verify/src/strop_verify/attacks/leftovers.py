"""What an answer leaves behind: processes, files, descriptors, shared memory, sockets, mounts, cgroups.

The grader's own processes are counted once it is warm: further descendants of a kind (depth and command) after a short
wait are leftovers. Those that came out of a box of this process are killed, so that the next attack is judged by
itself; others, such as a child that the user's own code starts meanwhile, are left alone and reported once. Entries in
shared places count if their names contain the run's token.
"""

import contextlib
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from strop_verify.sandbox import kernel

PATIENCE = 3.0
"""Seconds that a leftover may take to disappear after the verdict."""
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock")
_MOURNING = 0.5
"""Seconds that the grader has to reap its own dead children before they count as adopted ones."""
_SET_CHILD_SUBREAPER = 36
_IPC = ("shm", "sem", "msg")
_HELPER = b"import sys; sys.path.insert(0, sys.argv[1]); from strop."
"""How the Python code of every process that holds a box begins."""
GRADED = "STROP_GRADED_BY"
"""Environment variable of processes that run other graders: the process id of the bench."""
_Kind = tuple[int, str]


class LeftoverWatch:
    """Records what exists with `learn`; `left` reports what exists beyond that. Linux only."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.standing: Counter[_Kind] = Counter()
        self.descriptors = 0
        self._ipc = set(_ipc())
        self._mounts = set(_mounts())
        self._stray = set(_strop_entries())
        self._graders = {os.getpid()}
        self._known: set[str] = set()
        self._dead: dict[int, float] = {}
        self._before = _alive()
        """Processes that ran before the grader, and may outlive it."""
        _adopt_orphans(True)

    def learn(self) -> None:
        """Records the processes that now exist and live as the grader's own."""
        deadline = time.monotonic() + 2 * _MOURNING
        while any(_is_dead(kind) for _, kind in descendants()) and time.monotonic() < deadline:
            self._bury()
            time.sleep(0.02)
        self._graders |= {pid for pid, _ in descendants()}
        self.standing |= _alive()
        self.descriptors = max(self.descriptors, _descriptors())

    def left(self, patience: float = PATIENCE) -> list[str]:
        """What is left over, in words; empty if all is gone within `patience` seconds. Each leftover is reported, and
        waited for, once.
        """
        deadline = time.monotonic() + patience
        self._graders |= {pid for pid, _ in descendants()}
        while (fresh := self._fresh(self._above())) and time.monotonic() < deadline:
            self._bury()
            time.sleep(0.02)
        self._end_surplus()
        self.descriptors = max(self.descriptors, _descriptors())
        self._known |= {f for f in fresh if not f.startswith(("process", "descriptors"))}
        return fresh

    def release(self) -> None:
        """Lets orphans go to init from now on. Call it before closing the grader, which must reap its own children."""
        _adopt_orphans(False)

    def finish(self) -> list[str]:
        """What is left of the whole run after the grader was closed, when nothing may remain."""
        self.standing = self._before.copy()
        deadline = time.monotonic() + PATIENCE
        while (fresh := self._fresh(self._above() + self._strays())) and time.monotonic() < deadline:
            time.sleep(0.05)
        self._end_surplus()
        return fresh

    def _fresh(self, found: list[str]) -> list[str]:
        return [f for f in found if f not in self._known]

    def _above(self) -> list[str]:
        found = [f"process: {command[:80]}" for _, command in self._surplus().values()]
        found += [f"process outside: {name}" for name in self._marked()]
        if _descriptors() > self.descriptors:
            found.append(f"descriptors: {_descriptors()} instead of {self.descriptors}")
        found += [f"IPC: {entry}" for entry in _ipc() if entry not in self._ipc]
        found += [
            f"mount: {point}" for point in _mounts() if point not in self._mounts and self.token in point
        ]
        found += [f"file: {path}" for path in _entries() if self.token in path and "canary-" not in path]
        with contextlib.suppress(OSError):
            sockets = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace").splitlines()
            found += [f"socket: {s.split()[-1]}" for s in sockets if f"@left-{self.token}" in s]
        return found

    def _bury(self) -> None:
        """Reaps dead orphans from boxes, which became our children instead of the host's init's."""
        now, boxed = time.monotonic(), from_boxes()
        for pid, kind in descendants():
            if (
                pid in boxed
                and kind[0] == 1
                and _is_dead(kind)
                and now - self._dead.setdefault(pid, now) > _MOURNING
            ):
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)

    def _end_surplus(self) -> None:
        boxed = from_boxes()
        for pid, kind in self._surplus().items():
            if pid in boxed:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            else:
                self.standing[kind] += 1

    def _surplus(self) -> dict[int, _Kind]:
        room = Counter(self.standing)
        surplus = {}
        for pid, kind in descendants():
            room[kind] -= 1
            if room[kind] < 0:
                surplus[pid] = kind
        return surplus

    def _marked(self) -> Iterator[str]:
        """Processes anywhere that carry the token as their name and are not descendants of ours."""
        ours = {pid for pid, _ in descendants()} | {os.getpid()}
        for pid in _pids():
            if pid not in ours:
                with contextlib.suppress(OSError):
                    if (name := _name(pid)).startswith(f"x-{self.token}"):
                        yield name

    def _strays(self) -> list[str]:
        """Work directories and cgroups that this run's graders made, by the process id in their names, and that no
        living process uses. What another Strop on this host makes meanwhile, or shares with us, does not count.
        """
        fresh = [path for path in _strop_entries() if path not in self._stray]
        return [f"work place: {p}" for p in fresh if _maker(p) in self._graders and not _in_use(p)]


def _adopt_orphans(wanted: bool) -> None:
    """Makes orphaned descendants our children, where they are found, or lets them go to init."""
    with contextlib.suppress(OSError):
        kernel.prctl(_SET_CHILD_SUBREAPER, int(wanted))


def descendants() -> list[tuple[int, _Kind]]:
    """(pid, (depth, command)) of every descendant of this process, zombies included; digits in commands are masked."""
    parents: dict[int, list[int]] = {}
    for pid in _pids():
        with contextlib.suppress(OSError, ValueError):
            stat = Path(f"/proc/{pid}/stat").read_bytes()
            parents.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(pid)
    found: list[tuple[int, _Kind]] = []
    layer, depth = [os.getpid()], 0
    while layer:
        layer, depth = [child for pid in layer for child in parents.get(pid, ())], depth + 1
        found += [(pid, (depth, _command(pid))) for pid in layer]
    return found


def _alive() -> Counter[_Kind]:
    """How many living descendants there are of each kind."""
    return Counter(kind for _, kind in descendants() if not _is_dead(kind))


def from_boxes() -> set[int]:
    """Descendants that are this process's boxes or came out of one, recognised by how they were started, and by what no
    process can shed (one more seccomp filter than ours, and no core files). Their orphans are our children.
    """
    parents: dict[int, int] = {}
    found: set[int] = set()
    for pid, (depth, _) in descendants():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[pid] = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
            if parents[pid] in found or (depth == 1 and (_started_for_a_box(pid) or _is_confined(pid))):
                found.add(pid)
    return found


def _started_for_a_box(pid: int) -> bool:
    if any(word.startswith(_HELPER) for word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")):
        return True
    with contextlib.suppress(OSError):
        return f"{GRADED}={os.getpid()}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False


def _is_confined(pid: int) -> bool:
    core = Path(f"/proc/{pid}/limits").read_text().partition("Max core file size")[2].split()[1]
    return _filters(str(pid)) > _filters("self") and core in ("0", "1")


def _filters(pid: str) -> int:
    """How many seccomp filters a process has; if the kernel does not count them, whether it has any."""
    rows = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line
    )
    return int(rows.get("Seccomp_filters", rows.get("Seccomp", "0")))


def _is_dead(kind: _Kind) -> bool:
    return kind[1].startswith("zombie ")


def _command(pid: int) -> str:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        line = line or "zombie " + _name(pid)
    except OSError:
        return "gone"
    return "".join("#" if c.isdigit() else c for c in line).replace("##", "#").replace("##", "#")


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _ipc() -> list[str]:
    found = []
    for kind in _IPC:
        with contextlib.suppress(OSError):
            rows = Path(f"/proc/sysvipc/{kind}").read_text(encoding="utf-8").splitlines()[1:]
            found += [f"{kind} {' '.join(row.split()[:2])}" for row in rows]
    return found


def _mounts() -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.split()[4] for line in lines]


def _entries() -> Iterator[str]:
    for place in PLACES:
        with contextlib.suppress(OSError):
            yield from (f"{place}/{name}" for name in os.listdir(place))


def _strop_entries() -> Iterator[str]:
    yield from (path for path in _entries() if os.path.basename(path).startswith("strop"))
    for root, folders, _ in os.walk("/sys/fs/cgroup"):
        yield from (os.path.join(root, name) for name in folders if name.startswith("strop"))
        if root.count("/") > 6:
            folders.clear()


def _maker(path: str) -> int:
    """The process that made a work directory or cgroup, by its name; 0 = unknown."""
    found = re.match(r"strop-(?:[a-z]+-)?([0-9]+)-", os.path.basename(path))
    return int(found[1]) if found else 0


def _in_use(path: str) -> bool:
    """Whether a living process works there."""
    for pid in _pids():
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/cwd").startswith(path):
                return True
        with contextlib.suppress(OSError):
            if path in Path(f"/proc/{pid}/mountinfo").read_text(encoding="utf-8", errors="replace"):
                return True
    return False
