"""The few kernel calls that Python's standard library lacks, by ctypes. Linux on x86-64 and aarch64.

Every function raises OSError with the kernel's errno when the call fails. Standard library only, because the jailed
worker processes import this module without site-packages.
"""

import contextlib
import ctypes
import os
import platform
import struct
import time
from collections.abc import Callable
from typing import Any

from strop.sandbox.syscalls import table

LINUX = os.uname().sysname == "Linux"
MACHINE = platform.machine() if not LINUX else os.uname().machine

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_SET_SECUREBITS = 28
PR_CAP_AMBIENT = 47
SECBIT_NO_SETUID_FIXUP = 4
CAP_DAC_READ_SEARCH = 2
READING = 1 << CAP_DAC_READ_SEARCH
_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_prctl = _libc.prctl
_prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong]
_lean = ctypes.PyDLL(None)
lean_prctl, lean_signal, lean_syscall = _lean.prctl, _lean.signal, _lean.syscall
"""prctl(2), signal(2) and syscall(2) of small ints or `ctypes` pointers, with the least that ctypes does; -1 when they

fail.
"""
Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A call to make, with its arguments; its result is -1 when it fails."""
_TWO, _SIX = ctypes.c_uint32 * 2, ctypes.c_uint32 * 6


def prctl(option: int, arg2: int = 0, arg3: int = 0) -> int:
    """prctl(2) with integer arguments; returns its result."""
    result = int(_prctl(option, arg2, arg3, 0, 0))
    if result < 0:
        raise _error(f"prctl({option}, {arg2})")
    return result


def syscall(number: int, *args: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """syscall(2): integers travel as 64-bit words, bytes and buffers as pointers."""
    words = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in args]
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        raise _error(f"syscall {number}")
    return result


def monotonic_ns() -> int:
    """time.monotonic_ns() as the kernel has it, whatever libraries make of that; as it is on an unknown machine."""
    if "clock_gettime" not in table(MACHINE):
        return time.monotonic_ns()
    found = ctypes.create_string_buffer(16)
    syscall(table(MACHINE)["clock_gettime"], time.CLOCK_MONOTONIC, found)
    seconds, nanoseconds = struct.unpack("=qq", found.raw)
    return int(seconds * 10**9 + nanoseconds)


def mount(source: str, target: str, fstype: str, flags: int, data: str) -> None:
    """mount(2)."""
    if _libc.mount(source.encode(), target.encode(), fstype.encode(), ctypes.c_ulong(flags), data.encode()):
        raise _error(f"mount {fstype or source} on {target}")


def pivot_root(new: str) -> None:
    """Makes the mount point `new` the root of this mount namespace and drops the old root."""
    os.chdir(new)
    syscall(table(MACHINE)["pivot_root"], b".\0", b".\0")
    unmount(".")
    os.chdir("/")


def unmount(target: str) -> None:
    """umount2(2), detached: it goes when its last user does."""
    if _libc.umount2(target.encode(), ctypes.c_int(2)):
        raise _error(f"unmount {target}")


def unshare(flags: int) -> None:
    """unshare(2)."""
    if _libc.unshare(ctypes.c_int(flags)):
        raise _error("unshare")


def no_new_privs() -> None:
    """From here on no exec can gain privileges; a precondition of Landlock and seccomp without privilege."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def undumpable() -> None:
    """Keeps processes of the same user from attaching to this one or reading its /proc files; exec undoes it."""
    prctl(PR_SET_DUMPABLE, 0)


def die_with_parent(parent_pid: int, signal: int) -> None:
    """Asks for `signal` when the parent's creating thread dies, and exits at once if it is dead already.

    `parent_pid` 0: the parent is in another process namespace, or some launcher.
    """
    prctl(PR_SET_PDEATHSIG, signal)
    if parent_pid and os.getppid() != parent_pid:
        os._exit(0)


def become_subreaper() -> None:
    """Orphans among this process's descendants become its children instead of init's."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def forgo_privileged_exec(*, keep_reading: bool = False) -> None:
    """Empties the bounding set, where allowed: no exec of this process or its children can win capabilities back.

    A process that will `become` another user for many children does it once, before it forks them.
    """
    if prctl(PR_CAPBSET_READ, 0) == 0:
        return
    if keep_reading:
        _capset(
            _permitted(), READING
        )  # the inheritable set cannot win a bit once the bounding set has lost it
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # no CAP_SETPCAP, or past the last capability: nothing is left to drop


def drop_capabilities() -> None:
    """Empties the effective, permitted, inheritable, ambient and (where allowed) bounding capability sets."""
    forgo_privileged_exec()
    with contextlib.suppress(OSError):  # before Linux 4.3 there is no ambient set
        prctl(PR_CAP_AMBIENT, 4)
    _capset(0, 0)


def _permitted() -> int:
    header, data = _TWO(_VERSION, 0), _SIX()
    if _libc.capget(ctypes.byref(header), ctypes.byref(data)):
        raise _error("capget")
    return int(data[1] | data[4] << 32)


def setting_capabilities(held: int, inheritable: int) -> Call:
    """Sets effective and permitted capabilities together, and the inheritable ones, as bits."""
    low, high = held & 0xFFFFFFFF, held >> 32
    data = _SIX(low, low, inheritable, high, high, 0)
    return _lean.capset, (ctypes.pointer(_TWO(_VERSION, 0)), ctypes.pointer(data))


def _capset(held: int, inheritable: int) -> None:
    function, arguments = setting_capabilities(held, inheritable)
    if function(*arguments):
        raise OSError("capset was refused")


class Fprog(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install_filter(program: bytes) -> None:
    """Installs a seccomp filter given as packed `struct sock_filter`s on the calling thread."""
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = Fprog(len(program) // 8, ctypes.addressof(buffer))
    if _prctl(PR_SET_SECCOMP, 2, ctypes.addressof(fprog), 0, 0):
        raise _error("seccomp filter")


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")
