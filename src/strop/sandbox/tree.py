"""The processes of one program, as their keeper handles them: waits for the first, then ends and reaps all."""

import contextlib
import os
import select
import signal
import time
from typing import Any

from strop.sandbox.limits import Limits
from strop.sandbox.pump import cpu_clock
from strop.sandbox.users import kill_user, left_over

_REAP_SECONDS = 5.0
_DYING_SECONDS = 0.1
"""How long killed processes may take before they are killed again."""
_DEAD_IN_A_ROW = 64
"""So many are reaped before those that live are killed once more; others may die as fast as they are reaped."""


def watch(child: int, limits: Limits, stops: tuple[int, ...]) -> str:
    """Returns when the program has ended, something is to be read from `stops`, or its time is up ("cpu", "wall")."""
    ended = os.pidfd_open(child)
    try:
        poll = select.poll()
        for fd in (ended, *stops):
            poll.register(fd, select.POLLIN)
        began = time.monotonic()
        while True:
            wall = limits.wall_seconds - (time.monotonic() - began)
            cpu = limits.cpu_seconds - cpu_clock(child)
            if min(wall, cpu) <= 0:
                return "cpu" if cpu <= 0 else "wall"
            if poll.poll(1000 * min(wall, cpu + 0.002)):
                return ""
    finally:
        os.close(ended)


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


def _descendants() -> list[int]:
    """Live descendants that this process sees; of a zombie's children none, they are someone else's by then."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{name}/stat", "rb") as file,
            ):  # it may have ended meanwhile
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in b"ZX":
                    parents[int(name)] = int(parent)
    found, level = list[int](), {os.getpid()}
    while level := {pid for pid, parent in parents.items() if parent in level}:
        found += level
    return found
