"""Turns a forked child into a jailed program; the box supervisor prepares the calls before it forks.

The effect is that of `kernel.die_with_parent`, setting the streams, `confine.change_user`, `confine.enter` and, in the
profile "run", `confine.seal`, then exec.
"""

import os
import resource
import signal
from collections.abc import Mapping, Sequence
from typing import NoReturn

from strop_verify.sandbox import confine, kernel
from strop_verify.sandbox.image_root import ImageRoot
from strop_verify.sandbox.kernel import Call, becoming, make
from strop_verify.sandbox.limits import Limits, limit_processes, plan

_PATH = "/usr/local/bin:/usr/bin:/bin"
Paths = tuple[str, ...]


class ProgramStart:
    """Replaces the process that calls it, a new child of the one that made it, with the program.

    argv         its arguments; the first is a path or a name to look for in PATH
    environment  variables in addition to PATH, LANG, HOME and TMPDIR
    home         its work directory
    streams      descriptors of its standard input, output and error
    read, write  paths that it may read or write
    build        whether it may start processes and write (profile "build", else "run")
    port         TCP port that it may connect to, in a private network; 0 = none
    image        its root and start folder; None = those of the supervisor
    Raises OSError if this machine has neither Landlock nor seccomp, unless `settings.unsafe`.
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
        image: ImageRoot | None = None,
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
        if image:
            self._calls += ((os.chroot, (image.work,)), (os.chdir, (f"/{image.home}",)))
        if settings.uid:
            self._calls += [*becoming(settings.uid, keep_reading=settings.keep_reading), die]
        if build:
            self._calls += ((resource.setrlimit, pair) for pair in plan(limits, writes_files=True))
            self._calls.append((limit_processes, (limits.processes,)))
        self._calls += confine.entering(
            read=read, write=write, allow_exec=True, allow_metadata=build, settings=settings, port=port
        )
        if not build:
            self._calls += confine.sealing(limits, allow_exec=True, tolerant=settings.unsafe)

    def __call__(self) -> NoReturn:
        """Raises OSError if the kernel refuses a step, NoProgram if the program cannot be executed."""
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
    """The requested program does not exist or cannot be executed."""
