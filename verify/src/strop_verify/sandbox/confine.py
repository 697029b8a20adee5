"""Puts the calling process into the jail, in two separate steps because a fork server needs both.

`enter` is permanent and applies to every descendant: no new privileges, no capabilities, Landlock, base seccomp filter.
`seal` is for the process that will run hostile code: its limits and the leaf filter. `entering` and `sealing` are their
calls, which a process prepares for its children (see kernel.py). Threat model: the code is hostile and runs as the same
user as the trainer; the kernel is trusted.
"""

import os
import resource
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from strop_verify.sandbox import kernel, landlock, seccomp
from strop_verify.sandbox.kernel import Call, Filter, becoming, make
from strop_verify.sandbox.limits import STACKS, Limits, plan

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
_MOST_FDS = 1 << 16


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
    """The parts of the jail that a worker process sets up itself; see `strop_verify.sandbox.jails`."""

    namespaces: bool = False
    uid: int = 0
    """User and group id to become, 0 = stay."""
    holds: int = -1
    """Descriptor that holds this user id; -1 = none."""
    unsafe: bool = False
    """Whether the user asked for a jail without Landlock and seccomp."""
    hidden: Sequence[str] = ()
    """Folders among the system's that it does not read: `held`."""
    image: bool = False
    """Whether programs have an image as their root: all of it is their user's, and no other path is read."""

    @property
    def keep_reading(self) -> bool:
        """Whether the new user can still read paths that only root can reach; Landlock limits which."""
        return bool(self.uid) and landlock.abi() > 0 and not self.image


def change_user(settings: WorkerSettings, owner: int, signal_number: int) -> None:
    """Becomes the worker's user, if it has one. `owner`: the parent's pid, whose death still sends `signal_number`."""
    if settings.uid:
        make(becoming(settings.uid, keep_reading=settings.keep_reading))
        kernel.die_with_parent(owner, signal_number)


def enter(
    *,
    read: Sequence[str],
    write: Sequence[str] = (),
    allow_exec: bool = False,
    allow_metadata: bool = False,
    settings: WorkerSettings,
) -> None:
    """Confines this process and all that it will ever start. Raises as `entering`."""
    make(
        entering(
            read=read, write=write, allow_exec=allow_exec, allow_metadata=allow_metadata, settings=settings
        )
    )


def entering(
    *,
    read: Sequence[str],
    write: Sequence[str],
    allow_exec: bool,
    allow_metadata: bool,
    settings: WorkerSettings,
    port: int = 0,
) -> Iterator[Call]:
    """The calls of `enter`. `port`: a TCP port that may be connected to, in a network of its own; 0 = none.

    Raises OSError where this machine has neither Landlock nor seccomp, unless `settings.unsafe`.
    """
    yield kernel.lean_prctl, (kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if not settings.keep_reading:
        if not settings.uid:  # else `becoming` did it
            yield kernel.forgo_privileged_exec, ()
        yield kernel.lean_prctl, (kernel.PR_CAP_AMBIENT, 4, 0, 0, 0)
        yield kernel.setting_capabilities(0, 0)
    yield kernel.lean_prctl, (kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
    locked = landlock.abi() > 0
    if locked:
        yield landlock.restricting(tuple(read), (*write, "/dev/null"), port)
    if seccomp.supported():
        scoped = landlock.scopes_signals() or not allow_exec
        program = seccomp.base(
            allow_exec=allow_exec, allow_metadata=allow_metadata, allow_kill=scoped, allow_connect=bool(port)
        )
        yield Filter(program, tolerant=settings.unsafe).install, ()
    elif not locked and not settings.unsafe:
        raise OSError("no jail: this machine has neither Landlock nor seccomp")


def seal(limits: Limits, *, writes_files: bool = False, tolerant: bool = False) -> None:
    """Sets the limits and takes away processes, signals to others and the means to change limits; for good."""
    make(sealing(limits, writes_files=writes_files, tolerant=tolerant))


def sealing(
    limits: Limits | None,
    *,
    writes_files: bool = False,
    stacks: int = 0,
    allow_exec: bool = False,
    tolerant: bool = False,
) -> Iterator[Call]:
    """The calls of `seal`. `limits`: None leaves them; `stacks`: see `limits.plan`.

    `tolerant`: go on where seccomp is missing (the user asked for the weaker jail by name). Raises OSError otherwise.
    """
    for pair in plan(limits, writes_files=writes_files, stacks=stacks) if limits is not None else ():
        yield resource.setrlimit, pair
    if seccomp.supported():
        yield Filter(*seccomp.leaf_for_any(allow_exec=allow_exec), tolerant=tolerant).install, ()
    elif not tolerant:
        raise OSError(f"system calls of {kernel.MACHINE} are not known")


class ChildConfinement:
    """Confines the process that calls it, a fresh child of the one that made it; for good.

    limits       None leaves them as they are
    descriptors  target: source; the child's only descriptors are the targets, which count from 0 without a gap. No
                 target may be a later one's source. Empty: it keeps those that are open.
    tolerant     go on where seccomp is missing (the user asked for the weaker jail by name)
    """

    def __init__(self, limits: Limits | None, descriptors: Mapping[int, int], *, tolerant: bool) -> None:
        self._parent = os.getpid()
        self._calls: list[Call] = [
            (kernel.lean_prctl, (kernel.PR_SET_PDEATHSIG, signal.SIGKILL.value, 0, 0, 0)),
            *((os.dup2, (source, target)) for target, source in descriptors.items()),
            *([(os.closerange, (len(descriptors), _MOST_FDS))] if descriptors else []),
        ]
        self._sealing = [*sealing(limits, stacks=STACKS, tolerant=tolerant)]

    def __call__(self) -> None:
        """Raises OSError when the kernel refuses a step."""
        make(self._calls)
        if os.getppid() != self._parent:
            os._exit(0)
        make(self._sealing)
