"""The init process of one jailed program: makes its work directory, confines and starts it, reaps its whole tree.

A small process of its own, started with a fresh exec. It holds the program's pipes only until the program runs.
Whatever ends the run (the program's end, a limit, the parent's wish, the parent's death), it kills and reaps every
descendant before it reports, also those in sessions of their own: as a subreaper it inherits all orphans.

Threat model: the program is hostile. It cannot signal this process (Landlock's scope, else seccomp denies kill).
"""

import base64
import contextlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
import time
from typing import Any, NoReturn

from strop.sandbox import confine, kernel
from strop.sandbox.limits import Limits, apply_rlimits
from strop.sandbox.pump import cpu_clock

_CLONE_NEWNS = 0x00020000
_MS_PRIVATE_REC, _MS_NOSUID_NODEV = 0x44000, 0x6
_REAP_SECONDS = 5.0


def main() -> NoReturn:
    """Runs one job. argv: -, control descriptor, parent's pid, then descriptors of standard input, output, error."""
    control_fd, parent, *streams = (int(a) for a in sys.argv[2:])
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    kernel.die_with_parent(parent, signal.SIGTERM)
    kernel.become_subreaper()
    kernel.undumpable()
    control = socket.socket(fileno=control_fd)
    job: dict[str, Any] = {}
    report: dict[str, Any] = {"status": -1, "error": "", "expired": "", "cpu": 0.0, "peak": 0, "sized": False}
    try:
        job = json.loads(_receive(control))
        limits = Limits(**job["limits"])
        report["sized"] = _furnish(job, limits)
        child = _start(job, limits, streams, report)
        for fd in streams:
            os.close(fd)
        _watch(child, limits, (control.fileno(), wake), report)
        _end(child, report)
    except Exception as error:
        report["error"] = f"{type(error).__name__}: {error}"
    finally:
        report["left"] = _kill_all()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        report["cpu"], report["peak"] = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        _clear(job)
        with contextlib.suppress(OSError):  # the parent may be gone; the tree is dead, which is what counts
            control.sendall(json.dumps(report).encode())
        os._exit(0)


def _receive(control: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        more = control.recv(1 << 16)
        if not more:
            raise EOFError("the parent hung up before the job came")
        data += more
    return data


def _furnish(job: dict[str, Any], limits: Limits) -> bool:
    """Makes the work directory, on a tmpfs of its own where the kernel lets us; says whether it did."""
    work, sized = job["work"], True
    try:
        kernel.unshare(_CLONE_NEWNS)
        kernel.mount("none", "/", "", _MS_PRIVATE_REC, "")
        options = f"size={4 * limits.file_bytes},nr_inodes=4096,mode=700"
        kernel.mount("strop", work, "tmpfs", _MS_NOSUID_NODEV, options)
    except OSError:
        sized = False
    os.chdir(work)
    for name, text in job["files"].items():
        if os.path.dirname(name):
            os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(base64.b64decode(text))
    return sized


def _clear(job: dict[str, Any]) -> None:
    """Removes the work directory: the parent may have been killed and cannot."""
    if "work" not in job:
        return
    os.chdir("/")
    with contextlib.suppress(OSError):
        kernel.unmount(job["work"])
    shutil.rmtree(job["work"], ignore_errors=True)


def _start(job: dict[str, Any], limits: Limits, streams: list[int], report: dict[str, Any]) -> int:
    failed, fail = os.pipe()  # close-on-exec: end of stream means that the program runs
    init = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            _become_program(job, limits, streams, init)
        except BaseException as error:
            os.write(fail, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(127)
    os.close(fail)
    report["error"] = os.read(failed, 1000).decode(errors="replace")
    os.close(failed)
    return child


def _become_program(job: dict[str, Any], limits: Limits, streams: list[int], init: int) -> NoReturn:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    kernel.die_with_parent(init, signal.SIGKILL)
    for target, fd in enumerate(streams):
        os.dup2(fd, target)
    work, build = job["work"], job["profile"] == "build"
    read = (*confine.SYSTEM_READ, *confine.PROGRAMS_READ, *job["read"], work)
    if build:
        apply_rlimits(limits, writes_files=True, counts_processes=True)
    unsafe = job["allow_unsafe"]
    confine.enter(
        read=read, write=(work,) if build else (), allow_exec=True, allow_metadata=build, allow_unsafe=unsafe
    )
    if not build:
        confine.seal(limits, allow_exec=True, tolerant=unsafe)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": work, "TMPDIR": work, "LANG": "C.UTF-8"}
    os.execvpe(job["argv"][0], job["argv"], {**environment, **job["environment"]})


def _watch(child: int, limits: Limits, stops: tuple[int, int], report: dict[str, Any]) -> None:
    """Returns when the program has ended, its time is up or the parent wants it to end."""
    ended = os.pidfd_open(child)
    poll = select.poll()
    for fd in (ended, *stops):
        poll.register(fd, select.POLLIN)
    began = time.monotonic()
    while True:
        wall = limits.wall_seconds - (time.monotonic() - began)
        cpu = limits.cpu_seconds - cpu_clock(child)
        if min(wall, cpu) <= 0:
            report["expired"] = "cpu" if cpu <= 0 else "wall"
            return
        if poll.poll(1000 * min(wall, cpu + 0.002)):
            return


def _end(child: int, report: dict[str, Any]) -> None:
    try:
        done = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if done is None:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        report["status"] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        report["error"] = report["error"] or "the program was reaped by someone else"


def _kill_all() -> int:
    """Kills and reaps every descendant; returns how many. A dead one's children become ours, so it repeats."""
    count, deadline = 0, time.monotonic() + _REAP_SECONDS
    while time.monotonic() < deadline:
        for pid in _children():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.waitpid(-1, 0)
            count += 1
        except ChildProcessError:
            break
    return count


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
