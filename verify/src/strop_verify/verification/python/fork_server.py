"""Shared by the worker processes of Python checks: entering the jail, and serving forks.

They are started by a fresh exec, never forked from the trainer, so their memory holds none of the trainer's. The parent
sends one packet with descriptors for each child. A child is reaped only when the parent asks for it, so that a process
id that the parent holds is never reused.
"""

import ctypes
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NoReturn

from strop_verify.sandbox import confine, kernel, namespaces
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.python import wire

CONTROL = 3
GRACE_MS = 100
"""Time that a candidate has to exit by itself after it closed its channel."""
_CLOSE_RANGE = 436
_REQUEST_BYTES = 1 << 13
_MOST_FDS = 8
_POOL, _POOL_HEADER = 1 << 14, 48
"""CPython keeps objects of up to `_SMALL` bytes, by size in steps of 16, in pools of this size and header size."""
_SMALL = 512
_ENOUGH = 8
"""Number of consecutive blocks that shows a new pool: one with holes hardly ever gives as many."""
_BELOW_MMAP = 130_000
"""Size of a block that is too large for any hole and that malloc still takes from the top of the heap."""
_MOST_BYTES = 4 << 20
Become = Callable[[], None]
"""What a child does from the fork to its end."""
PRELOADED = (
    "bisect", "collections", "copy", "functools", "heapq", "itertools", "math", "operator", "re", "string", "typing",
)  # fmt: skip
PYTEST = (*PRELOADED, "pytest", "_pytest.assertion.rewrite", "_pytest.terminal", "unittest.mock")


def start(
    *, preload: tuple[str, ...] = PRELOADED, read: tuple[str, ...] = (), work: str = ""
) -> tuple[socket.socket, confine.WorkerSettings, dict[str, Any]]:
    """What every worker process does first: ties its life to the parent's and confines itself.

    argv: -, -, control descriptor, parent's pid, settings; the rest is the worker's own. `read`: paths that it may read
    besides the standard library. `work`: a directory that it may change, or empty. Returns the control socket, the
    settings and the message that says it is ready.
    """
    control, parent = int(sys.argv[2]), int(sys.argv[3])
    settings = confine.WorkerSettings(**json.loads(sys.argv[4]))
    kernel.die_with_parent(parent, signal.SIGKILL)
    if control != CONTROL:
        os.dup2(control, CONTROL)
    close_from(CONTROL + 1)
    sys.path.pop(0)
    for name in preload:
        __import__(name)
    read = (*confine.SYSTEM_READ, sys.base_prefix, *read)
    owner = f",uid={settings.uid},gid={settings.uid}" if settings.uid else ""
    options = f"size={Limits().dir_bytes},nr_inodes=16384,mode=700{owner}"
    if settings.namespaces:
        # no process namespace: candidates cannot fork, and the trainer reads their CPU clocks by pid
        namespaces.unshare(processes=False)
        namespaces.enclose(read, work=work, work_options=options, hidden=settings.hidden)
    elif work and settings.uid:
        os.chown(work, settings.uid, settings.uid)
    confine.change_user(settings, parent, signal.SIGKILL)
    confine.enter(
        read=confine.readable((*read, work) if work else read, settings.hidden),
        write=(work,) if work else (),
        allow_metadata=bool(work),
        settings=settings,
    )
    hello = {"hello": os.getpid()}
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, CONTROL), settings, hello


def take_over(server: int, fds: tuple[int, ...]) -> None:
    """What a child does first: ties its life to the server's and keeps only these descriptors, from 3, and 0 to 2."""
    kernel.die_with_parent(server, signal.SIGKILL)
    for number, fd in enumerate(fds):
        os.dup2(fd, 128 + number)
    for number in range(len(fds)):
        os.dup2(128 + number, 3 + number)
    close_from(3 + len(fds))


def close_from(first: int) -> None:
    """Closes every descriptor from `first` on."""
    try:
        kernel.syscall(_CLOSE_RANGE, first, 0xFFFFFFFF, 0)
    except OSError:
        os.closerange(first, 1 << 16)


def serve(
    control: socket.socket, hello: dict[str, Any], become: Callable[[dict[str, Any], tuple[int, ...]], Become]
) -> NoReturn:
    """Sends `hello`, then forks and reaps one child at a time until the parent hangs up.

    `become` maps a request and the numbers of its descriptors to what a child does; results are cached by request.
    """
    try:
        prepared = lru_cache(maxsize=64)(partial(_prepared, become))
        request_of = lru_cache(maxsize=64)(json.loads)
        gc.disable()
        gc.collect()
        fill_holes()
        gc.freeze()
        control.send(json.dumps(hello).encode())
        child, receive, space = 0, control.recvmsg, socket.CMSG_SPACE(4 * _MOST_FDS)
        while True:
            data, ancillary, _, _ = receive(_REQUEST_BYTES, space)
            if not data:
                break
            if ancillary:  # descriptors: {"op": "fork", ...}
                child = _fork(*prepared(data, ancillary[0][2]))
                control.send(b'{"pid": %d}' % child)
            else:
                control.send(_reap(child, request_of(data)["kill"]))
                child = 0
        if child:
            os.kill(child, signal.SIGKILL)
    finally:
        os._exit(0)


def _prepared(
    become: Callable[[dict[str, Any], tuple[int, ...]], Become], data: bytes, packed: bytes
) -> tuple[Become, tuple[int, ...]]:
    fds = struct.unpack(f"{len(packed) // 4}i", packed)
    return become(json.loads(data), fds), fds


def _fork(become: Become, fds: tuple[int, ...]) -> int:
    pid = os.fork()
    if pid:
        for fd in fds:
            os.close(fd)
        return pid
    try:
        become()
    finally:
        os._exit(wire.NOT_BEGUN)


def _reap(child: int, kill: bool) -> bytes:
    killed = kill or not _ends_soon(child)
    if killed:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return b'{"status": %d, "killed": %s, "cpu": %f, "peak": %d}' % (
        os.waitstatus_to_exitcode(status),
        b"true" if killed else b"false",
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
    )


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


def fill_holes() -> None:
    """Permanently allocates the free blocks below the top of the heap, in Python's allocator and the C library's.

    A child gets a copy of every page that it or its parent writes to, and new objects go into the holes that earlier
    ones left, all over the heap. Without holes, a child's objects lie together on pages of their own. With allocators
    other than those of CPython and glibc, this only costs memory, at most `_MOST_BYTES`.
    """
    take, give = _allocator(ctypes.pythonapi, "PyObject_Malloc", "PyObject_Free")
    for size in range(16, _SMALL + 1, 16):
        _fill_pools(take, give, size)
    take, give = _allocator(ctypes.CDLL(None), "malloc", "free")
    top = take(_BELOW_MMAP)
    give(top)
    left, size = _MOST_BYTES, 1 << 16
    while size >= 24 and left > 0:
        while left > 0 and (block := take(size)) and block < top:
            left -= size
        give(block)
        size = size * 7 // 8 if size > 2048 else size - 16


def _allocator(library: Any, take: str, give: str) -> tuple[Callable[[int], int], Callable[[int], None]]:
    take_block, give_block = getattr(library, take), getattr(library, give)
    take_block.argtypes, take_block.restype = [ctypes.c_size_t], ctypes.c_void_p
    give_block.argtypes, give_block.restype = [ctypes.c_void_p], None
    return take_block, give_block


def _fill_pools(take: Callable[[int], int], give: Callable[[int], None], size: int) -> None:
    """Allocates blocks until some come consecutively from a pool's start; frees these, since their pool is new."""
    row: list[int] = []
    for _ in range(_MOST_BYTES // _SMALL * 16 // size):
        block = take(size)
        if row and block == row[-1] + size:
            row.append(block)
        else:
            row = [block] if block % _POOL == _POOL_HEADER else []
        if len(row) == _ENOUGH:
            break
    for block in row:
        give(block)
