"""Tries the layers beyond Landlock and seccomp, which many hosts refuse; see `strop.sandbox.attempts`.

Each returns what it found, or raises OSError with the cause if the host refuses it. Run in a forked child.
"""

import contextlib
import errno
import os
import shutil
import subprocess

from strop.sandbox import confine, namespaces
from strop.sandbox.calls import becoming, make
from strop.sandbox.cgroup import Cgroup
from strop.sandbox.jails import JAILS, launched
from strop.sandbox.users import FIRST_SLOT

_SECONDS = 10.0


def slot_uid() -> str:
    """Its own user id."""
    if os.getuid() != 0:
        raise OSError("only root can give workers their own user id")
    make(becoming(FIRST_SLOT))
    if os.access("/root", os.R_OK):
        raise OSError("the files of root could still be read")
    return f"user id {os.getuid()}; root's files were refused"


def in_namespaces() -> str:
    """Its own root, process table and network, with a file system of limited size."""
    namespaces.unshare(processes=True)
    child = os.fork()
    if child == 0:
        try:
            _inside()
            os._exit(0)
        except OSError as error:
            os.write(1, f"{error}".encode())
            os._exit(1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise OSError("")  # the child has said why
    return "own root, processes, network and IPC; a file over the size was refused"


def _inside() -> None:
    read = (*confine.SYSTEM_READ, *confine.PROGRAMS_READ)
    namespaces.enclose(read, work="/work", work_options="size=1m,nr_inodes=100", processes=True)
    if os.getpid() != 1 or os.path.exists("/etc/passwd"):
        raise OSError("the host can still be seen")
    try:
        with open("/work/x", "wb") as file:
            file.write(bytes(2 << 20))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return
        raise
    raise OSError("the size was not kept")


def cgroup() -> str:
    """A control group with bounds on memory and processes."""
    group = Cgroup()
    try:
        group.limit(64 << 20, 4)
        child = os.fork()
        if child == 0:
            group.add(os.getpid())
            refused = False
            try:
                for _ in range(8):
                    os.fork()
            except OSError:
                refused = True
            with contextlib.suppress(ChildProcessError):
                while True:
                    os.wait()
            os._exit(7 if refused else 9)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 7:
            raise OSError("more processes were started than allowed")
        return f"version {group.version}; a fifth process was refused"
    finally:
        group.close()


def bubblewrap() -> str:
    """The program bwrap, where it is installed and may make namespaces."""
    return _launcher("bubblewrap")


def apptainer() -> str:
    """The program apptainer, where it is installed and can run this host's programs."""
    return _launcher("apptainer")


def _launcher(name: str) -> str:
    jail = next(jail for jail in JAILS if jail.name == name)
    if shutil.which(jail.launcher, path=os.defpath + ":/usr/local/bin") is None:
        raise OSError(f"{jail.launcher} is not installed")
    read = (*confine.SYSTEM_READ, *confine.PROGRAMS_READ)
    script = "test $$ = 1 || test ! -e /etc/passwd && echo inside"
    command = launched(jail, ["/bin/sh", "-c", script], read=read, work="/work", processes=True)
    try:
        done = subprocess.run(
            command, env={"PATH": os.defpath}, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise OSError(f"{jail.launcher}: {error}") from None
    if done.stdout.strip() != b"inside":
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise OSError(f"{jail.launcher}: {words[-1][:200] if words else 'it did not start'}")
    return f"{jail.launcher} starts programs in their own namespaces"
