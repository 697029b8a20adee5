"""The fork server: a small jailed process that forks one candidate an answer. It sees neither answers nor tests.

Started with a fresh exec, never forked from the trainer, so its memory holds nothing of the trainer's. The parent sends
one packet with descriptors for each candidate; the job itself travels over the candidate's own channel. The zygote
reaps a candidate only when told to, so a process id that the parent holds stays that candidate's.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from strop.sandbox import confine, kernel, namespaces, seccomp
from strop.sandbox.limits import Limits, plan
from strop.verification import candidate, codec, wire

CONTROL = 3
GRACE_MS = 100
"""How long a candidate that has hung up may take to end by itself."""
_CLOSE_RANGE = 436
PRELOADED = (
    "bisect",
    "collections",
    "copy",
    "functools",
    "heapq",
    "itertools",
    "math",
    "operator",
    "re",
    "string",
    "typing",
)


def start(
    control: int,
    parent: int,
    settings: confine.Settings,
    *,
    preload: tuple[str, ...] = (),
    read: tuple[str, ...] = (),
    work: str = "",
) -> tuple[socket.socket, list[str]]:
    """What every worker process does first: tie its life to the parent's, move in, confine itself.

    `read`: what it may read besides the standard library. `work`: a directory that it may change, or empty.
    """
    kernel.die_with_parent(parent, signal.SIGKILL)
    if control != CONTROL:
        os.dup2(control, CONTROL)
    close_from(CONTROL + 1)
    sys.path.pop(0)
    for name in preload:
        __import__(name)
    read = (*confine.SYSTEM_READ, *confine.python_read(), *read)
    options = f"size={Limits().dir_bytes},nr_inodes=16384,mode=700,uid={settings.uid},gid={settings.uid}"
    if settings.namespaces:
        namespaces.unshare(
            processes=False
        )  # candidates cannot fork, and the trainer reads their CPU clocks by pid
        namespaces.enclose(
            read, work=work, work_options=options if settings.uid else options.partition(",uid")[0]
        )
    elif work and settings.uid:
        os.chown(work, settings.uid, settings.uid)
    confine.change_user(settings, parent, signal.SIGKILL)
    missing = confine.enter(
        read=(*read, work) if work else read,
        write=(work,) if work else (),
        allow_metadata=bool(work),
        allow_unsafe=settings.unsafe,
        keep_reading=settings.keep_reading,
    )
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, CONTROL), missing


def close_from(first: int) -> None:
    """Closes every descriptor from `first` on."""
    try:
        kernel.syscall(_CLOSE_RANGE, first, 0xFFFFFFFF, 0)
    except OSError:
        os.closerange(first, 1 << 16)


def main() -> NoReturn:
    """Serves forks until the parent hangs up. argv: -, control descriptor, parent's pid, whether unsafe is allowed."""
    settings = confine.Settings(**json.loads(sys.argv[4]))
    unsafe = settings.unsafe
    control, missing = start(int(sys.argv[2]), int(sys.argv[3]), settings, preload=PRELOADED)
    try:
        codec.decode(codec.encode([1, "a", (2.0,), {"b": None}]))  # warms what every child needs
        if seccomp.supported():
            seccomp.leaf(1)
        compile("def f(x):\n    return x", "<answer>", "exec")
        candidate.prepare()
        hello = {"hello": os.getpid(), "missing": missing}
        serve(control, hello, lambda request, fds: _fork(request, fds, unsafe))
    finally:
        os._exit(0)


def serve(
    control: socket.socket, hello: dict[str, Any], fork: Callable[[dict[str, Any], list[int]], int]
) -> NoReturn:
    """Says hello, then forks and reaps one child at a time until the parent hangs up."""
    try:
        gc.disable()
        gc.collect()
        gc.freeze()
        control.send(json.dumps(hello).encode())
        child = 0
        while True:
            data, fds, _, _ = socket.recv_fds(control, 1 << 16, 8)
            if not data:
                break
            request = json.loads(data)
            if request["op"] == "fork":
                child = fork(request, fds)
                control.send(json.dumps({"pid": child}).encode())
            else:
                control.send(json.dumps(_reap(child, request["kill"])).encode())
                child = 0
        if child:
            os.kill(child, signal.SIGKILL)
    finally:
        os._exit(0)


def _fork(request: dict[str, Any], fds: list[int], unsafe: bool) -> int:
    # Before the fork: the child would copy pages for it.
    server, limits = os.getpid(), Limits(**request["limits"])
    plan(limits, writes_files=False)
    pid = os.fork()
    if pid:
        for fd in fds:
            os.close(fd)
        return pid
    try:
        _become_candidate(request["kind"], limits, fds, server, unsafe)
    finally:
        os._exit(97)


def _become_candidate(kind: str, limits: Limits, fds: list[int], server: int, unsafe: bool) -> NoReturn:
    kernel.die_with_parent(server, signal.SIGKILL)
    program = kind == "program"
    channel, stdin, stdout, stderr = fds if program else (fds[0], 0, fds[1], fds[1])
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.dup2(channel, candidate.CHANNEL)
    close_from(candidate.CHANNEL + 1)
    try:
        confine.seal(limits, tolerant=unsafe)
    except Exception as error:
        os.write(candidate.CHANNEL, wire.frame({"jail": str(error)}))
        os._exit(97)
    candidate.run(kind)


def _reap(child: int, kill: bool) -> dict[str, Any]:
    killed = kill
    if not kill:
        killed = not _ends_soon(child)
    if killed:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "killed": killed,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
    }


def _ends_soon(child: int) -> bool:
    try:
        fd = os.pidfd_open(child)
    except OSError:
        return False
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(GRACE_MS))
    finally:
        os.close(fd)
