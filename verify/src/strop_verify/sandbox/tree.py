"""The processes of one program: the box supervisor waits for the first, then kills and reaps all."""

import contextlib
import os
import select
import signal
import time
from typing import Any

from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import cpu_clock
from strop_verify.sandbox.users import kill_user, left_over

_REAP_SECONDS = 5.0
_LOOK_SECONDS = 0.5
"""Seconds between checks for stopped processes."""
_LOOKS = 4
"""Consecutive checks with a stopped process after which the program counts as stopped."""
_DYING_SECONDS = 0.1
"""Seconds for killed processes to end before they are killed again."""
_DEAD_IN_A_ROW = 64
"""Processes reaped before the living are killed again, since new ones may die as fast as they are reaped."""


def watch(child: int, limits: Limits, stops: tuple[int, ...]) -> str:
    """Returns when the program has ended, `stops` are readable, or its time is up ("cpu", "wall").

    A program that is stopped by a signal counts as out of time, because nobody continues it; so does one with a stopped
    process at `_LOOKS` consecutive checks.
    """
    ended = os.pidfd_open(child)
    try:
        poll = select.poll()
        for fd in (ended, *stops):
            poll.register(fd, select.POLLIN)
        began, stopped = time.monotonic(), 0
        while True:
            wall = limits.wall_seconds - (time.monotonic() - began)
            cpu = limits.cpu_seconds - cpu_clock(child)
            if min(wall, cpu) <= 0:
                return "cpu" if cpu <= 0 else "wall"
            if poll.poll(1000 * min(wall, cpu + 0.002, _LOOK_SECONDS)):
                return ""
            stopped = stopped + 1 if _descendants("T") else 0
            if stopped >= _LOOKS or _stands_still(child):
                return "wall"
    finally:
        os.close(ended)


def _stands_still(child: int) -> bool:
    try:
        return os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # it has ended
        return False


def kill_all(uid: int) -> int:
    """Kills and reaps descendants until none is left; returns how many. Orphans become children of this process.

    uid  a user id that they all have and nobody else: then they are killed at once, as the init process of a
         namespace can too. Otherwise they are stopped first, so that none forks while the rest is killed.
    Raises OSError if some are left when the time is up.
    """
    count, now = 0, time.monotonic()
    deadline, again = now + _REAP_SECONDS, now
    while True:
        try:
            dead, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return count
        if (now := time.monotonic()) > deadline:
            left = _descendants()
            raise OSError(left_over(uid, left) if uid else f"{len(left)} processes could not be killed")
        if now >= again and (not dead or count % _DEAD_IN_A_ROW == 0):
            with contextlib.suppress(OSError):
                again = now + _kill(uid, deadline)
        if dead:
            count += 1
        else:
            time.sleep(0.001)


def _kill(uid: int, deadline: float) -> float:
    """Kills all descendants; returns the seconds to wait before killing again."""
    if os.getpid() == 1:  # as the init process of a namespace, this reaches all others in it
        os.kill(-1, signal.SIGKILL)
        return _DYING_SECONDS
    if uid:
        kill_user(uid)
        return _DYING_SECONDS
    stopped: set[int] = set()
    while (new := set(_descendants()) - stopped) and time.monotonic() < deadline:
        _signal(new, signal.SIGSTOP)
        stopped |= new
    _signal(stopped, signal.SIGKILL)
    return 0.0


def _signal(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def end(child: int, report: dict[str, Any]) -> None:
    """Kills the program if it is alive, and notes its status and memory in the report."""
    try:
        done = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if done is None:
            os.kill(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        report["status"] = os.waitstatus_to_exitcode(status)
        report["own"] = usage.ru_maxrss * 1024
    except ChildProcessError:
        report["error"] = report["error"] or "the program was reaped by someone else"


def _descendants(state: str = "") -> list[int]:
    """Live descendants (in a state) that this process sees; a zombie's children have another parent by then."""
    processes: dict[int, tuple[str, int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # it may have ended
                now, parent = file.read().rpartition(b")")[2].split()[:2]
                if now not in b"ZX":
                    processes[int(name)] = now.decode(), int(parent)
    found, level = list[int](), {os.getpid()}
    while level := {pid for pid, (_, parent) in processes.items() if parent in level}:
        found += level
    return [pid for pid in found if not state or processes[pid][0] == state]
