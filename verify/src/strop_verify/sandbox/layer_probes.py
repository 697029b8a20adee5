"""Tries every layer of the jail, each in a forked child of this small process, and prints the results as JSON.

Started with a fresh exec by `strop_verify.sandbox.report`, so that nothing is ever forked from the trainer.
"""

import contextlib
import errno
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from strop_verify.sandbox import confine, kernel, landlock, namespaces, seccomp
from strop_verify.sandbox.cgroup import Cgroup
from strop_verify.sandbox.jails import JAILS, launched
from strop_verify.sandbox.kernel import becoming, make
from strop_verify.sandbox.users import FIRST_SLOT

_CHILD_SECONDS = 15.0
_LAUNCH_SECONDS = 10.0


def _landlock() -> str:
    kernel.no_new_privs()
    make([landlock.restricting(("/usr/lib",), ())])
    _refused("reading outside", lambda: os.listdir("/etc"))
    return f"ABI {landlock.abi()}; reading outside was refused"


def _seccomp() -> str:
    if not seccomp.supported():
        raise OSError(f"system calls of {kernel.MACHINE} are not known")
    kernel.no_new_privs()
    kernel.install_filter(seccomp.base(allow_exec=False, allow_metadata=False))
    kernel.install_filter(seccomp.leaf(os.getpid()))
    _refused("socket", lambda: socket.socket())
    _refused("fork", os.fork)
    _refused("kill of the parent", lambda: os.kill(os.getppid(), 0))
    return "socket, fork and a signal to the parent were refused"


def _refused(what: str, action: Callable[[], object]) -> None:
    try:
        action()
    except PermissionError:
        return
    raise OSError(f"{what} was allowed")


def _rlimits() -> str:
    resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
    try:
        bytearray(512 << 20)
    except MemoryError:
        return "memory over RLIMIT_AS was refused"
    raise OSError("memory over RLIMIT_AS was granted")


def _slot_uid() -> str:
    if os.getuid() != 0:
        raise OSError("only root can give workers their own user id")
    make(becoming(FIRST_SLOT))
    if os.access("/root", os.R_OK):
        raise OSError("the files of root could still be read")
    return f"user id {os.getuid()}; root's files were refused"


def _in_namespaces() -> str:
    namespaces.unshare(processes=True)
    child = os.fork()
    if child == 0:
        try:
            _inside()
            os._exit(0)
        except OSError as error:
            lacks = error.errno == errno.EINVAL and not os.getuid()
            hint = "; root needs CAP_SYS_ADMIN for it" if lacks else ""
            os.write(1, f"{error}{hint}".encode())
            os._exit(1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        os._exit(1)  # the child has printed why
    return "own root, processes, network and IPC; a file over the size was refused"


def _inside() -> None:
    read, owner = (*confine.SYSTEM_READ, *confine.PROGRAMS_READ), ""
    if os.getuid() == 0:  # as for root's workers; a user namespace has no other user id
        owner = f",uid={FIRST_SLOT},gid={FIRST_SLOT}"
    namespaces.enclose(read, work="/work", work_options=f"size=1m,nr_inodes=100{owner}", processes=True)
    if owner:
        make(becoming(FIRST_SLOT))
    if os.getpid() != 1 or os.path.exists("/etc/passwd"):
        raise OSError("the host can still be seen")
    try:
        with open("/work/x", "wb") as file:
            file.write(bytes(2 << 20))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return
        raise
    raise OSError("the size was not enforced")


def _cgroup() -> str:
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


def _launcher(name: str) -> str:
    jail = next(jail for jail in JAILS if jail.name == name)
    if shutil.which(jail.launcher, path=os.defpath + ":/usr/local/bin") is None:
        raise OSError(f"{jail.launcher} is not installed")
    read = (*confine.SYSTEM_READ, *confine.PROGRAMS_READ)
    script = "test $$ = 1 || test ! -e /etc/passwd && echo inside"
    command = launched(jail, ["/bin/sh", "-c", script], read=read, work="/work", processes=True)
    try:
        done = subprocess.run(
            command, env={"PATH": os.defpath}, capture_output=True, timeout=_LAUNCH_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise OSError(f"{jail.launcher}: {error}") from None
    if done.stdout.strip() != b"inside":
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise OSError(f"{jail.launcher}: {words[-1][:200] if words else 'it did not start'}")
    return f"{jail.launcher} starts programs in their own namespaces"


_LAYERS: tuple[tuple[str, Callable[[], str], str, str], ...] = (
    ("landlock", _landlock, "stat of any path; reading system libraries and the standard library",
     "reading and, outside the run profile, writing every file of the user"),
    ("seccomp", _seccomp, "other calls of the kernel, with their bugs",
     "sockets, processes, signals to others, ptrace, shared memory"),
    ("rlimits", _rlimits, "limits count per process, which holds as long as seccomp denies fork",
     "CPU and memory without bound"),
    ("slot_uid", _slot_uid, "",
     "as an ordinary user: the same user's other processes share its limits; as root: no bound on processes"),
    ("namespaces", _in_namespaces, "",
     "stat of any path, the host's process ids; a work directory without a size (build profile)"),
    ("cgroup", _cgroup, "", "memory of several processes together (build profile)"),
    *((name, partial(_launcher, name), "", "nothing more: it is one way to get namespaces")
      for name in ("bubblewrap", "apptainer")),
)  # fmt: skip


def _try(action: Callable[[], str]) -> tuple[bool, str]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        try:
            os._exit(_say(action()))
        except BaseException as error:
            _say(str(error) or type(error).__name__)
        finally:
            os._exit(1)
    os.close(write)
    poll = select.poll()
    poll.register(read, select.POLLHUP)
    if not poll.poll(_CHILD_SECONDS * 1000):
        os.kill(pid, signal.SIGKILL)
    text = os.read(read, 4096).decode(errors="replace")
    os.close(read)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code == 0, text if code >= 0 else f"the attempt was killed by signal {-code}"


def _say(text: str) -> int:
    os.write(1, text.encode()[:4000])
    return 0


def main() -> None:
    """Prints a JSON list with one object per layer: name, active, detail, leaves_open."""
    rows = []
    for name, action, open_with, open_without in _LAYERS:
        active, detail = _try(action)
        leaves_open = open_with if active else open_without
        rows.append({"name": name, "active": active, "detail": detail, "leaves_open": leaves_open})
    sys.stdout.write(json.dumps(rows))
