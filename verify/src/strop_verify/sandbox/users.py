"""Kills everything that runs under a worker's user id. Imports little, because jailed workers import it too.

One kill(2) by a process of that user reaches all of its processes at once, and none can escape by forking.
"""

import contextlib
import os
import signal
import sys
import time
from typing import NoReturn

FIRST_SLOT, SLOTS = 65000, 500
"""User ids of workers; Debian's policy reserves 65000 to 65533."""
KILL_SECONDS = 5.0


def processes_of(uid: int) -> list[int]:
    """Process ids of a user's live processes, as far as this process sees them."""
    try:
        os.getpriority(os.PRIO_USER, uid)
    except ProcessLookupError:
        return []
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _lives(name, uid)]


def kill_user(uid: int) -> None:
    """Kills every process of the user that this process sees, at once. Needs root; `uid` is a slot's.

    Raises OSError if fork fails.
    """
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)  # drops all capabilities, so that the kill reaches no other user
            if FIRST_SLOT <= os.getuid() == os.geteuid() < FIRST_SLOT + SLOTS:
                os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def left_over(uid: int, left: list[int]) -> str:
    """The message about processes that could not be killed."""
    return (
        f"{len(left)} processes of user id {uid} could not be killed ({', '.join(map(str, left[:8]))}); "
        f"that user id is not used again. End them as root: pkill -KILL -u {uid}"
    )


def _lives(pid: str, uid: int) -> bool:
    try:
        with open(f"/proc/{pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
    except OSError:
        return False  # it has ended
    dead = fields["State"].split()[0] in "ZX" and int(fields.get("Threads", "1")) <= 1
    return not dead and int(fields["Uid"].split()[0]) == uid


def gone(uid: int, seconds: float) -> bool:
    """Waits until the user has no process; False if the time is up first."""
    deadline = time.monotonic() + seconds
    while processes_of(uid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def main() -> NoReturn:
    """Kills what runs under a slot's user id until nothing is left or the time is up. argv: -, the user id."""
    uid, deadline = int(sys.argv[2]), time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            kill_user(uid)
        if gone(uid, 0.1):
            break
    os._exit(0)
