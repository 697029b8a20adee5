"""Tries every layer of the jail, each in a forked child of this small process, and prints the results as JSON.

Started with a fresh exec by `strop.sandbox.report`, so that nothing is ever forked from the trainer.
"""

import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable

from strop.sandbox import kernel, landlock, seccomp, stronger

_CHILD_SECONDS = 15.0


def _landlock() -> str:
    kernel.no_new_privs()
    landlock.restrict(read=["/usr/lib"])
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


def _no_new_privs() -> str:
    kernel.no_new_privs()
    return f"no_new_privs is {kernel.prctl(kernel.PR_GET_NO_NEW_PRIVS)}"


def _capabilities() -> str:
    kernel.drop_capabilities()
    with open("/proc/self/status") as status:
        left = next(line.split()[1] for line in status if line.startswith("CapEff"))
    if int(left, 16):
        raise OSError(f"capabilities {left} are left")
    return "all were dropped"


def _subreaper() -> str:
    kernel.become_subreaper()
    read, write = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            os.read(read, 1)
            os._exit(7)
        os._exit(0)
    os.wait()
    os.write(write, b"x")
    _, status = os.wait()
    return f"an orphan in its own session was reaped (status {os.waitstatus_to_exitcode(status)})"


def _pidfd() -> str:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    poll = select.poll()
    poll.register(os.pidfd_open(pid), select.POLLIN)
    if not poll.poll(2000):
        raise OSError("the end of a child was not seen")
    os.waitpid(pid, 0)
    return "the end of a child was seen"


_LAYERS: tuple[tuple[str, Callable[[], str], str, str], ...] = (
    (
        "landlock",
        _landlock,
        "stat of any path; reading system libraries and the standard library",
        "reading and, outside the run profile, writing every file of the user",
    ),
    (
        "seccomp",
        _seccomp,
        "other calls of the kernel, with their bugs",
        "sockets, processes, signals to others, ptrace, shared memory",
    ),
    (
        "rlimits",
        _rlimits,
        "limits count per process, which holds as long as seccomp denies fork",
        "CPU and memory without bound",
    ),
    ("no_new_privs", _no_new_privs, "", "set-uid programs"),
    (
        "capabilities",
        _capabilities,
        "the files of the same user, where Landlock is missing",
        "root's powers, if run as root",
    ),
    ("subreaper", _subreaper, "", "daemons that outlive their program (build profile)"),
    ("pidfd", _pidfd, "", "a short wait instead of a signal when a process ends"),
    (
        "slot_uid",
        stronger.slot_uid,
        "",
        "as an ordinary user: the same user's other processes share its limits; as root: no bound on processes",
    ),
    (
        "namespaces",
        stronger.in_namespaces,
        "",
        "stat of any path, the host's process ids; a work directory without a size (build profile)",
    ),
    (
        "cgroup",
        stronger.cgroup,
        "",
        "memory of several processes together (build profile)",
    ),
    ("bubblewrap", stronger.bubblewrap, "", "nothing more: it is one way to get namespaces"),
    ("apptainer", stronger.apptainer, "", "nothing more: it is one way to get namespaces"),
)


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
    return code == 0, text if code >= 0 else f"the attempt died by signal {-code}"


def _say(text: str) -> int:
    os.write(1, text.encode()[:4000])
    return 0


def main() -> None:
    """Prints a JSON list with one object a layer: name, active, detail, leaves_open."""
    rows = []
    for name, action, open_with, open_without in _LAYERS:
        active, detail = _try(action)
        rows.append(
            {
                "name": name,
                "active": active,
                "detail": detail,
                "leaves_open": open_with if active else open_without,
            }
        )
    sys.stdout.write(json.dumps(rows))
