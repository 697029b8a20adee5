"""Kernel calls that Python's standard library lacks, by ctypes. Linux on x86-64 and aarch64.

Functions raise OSError with the kernel's errno when the call fails. Standard library only, because jailed worker
processes import this module without site-packages.

A process that forks prepares the calls of its child as a flat list of C calls with their arguments (`Call`, `make`):
each page of memory that the child touches is copied, which is most of its cost.
"""

import ctypes
import os
import platform
import struct
import time
from collections.abc import Callable, Iterable
from typing import Any

from strop_verify.sandbox.syscalls import table

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
"""prctl(2), signal(2), syscall(2) of small ints or `ctypes` pointers, with the least overhead; -1 = failed"""
Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments; it returns -1 if it fails."""
_put_id = struct.Struct("=I").pack_into
_TWO, _SIX = ctypes.c_uint32 * 2, ctypes.c_uint32 * 6


def prctl(option: int, arg2: int = 0, arg3: int = 0) -> int:
    """prctl(2) with integer arguments; returns its result."""
    result = int(_prctl(option, arg2, arg3, 0, 0))
    if result < 0:
        raise _error(f"prctl({option}, {arg2})")
    return result


def syscall(number: int, *args: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """syscall(2): integers are passed as 64-bit words, bytes and buffers as pointers."""
    words = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in args]
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        raise _error(f"syscall {number}")
    return result


def monotonic_ns() -> int:
    """The kernel's own time.monotonic_ns(), unaffected by preloaded libraries; Python's on an unknown machine."""
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
    """umount2(2), lazily: it ends with its last user."""
    if _libc.umount2(target.encode(), ctypes.c_int(2)):
        raise _error(f"unmount {target}")


def unshare(flags: int) -> None:
    """unshare(2)."""
    if _libc.unshare(ctypes.c_int(flags)):
        raise _error("unshare")


def no_new_privs() -> None:
    """No later exec can gain privileges; a precondition of unprivileged Landlock and seccomp."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def undumpable() -> None:
    """Prevents processes of the same user from attaching to this one or reading its /proc files, until exec."""
    prctl(PR_SET_DUMPABLE, 0)


def die_with_parent(parent_pid: int, signal: int) -> None:
    """Requests `signal` for the death of the parent's creating thread; exits if the parent is already dead.

    `parent_pid` 0: the parent is in another process namespace, or a launcher.
    """
    prctl(PR_SET_PDEATHSIG, signal)
    if parent_pid and os.getppid() != parent_pid:
        os._exit(0)


def become_subreaper() -> None:
    """Makes orphaned descendants children of this process instead of init."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def forgo_privileged_exec(*, keep_reading: bool = False) -> None:
    """Empties the bounding set, if allowed: no exec of this process or its children can regain capabilities.

    A process whose many children will change user (`becoming`) does it once, before it forks them.
    """
    if prctl(PR_CAPBSET_READ, 0) == 0:
        return
    if keep_reading:
        # must come first: a bit missing in the bounding set cannot be added to the inheritable set
        make([setting_capabilities(_permitted(), READING)])
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # no CAP_SETPCAP, or past the last capability: nothing is left to drop


def _permitted() -> int:
    header, data = _TWO(_VERSION, 0), _SIX()
    if _libc.capget(ctypes.byref(header), ctypes.byref(data)):
        raise _error("capget")
    return int(data[1] | data[4] << 32)


def setting_capabilities(held: int, inheritable: int) -> Call:
    """The call that sets effective and permitted capabilities to `held`, and the inheritable ones; bit masks."""
    low, high = held & 0xFFFFFFFF, held >> 32
    data = _SIX(low, low, inheritable, high, high, 0)
    return _lean.capset, (ctypes.pointer(_TWO(_VERSION, 0)), ctypes.pointer(data))


class Fprog(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def make(calls: Iterable[Call]) -> None:
    """Makes the calls one after another. Raises OSError at the first that fails."""
    for function, arguments in calls:
        if function(*arguments) == -1:
            raise OSError(f"{function.__name__}{arguments} was refused")


def becoming(uid: int, *, keep_reading: bool = False) -> list[Call]:
    """The calls that change a process to user and group `uid` without supplementary groups; needs root.

    keep_reading  keeps CAP_DAC_READ_SEARCH, also across exec, for programs in places that only root may read; Landlock
                  must then bound what is read

    Empties the bounding set immediately. The kernel drops the parent-death signal and capabilities: set the former
    again.
    """
    forgo_privileged_exec(keep_reading=keep_reading)
    ids: list[Call] = [(os.setgroups, ([],)), (os.setresgid, (uid,) * 3), (os.setresuid, (uid,) * 3)]
    if not keep_reading:
        return ids
    return [
        (lean_prctl, (PR_SET_KEEPCAPS, 1, 0, 0, 0)),
        # access(2) ignores the capabilities of an ordinary user without this bit, and gcc looks for its linker with it
        (lean_prctl, (PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0)),
        *ids,
        setting_capabilities(READING, READING),
        (lean_prctl, (PR_CAP_AMBIENT, 2, CAP_DAC_READ_SEARCH, 0, 0)),
    ]


class Filter:
    """A seccomp filter for a future process.

    places    offsets at which to write that process's id
    tolerant  whether the process continues if the kernel refuses the filter
    """

    def __init__(self, program: bytes, places: tuple[int, ...] = (), *, tolerant: bool = False) -> None:
        self._filter, self._places, self._tolerant = bytearray(program), places, tolerant
        self._view = (ctypes.c_char * len(program)).from_buffer(self._filter)
        self._fprog = Fprog(len(program) // 8, ctypes.addressof(self._view))
        self._install = (PR_SET_SECCOMP, 2, ctypes.pointer(self._fprog), 0, 0)

    def install(self) -> int:
        """Installs it on the calling process; -1 if that fails."""
        own = os.getpid()
        for place in self._places:
            _put_id(self._filter, place, own)
        result = int(lean_prctl(*self._install))
        return 0 if self._tolerant else result


def install_filter(program: bytes) -> None:
    """Installs a seccomp filter given as packed `struct sock_filter`s on the calling thread."""
    make([(Filter(program).install, ())])


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")
