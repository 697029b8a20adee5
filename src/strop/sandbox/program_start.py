"""How a forked child becomes a jailed program, prepared by the box supervisor that forks it.

Its effect is that of `kernel.die_with_parent`, the streams, `confine.change_user`, `confine.enter` and, in the profile
"run", `confine.seal`; then the program takes its place.
"""

import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NoReturn

from strop.sandbox import confine, kernel, landlock, seccomp
from strop.sandbox.calls import Filter, becoming, make
from strop.sandbox.kernel import Call
from strop.sandbox.limits import Limits, apply_rlimits, plan

_PATH = "/usr/local/bin:/usr/bin:/bin"
Paths = tuple[str, ...]


class ProgramStart:
    """Becomes the program in the process that calls it, a fresh child of the one that made it.

    argv         its arguments; the first is a path or a name to look for in `PATH`
    environment  beside PATH, LANG, HOME and TMPDIR
    home         its work directory
    streams      its standard input, output and error; they are not inherited under their own numbers
    read, write  paths that it may read, and may write
    build        may start processes and write, "run" otherwise
    port         TCP port that it may connect to, in its own network; 0 = none
    Raises OSError where this machine has neither Landlock nor seccomp, unless `settings.unsafe`.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        home: str,
        streams: Sequence[int],
        limits: Limits,
        *,
        read: Paths,
        write: Paths,
        build: bool,
        settings: confine.WorkerSettings,
        port: int = 0,
    ) -> None:
        self._parent = os.getpid()
        self._environment = {"PATH": _PATH, "LANG": "C.UTF-8", "HOME": home, "TMPDIR": home, **environment}
        self._argv = list(argv)
        name = argv[0]
        folders = self._environment["PATH"].split(":")
        self._paths = [name] if "/" in name else [os.path.join(folder, name) for folder in folders]
        for fd in streams:
            os.set_inheritable(fd, False)
        die = (kernel.lean_prctl, (kernel.PR_SET_PDEATHSIG, signal.SIGKILL.value, 0, 0, 0))
        self._calls: list[Call] = [
            (os.setsid, ()),
            (signal.set_wakeup_fd, (-1,)),
            (kernel.lean_signal, (signal.SIGPIPE.value, 0)),
            die,
            *((os.dup2, (fd, target)) for target, fd in enumerate(streams)),
        ]
        if settings.uid:
            self._calls += [*becoming(settings.uid, keep_reading=settings.keep_reading), die]
        if build:
            self._calls.append((partial(apply_rlimits, limits, writes_files=True, counts_processes=True), ()))
        self._calls += _entering(read, (*write, "/dev/null"), build, settings, port)
        if not build:
            self._calls += _sealing(limits, settings)

    def __call__(self) -> NoReturn:
        """Raises OSError when the kernel refuses a step, NoProgram when there is no such program."""
        make(self._calls)
        if os.getppid() != self._parent:
            os._exit(0)
        fault: Exception = FileNotFoundError()
        for path in self._paths:
            try:
                os.execve(path, self._argv, self._environment)
            except (FileNotFoundError, NotADirectoryError) as error:
                fault = error
            except (OSError, ValueError) as error:
                raise NoProgram(str(error)) from error
        raise NoProgram(str(fault))


class NoProgram(Exception):
    """What was asked for is no program."""


def _entering(
    read: Paths, write: Paths, build: bool, settings: confine.WorkerSettings, port: int
) -> Iterator[Call]:
    """As `confine.enter`."""
    yield kernel.lean_prctl, (kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if not settings.keep_reading:
        if not settings.uid:
            yield kernel.forgo_privileged_exec, ()
        yield kernel.lean_prctl, (kernel.PR_CAP_AMBIENT, 4, 0, 0, 0)
        yield kernel.setting_capabilities(0, 0)
    yield kernel.lean_prctl, (kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
    locked = landlock.abi() > 0
    if locked:
        yield landlock.restricting(read, write, port)
    if seccomp.supported():
        scoped = landlock.scopes_signals()
        program = seccomp.base(
            allow_exec=True, allow_metadata=build, allow_kill=scoped, allow_connect=bool(port)
        )
        yield Filter(program).install, ()
    elif not locked and not settings.unsafe:
        raise OSError("no jail: this machine has neither Landlock nor seccomp")


def _sealing(limits: Limits, settings: confine.WorkerSettings) -> Iterator[Call]:
    """As `confine.seal`."""
    for pair in plan(limits, writes_files=False):
        yield resource.setrlimit, pair
    if seccomp.supported():
        yield Filter(*seccomp.leaf_for_any(allow_exec=True)).install, ()
    elif not settings.unsafe:
        raise OSError(f"system calls of {kernel.MACHINE} are not known")
