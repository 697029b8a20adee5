"""Seccomp filters as raw BPF: which system calls a jailed process may make.

Threat model: the process is hostile native code. Denied calls return EPERM (clone3 returns ENOSYS, so that the C
library falls back to clone, whose flags a filter can read); a call of a foreign architecture kills the process.
Filters stack and can only narrow: `base` is for every jailed process; one that runs a candidate adds `leaf`, which
denies new processes, signals to others and changes of its own limits except stack and address space. `fcntl` and
`ioctl` are filtered by command, because some make the kernel signal a process of the caller's choice.
"""

import errno
import resource
import struct
from functools import cache

from strop_verify.sandbox import kernel
from strop_verify.sandbox.syscalls import AUDIT_ARCH, table

_LD, _AND, _JEQ, _JGE, _JSET, _RET = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_KILL, _ERRNO = 0x80000000, 0x00050000
_NR, _ARCH = 0, 4
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000

_F_SETFL, _O_ASYNC = 4, 0x2000
_FCNTL = (8, 10, 15, 1024, 1026)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY: with them the kernel signals a process of the caller's choice
when something happens to a file."""
_IOCTL = (0x8901, 0x8902, 0x5452, 0x5410, 0x5412, 0x541C, 0x540E)
"""FIOSETOWN, SIOCSPGRP and FIOASYNC, which do the same; TIOCSPGRP, TIOCSTI, TIOCLINUX, TIOCSCTTY."""
_Instruction = tuple[int, int, int, int]
_OK: _Instruction = (_RET, 0, 0, 0x7FFF0000)
_DENY: _Instruction = (_RET, 0, 0, _ERRNO | errno.EPERM)


def supported() -> bool:
    """Whether this machine's system call numbers are known."""
    return kernel.LINUX and kernel.MACHINE in AUDIT_ARCH


def base(
    *, allow_exec: bool, allow_metadata: bool, allow_kill: bool = True, allow_connect: bool = False
) -> bytes:
    """The filter of every jailed process: no sockets, no access to other processes, no kernel administration.

    `allow_exec`: may start programs. `allow_metadata`: may change modes, owners and times of files. `allow_kill`: may
    signal other processes (Landlock's signal scope then limits which). `allow_connect`: may connect by TCP, for a
    process in a private network.
    """
    return _base(kernel.MACHINE, allow_exec, allow_metadata, allow_kill, allow_connect)


@cache
def _base(
    machine: str, allow_exec: bool, allow_metadata: bool, allow_kill: bool, allow_connect: bool
) -> bytes:
    calls = table(machine)
    denied = dict(table(machine, "base"))
    if allow_connect:
        del denied["socket"], denied["connect"]
    denied |= {} if allow_exec else table(machine, "exec")
    denied |= {} if allow_metadata else table(machine, "metadata")
    denied |= {} if allow_kill else {name: calls[name] for name in ("kill", "tgkill")}
    body = _clone(calls, [(_JSET, 0, 1, _CLONE_NAMESPACES), _DENY, _OK])
    body += [(_JEQ, 0, 1, calls["clone3"]), (_RET, 0, 0, _ERRNO | errno.ENOSYS)]
    body += _block(calls["socketpair"], _PAIRS)
    body += _block(calls["socket"], _TCP) if allow_connect else []
    body += _block(calls["fcntl"], _fcntl()) + _block(calls["ioctl"], _none_of(1, _IOCTL))
    return _program(body, list(denied.values()))


_ANY_PID = 0x7FFFFFF1
"""Placeholder for the process id in a prepared filter; larger than any real one."""


def leaf(pid: int, *, allow_exec: bool = False) -> bytes:
    """The filter of a process that may only compute: threads but no processes, signals only to itself (`pid`)."""
    return _leaf(kernel.MACHINE, allow_exec).replace(struct.pack("=I", _ANY_PID), struct.pack("=I", pid))


def leaf_for_any(*, allow_exec: bool = False) -> tuple[bytes, tuple[int, ...]]:
    """The same for a future process, and the offsets at which to write its id as a native 32-bit number."""
    program, stands, places = _leaf(kernel.MACHINE, allow_exec), struct.pack("=I", _ANY_PID), []
    at = program.find(stands)
    while at >= 0:
        places.append(at)
        at = program.find(stands, at + 1)
    return program, tuple(places)


@cache
def _leaf(machine: str, allow_exec: bool) -> bytes:
    calls = table(machine)
    body = _clone(calls, [(_JSET, 1, 0, _CLONE_THREAD), _DENY, _OK])
    for name in ("kill", "tgkill"):
        body += _block(calls[name], [(_LD, 0, 0, _arg(0)), (_JEQ, 1, 0, _ANY_PID), _DENY, _OK])
    body += _block(calls["prlimit64"], _LIMITS)
    denied = table(machine, "leaf") | ({} if allow_exec else table(machine, "exec"))
    return _program(body, list(denied.values()))


_LIMITS = [
    # Allows reading any limit, and changing the caller's own for stack and address space, within the hard limits.
    (_LD, 0, 0, 32),
    (_JEQ, 0, 2, 0),
    (_LD, 0, 0, 36),
    (_JEQ, 6, 0, 0),
    (_LD, 0, 0, 16),
    (_JEQ, 0, 3, 0),  # pid 0: the caller
    (_LD, 0, 0, 24),
    (_JEQ, 2, 0, resource.RLIMIT_STACK),
    (_JEQ, 1, 0, resource.RLIMIT_AS),
    _DENY,
    _OK,
]
_PAIRS = [
    (_LD, 0, 0, 24),  # the type: a datagram socket of a pair could send to any socket with a path
    (_AND, 0, 0, 0xF),
    (_JEQ, 1, 0, 1),  # SOCK_STREAM
    (_JEQ, 0, 1, 5),  # SOCK_SEQPACKET
    _OK,
    _DENY,
]

_TCP = [
    (_LD, 0, 0, 16),
    (_JEQ, 0, 7, 2),  # AF_INET
    (_LD, 0, 0, 24),
    (_AND, 0, 0, 0xF),
    (_JEQ, 0, 4, 1),  # SOCK_STREAM
    (_LD, 0, 0, 32),
    (_JEQ, 1, 0, 0),  # the default protocol, or TCP by number
    (_JEQ, 0, 1, 6),
    _OK,
    _DENY,
]


def _program(body: list[_Instruction], denied: list[int]) -> bytes:
    code: list[_Instruction] = [
        (_LD, 0, 0, _ARCH),
        (_JEQ, 1, 0, AUDIT_ARCH[kernel.MACHINE]),
        (_RET, 0, 0, _KILL),
        (_LD, 0, 0, _NR),
        (_JGE, 0, 1, 0x40000000),  # x32 numbers on an x86-64 kernel
        (_RET, 0, 0, _KILL),
        *body,
    ]
    # Each jumps to the final deny; BPF jumps reach at most 255 instructions.
    code += [(_JEQ, len(denied) - place, 0, number) for place, number in enumerate(denied)]
    code += [_OK, _DENY]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _block(number: int, inner: list[_Instruction]) -> list[_Instruction]:
    """`inner` decides on call `number` and must return on every path; other calls skip it with the number loaded."""
    return [(_JEQ, 0, len(inner), number), *inner]


def _none_of(index: int, values: tuple[int, ...]) -> list[_Instruction]:
    """Denies a call if an argument, of which the kernel reads 32 bits, has one of the values."""
    tests = [(_JEQ, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [(_LD, 0, 0, _arg(index)), *tests, _OK, _DENY]


def _fcntl() -> list[_Instruction]:
    """Denies the commands that make the kernel send signals, and the flag that enables them."""
    asks = [(_LD, 0, 0, _arg(1)), (_JEQ, 0, 4, _F_SETFL), (_LD, 0, 0, _arg(2)), (_JSET, 0, 1, _O_ASYNC)]
    return [*asks, _DENY, _OK, *_none_of(1, _FCNTL)]


def _clone(calls: dict[str, int], decide: list[_Instruction]) -> list[_Instruction]:
    return _block(calls["clone"], [(_LD, 0, 0, _arg(0)), *decide])


def _arg(index: int) -> int:
    return 16 + 8 * index  # little-endian: the low word comes first
