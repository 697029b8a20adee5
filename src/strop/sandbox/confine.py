"""Puts the calling process into the jail, in two separate steps because a fork server needs both.

`enter` is permanent and applies to every descendant: no new privileges, no capabilities, Landlock, base seccomp filter.
`seal` is for the process that will run hostile code: its limits and the leaf filter. Threat model: the code is hostile
and runs as the same user as the trainer; the kernel is trusted.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from strop.sandbox import kernel, landlock, seccomp
from strop.sandbox.calls import becoming, make
from strop.sandbox.limits import Limits, apply_rlimits

SYSTEM_READ = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/dev/null",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
)
"""Libraries and devices that any program may read, but for what `held` names; nothing with data of the user or of the
host's configuration."""

PROGRAMS_READ = (
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/usr/share",
    "/usr/include",
    "/usr/libexec",
    "/etc/alternatives",
)
"""Programs and what they read, for the profiles that start programs."""

_PACKAGES = ("site-packages", "dist-packages", "python-wheels")
_DEPTH = 3


@cache
def held() -> tuple[str, ...]:
    """Folders among the system's libraries that hold packages of Python, or a whole application that brings some: no
    jail reads them, for Strop, its tasks or another release of a task's project may be installed there.
    """
    found = []
    for top in ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/usr/share"):
        for path in _folders(os.path.realpath(top)):
            name = os.path.basename(path)
            if name.startswith(("python", "pypy")):
                found += [path] if name in _PACKAGES else [p for p in _folders(path) if _packages(p, 0)]
            elif top != "/usr/share" and _packages(path, _DEPTH):
                found.append(path)
    return tuple(dict.fromkeys(found))


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _packages(path: str, depth: int) -> bool:
    """Whether it is a folder of packages, or one lies so deep in it."""
    name = os.path.basename(path)
    return (
        name in _PACKAGES
        or name.startswith("bundledpython")
        or (depth > 0 and any(_packages(inner, depth - 1) for inner in _folders(path)))
    )


def readable(paths: Iterable[str], hidden: Sequence[str]) -> tuple[str, ...]:
    """The paths without the hidden folders below them: where one has such, what else it holds instead. What is a link
    to another of the paths is left out: the other stands for it.
    """
    given = list(dict.fromkeys(paths))
    found: list[str] = []
    for path in given:
        real = os.path.realpath(path)
        if real != path and any(other != path and (real + "/").startswith(other + "/") for other in given):
            continue
        found += _without(path, real, hidden)
    return tuple(found)


def _without(path: str, real: str, hidden: Sequence[str]) -> list[str]:
    if real in hidden:
        return []
    if not any(one.startswith(real + "/") for one in hidden):
        return [path]
    return [
        one
        for name in sorted(os.listdir(path))
        for one in _without(os.path.join(path, name), os.path.join(real, name), hidden)
    ]


@dataclass(frozen=True)
class WorkerSettings:
    """The parts of the jail that a worker process sets up itself; see `strop.sandbox.jails`."""

    namespaces: bool = False
    uid: int = 0
    """User and group id to become, 0 = stay."""
    holds: int = -1
    """Descriptor that holds this user id; -1 = none."""
    unsafe: bool = False
    """Whether the user asked for a jail without Landlock and seccomp."""
    hidden: Sequence[str] = ()
    """Folders among the system's that it does not read: `held`."""

    @property
    def keep_reading(self) -> bool:
        """Whether the new user can still read paths that only root can reach; Landlock limits which."""
        return bool(self.uid) and landlock.abi() > 0


def change_user(settings: WorkerSettings, owner: int, signal: int) -> None:
    """Becomes the worker's user, if it has one. `owner`: the parent's pid, whose death still sends `signal`."""
    if settings.uid:
        make(becoming(settings.uid, keep_reading=settings.keep_reading))
        kernel.die_with_parent(owner, signal)


def enter(
    *,
    read: tuple[str, ...],
    write: tuple[str, ...] = (),
    allow_exec: bool = False,
    allow_metadata: bool = False,
    allow_unsafe: bool = False,
    keep_reading: bool = False,
) -> list[str]:
    """Confines this process and all that it will ever start; returns the layers that are missing, in words.

    keep_reading  leaves the capability that `calls.becoming` kept
    Raises OSError when Landlock and seccomp are both missing, unless `allow_unsafe`.
    """
    missing: list[str] = []
    kernel.no_new_privs()
    if not keep_reading:
        kernel.drop_capabilities()
    kernel.undumpable()
    try:
        landlock.restrict(read=read, write=(*write, "/dev/null"))
    except OSError as error:
        missing.append(f"landlock: {error}")
    scoped = landlock.scopes_signals() or not allow_exec
    try:
        if not seccomp.supported():
            raise OSError(f"system calls of {kernel.MACHINE} are not known")
        kernel.install_filter(
            seccomp.base(allow_exec=allow_exec, allow_metadata=allow_metadata, allow_kill=scoped)
        )
    except OSError as error:
        missing.append(f"seccomp: {error}")
    if len(missing) == 2 and not allow_unsafe:
        raise OSError("no jail: " + "; ".join(missing))
    return missing


def seal(
    limits: Limits | None, *, writes_files: bool = False, allow_exec: bool = False, tolerant: bool = False
) -> None:
    """Sets the limits and takes away processes, signals to others and the means to change limits; for good.

    `tolerant`: go on where seccomp is missing (the user asked for the weaker jail by name). Raises OSError otherwise.
    """
    if limits is not None:
        apply_rlimits(limits, writes_files=writes_files)
    try:
        if not seccomp.supported():
            raise OSError(f"system calls of {kernel.MACHINE} are not known")
        kernel.install_filter(seccomp.leaf(os.getpid(), allow_exec=allow_exec))
    except OSError:
        if not tolerant:
            raise
