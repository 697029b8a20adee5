"""The processes of one program, as the box supervisor handles them: waits for the first, then ends and reaps all."""

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
"""How often is looked whether a program stands still."""
_LOOKS = 4
"""Looks in a row at which a process of the program is stopped, after which it stands still."""
_DYING_SECONDS = 0.1
"""How long killed processes may take before they are killed again."""
_DEAD_IN_A_ROW = 64
"""So many are reaped before those that live are killed once more; others may die as fast as they are reaped."""


def watch(child: int, limits: Limits, stops: tuple[int, ...]) -> str:
    """Returns when the program has ended, something is to be read from `stops`, or its time is up ("cpu", "wall").

    The time of a program that a signal has stopped is up: nobody continues it. So is that of a program with a
    process that is stopped at `_LOOKS` looks in a row.
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
    except ChildProcessError:  # it has just ended
        return False


def kill_all(uid: int) -> int:
    """Kills and reaps every descendant, again until none is left; returns how many. Orphans of the tree become ours.

    uid  the user id they all share, if nobody else has it: then they are killed at once, as the init process
         of a namespace does it. Others are stopped first, so that none forks while the rest is killed.
    Raises OSError when some are left when the time is up.
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
    """Seconds after which it is worth doing again."""
    if os.getpid() == 1:  # the init process of a namespace: everyone else in it
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
    """Kills the program if it lives, and notes its status and memory in the report."""
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
    """Live descendants (in a state) that this process sees; of a zombie's children none, they are someone else's."""
    processes: dict[int, tuple[str, int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{name}/stat", "rb") as file,
            ):  # it may have ended meanwhile
                now, parent = file.read().rpartition(b")")[2].split()[:2]
                if now not in b"ZX":
                    processes[int(name)] = now.decode(), int(parent)
    found, level = list[int](), {os.getpid()}
    while level := {pid for pid, (_, parent) in processes.items() if parent in level}:
        found += level
    return [pid for pid in found if not state or processes[pid][0] == state]
