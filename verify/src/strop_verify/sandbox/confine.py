"""Puts the calling process into the jail, in two steps that a fork server takes in different processes.

`enter` is permanent and applies to every descendant: no new privileges, no capabilities, Landlock, base seccomp filter.
`seal` is for the process that runs hostile code: its limits and the leaf filter. `entering` and `sealing` return their
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
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime",
    "/usr/share/zoneinfo", "/dev/null", "/dev/urandom", "/dev/random", "/dev/zero",
)  # fmt: skip
"""Libraries and devices that any program may read, except for `held`; no data of the user or the host's
configuration."""
PROGRAMS_READ = (
    "/bin", "/usr/bin", "/usr/local/bin", "/usr/share", "/usr/include", "/usr/libexec", "/etc/alternatives",
)  # fmt: skip
"""Programs and the files that they read, for profiles that start programs."""

_PACKAGES = ("site-packages", "dist-packages", "python-wheels")
_DEPTH = 3
_MOST_FDS = 1 << 16


@cache
def held() -> tuple[str, ...]:
    """Folders of the system's libraries with Python packages, or with an application that bundles some. No jail reads
    them, because Strop, its tasks or another release of a task's project may be installed there.
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
    """Whether it is a folder of packages, or has one at most `depth` levels below."""
    name = os.path.basename(path)
    return (
        name in _PACKAGES
        or name.startswith("bundledpython")
        or (depth > 0 and any(_packages(inner, depth - 1) for inner in _folders(path)))
    )


def readable(paths: Iterable[str], hidden: Sequence[str]) -> tuple[str, ...]:
    """The paths without the hidden folders below them: a path with hidden folders is replaced by its other entries. A
    link to another of the paths is left out.
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
    """User and group id to change to; 0 = keep."""
    holds: int = -1
    """Descriptor whose lock reserves this user id; -1 = none."""
    unsafe: bool = False
    """Whether the user asked for a jail without Landlock and seccomp."""
    hidden: Sequence[str] = ()
    """Folders of the system that it must not read: `held`."""
    image: bool = False
    """Whether programs have an image as their root: their user owns all of it, and they read no other path."""

    @property
    def keep_reading(self) -> bool:
        """Whether the new user can still read paths that only root can reach; Landlock limits which."""
        return bool(self.uid) and landlock.abi() > 0 and not self.image


def change_user(settings: WorkerSettings, owner: int, signal_number: int) -> None:
    """Changes to the worker's user, if any. `owner`: the parent's pid; its death still sends `signal_number`."""
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
    """Confines this process and all its descendants. Raises like `entering`."""
    calls = entering(
        read=read, write=write, allow_exec=allow_exec, allow_metadata=allow_metadata, settings=settings
    )
    make(calls)


def entering(
    *,
    read: Sequence[str],
    write: Sequence[str],
    allow_exec: bool,
    allow_metadata: bool,
    settings: WorkerSettings,
    port: int = 0,
) -> Iterator[Call]:
    """The calls of `enter`. `port`: a TCP port that may be connected to, in a private network; 0 = none.

    Raises OSError if this machine has neither Landlock nor seccomp, unless `settings.unsafe`.
    """
    yield kernel.lean_prctl, (kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if not settings.keep_reading:
        if not settings.uid:  # `becoming` has done it otherwise
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
    """Permanently sets the limits and forbids new processes, signals to others and changes of limits."""
    make(sealing(limits, writes_files=writes_files, tolerant=tolerant))


def sealing(
    limits: Limits | None,
    *,
    writes_files: bool = False,
    stacks: int = 0,
    allow_exec: bool = False,
    tolerant: bool = False,
) -> Iterator[Call]:
    """The calls of `seal`. `limits`: None keeps them; `stacks`: see `limits.plan`.

    `tolerant`: continue without seccomp (the user asked for the weaker jail by name); otherwise raises OSError.
    """
    for pair in plan(limits, writes_files=writes_files, stacks=stacks) if limits is not None else ():
        yield resource.setrlimit, pair
    if seccomp.supported():
        yield Filter(*seccomp.leaf_for_any(allow_exec=allow_exec), tolerant=tolerant).install, ()
    elif not tolerant:
        raise OSError(f"system calls of {kernel.MACHINE} are not known")


class ChildConfinement:
    """Permanently confines the process that calls it, a new child of the one that made it.

    limits       None keeps them
    descriptors  target: source; the child keeps only the targets, which count from 0 without a gap. No target may be
                 the source of a later one. Empty: it keeps all open descriptors.
    tolerant     continue without seccomp (the user asked for the weaker jail by name)
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
        """Confines the process. Raises OSError if the kernel refuses a step."""
        make(self._calls)
        if os.getppid() != self._parent:
            os._exit(0)
        make(self._sealing)
