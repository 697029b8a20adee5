"""The processes of one program, as their keeper handles them: waits for the first, then ends and reaps all."""

import contextlib
import os
import select
import signal
import time
from typing import Any

from strop.sandbox.limits import Limits
from strop.sandbox.pump import cpu_clock

_REAP_SECONDS = 5.0


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


def kill_all() -> int:
    """Kills and reaps every descendant; returns how many. A dead one's children become ours, so it repeats."""
    count, deadline = 0, time.monotonic() + _REAP_SECONDS
    while time.monotonic() < deadline:
        try:
            if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                _kill_once()
        except ChildProcessError:
            break
        os.waitpid(-1, 0)
        count += 1
    return count


def _kill_once() -> None:
    with contextlib.suppress(ProcessLookupError):
        if os.getpid() == 1:  # the init process of a namespace: everyone else in it
            os.kill(-1, signal.SIGKILL)
            return
    for pid in _children():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


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


def _children() -> list[int]:
    me, found = os.getpid(), []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    if int(file.read().rpartition(b")")[2].split()[1]) == me:
                        found.append(int(name))
            except OSError:
                continue  # it ended meanwhile
    return found
