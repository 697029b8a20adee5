"""Landlock by ctypes: which files a jailed process may access.

Everything not granted is refused: reading, writing, executing, making, removing and renaming files, TCP (from ABI 4),
signals and abstract sockets that leave the jail (from ABI 6). No ABI covers stat, chmod, chown, times and extended
attributes (the run profile's seccomp filter denies changing them).
"""

import ctypes
import os
import struct
from functools import cache

from strop_verify.sandbox import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_SCOPES = 0b11  # abstract sockets, signals
_OF_PORT, _CONNECT = 2, 2


def abi() -> int:
    """The kernel's Landlock ABI; 0 if Landlock is missing or off."""
    if not kernel.LINUX:
        return 0
    try:
        return kernel.syscall(_CREATE, None, 0, 1)
    except OSError:
        return 0


def scopes_signals() -> bool:
    """Whether Landlock can keep signals inside the jail (ABI 6)."""
    return abi() >= 6


def restricting(read: tuple[str, ...], write: tuple[str, ...], port: int = 0) -> kernel.Call:
    """The call that permanently confines a thread: `read` may be read and executed, `write` also changed; paths may be
    absent. `port`: it may connect to this TCP port.

    Needs no_new_privs. Raises OSError without Landlock.
    """
    return kernel.lean_syscall, (_RESTRICT, ruleset(read, write, port), 0)


_made: list[int] = []


@cache
def ruleset(read: tuple[str, ...], write: tuple[str, ...], port: int = 0) -> int:
    """The descriptor of a ruleset, kept open for the process's life: children restrict themselves with it.

    Paths are resolved now; `/` in `read` grants only listing folders. Raises OSError.
    """
    version = abi()
    if version < 1:
        raise OSError("this kernel has no Landlock (Linux 5.13 or newer, with landlock in lsm=)")
    handled = _handled(version)
    attributes = struct.pack("=QQQ", handled, 0b11 if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = kernel.syscall(_CREATE, ctypes.create_string_buffer(attributes, 24), size, 0)
    for path in read:
        _grant(rules, path, _READ_DIR if path == "/" else _EXECUTE | _READ_FILE | _READ_DIR)
    for path in write:
        _grant(rules, path, handled & ~_IOCTL_DEV)
    if port and version >= 4:
        rule = ctypes.create_string_buffer(struct.pack("=QQ", _CONNECT, port), 16)
        kernel.syscall(_ADD, rules, _OF_PORT, rule, 0)
    _made.append(rules)
    return rules


def forget() -> None:
    """Closes the descriptors of `ruleset`, after a directory that rules refer to was replaced."""
    ruleset.cache_clear()
    while _made:
        os.close(_made.pop())


def _handled(version: int) -> int:
    bits = 13 + (version >= 2) + (version >= 3) + (version >= 5)
    return (1 << bits) - 1


def _grant(ruleset: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return
    try:
        if not os.path.isdir(path):
            access &= _OF_FILES
        rule = ctypes.create_string_buffer(struct.pack("=Qi", access, fd), 12)
        kernel.syscall(_ADD, ruleset, 1, rule, 0)
    finally:
        os.close(fd)
