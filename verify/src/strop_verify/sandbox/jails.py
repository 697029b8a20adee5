"""The jail's named configurations, from the weakest that contains hostile code to the strongest.

| name | in addition to Landlock and seccomp |
|---|---|
| minimal | nothing: needs neither root nor namespaces |
| slot-uid | one user id per worker (as root) |
| namespaces | mount, process, network, IPC, UTS and cgroup namespaces with a separate root; as root also slot-uid |
| full | namespaces, and a cgroup that bounds memory and processes of the whole tree |
| bubblewrap, apptainer | that program starts the worker, in its own namespaces |

"auto" is the first of full, namespaces, slot-uid, minimal that works here.
"""

import contextlib
import fcntl
import itertools
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from strop_verify.core.errors import SandboxError, UserError
from strop_verify.sandbox.confine import held
from strop_verify.sandbox.namespaces import STREAMS
from strop_verify.sandbox.report import JailReport, probe
from strop_verify.sandbox.spawn import helper
from strop_verify.sandbox.users import FIRST_SLOT, KILL_SECONDS, SLOTS, gone, left_over, processes_of

LAUNCHER_BYTES = 64 << 20
"""Size of the work directory with a launcher, whatever a program's limits are."""
_DYING_SECONDS = 1.0
"""Time for the processes of a dead worker to end before they are killed."""
_FOLDERS = ("/run", "/tmp")
_NUMBERS = itertools.count()
_LOST: list["Slot"] = []
"""Slots with processes that could not be killed, reserved for as long as this process lives."""


class Slot:
    """A user id that one worker of the machine has at a time, and whose processes end with its use.

    A lock on one byte of a file that all of root's processes share reserves it, through the descriptor `fd`; a process
    that inherits the descriptor keeps the lock, and the id is free again when the last holder has ended.
    """

    def __init__(self, uid: int) -> None:
        """Raises OSError if another worker has it."""
        self.uid = uid
        folder = next((path for path in _FOLDERS if os.access(path, os.W_OK)), _FOLDERS[-1])
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = os.open(os.path.join(folder, "strop-slots"), flags, 0o600)
        try:
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, uid, 1, 0)
            fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK, lock)
        except OSError:
            os.close(self.fd)
            raise

    def release(self) -> None:
        """Kills all processes of the user id, then frees it. Safe to call twice.

        Raises SandboxError if that fails; the user id is then not used again.
        """
        if self.fd < 0 or self in _LOST:
            return
        if not gone(self.uid, _DYING_SECONDS):
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                command = helper("strop_verify.sandbox.users", str(self.uid))
                subprocess.run(command, env={}, cwd="/", timeout=2 * KILL_SECONDS)
            if left := processes_of(self.uid):
                _LOST.append(self)
                raise SandboxError(left_over(self.uid, left))
        fd, self.fd = self.fd, -1
        if fd >= 0:  # another thread may have been first
            os.close(fd)


def take_slot() -> Slot:
    """Reserves an unused user id. Raises SandboxError if there is none."""
    first = os.getpid() * 31 + next(_NUMBERS)
    for number in range(SLOTS):
        uid = FIRST_SLOT + (first + number) % SLOTS
        if not processes_of(uid):
            with contextlib.suppress(OSError):
                return Slot(uid)
    raise SandboxError(f"all user ids from {FIRST_SLOT} to {FIRST_SLOT + SLOTS - 1} are in use by workers")


@dataclass(frozen=True, slots=True)
class Jail:
    """A configuration: what it adds to Landlock, seccomp, limits and an empty environment."""

    name: str
    needs: tuple[str, ...] = ()
    """Layers that it requires."""
    slot_uid: bool = False
    namespaces: bool = False
    cgroup: bool = False
    launcher: str = ""
    """Program that starts the worker, or empty."""

    def slot(self) -> Slot | None:
        """A user id for one worker, to be released, if this jail has them and we are root. Raises SandboxError."""
        return take_slot() if self.slot_uid and os.getuid() == 0 else None

    @property
    def own_root(self) -> bool:
        """Whether a worker sees only given files of this host."""
        return self.namespaces or bool(self.launcher)

    def settings(self, slot: Slot | None, *, allow_unsafe: bool) -> str:
        """The worker's settings (`confine.WorkerSettings`), as JSON for its command line."""
        user = {"uid": slot.uid, "holds": slot.fd} if slot else {}
        return json.dumps({"namespaces": self.namespaces, "unsafe": allow_unsafe, "hidden": held(), **user})


JAILS = (
    Jail("minimal"),
    Jail("slot-uid", needs=("slot_uid",), slot_uid=True),
    Jail("namespaces", needs=("namespaces",), slot_uid=True, namespaces=True),
    Jail("full", needs=("namespaces", "cgroup"), slot_uid=True, namespaces=True, cgroup=True),
    Jail("bubblewrap", needs=("bubblewrap",), launcher="bwrap"),
    Jail("apptainer", needs=("apptainer",), launcher="apptainer"),
)


def jail_names(report: JailReport | None = None) -> list[str]:
    """The configurations that this host offers, weakest first; empty without both Landlock and seccomp."""
    seen = report or probe()
    return [jail.name for jail in JAILS if seen.safe and all(seen.layer(need).active for need in jail.needs)]


def choose(name: str = "auto") -> Jail:
    """The configuration of that name. Raises UserError for an unknown one, SandboxError if this host lacks it."""
    by_name = {jail.name: jail for jail in JAILS}
    if name != "auto" and name not in by_name:
        raise UserError(f"sandbox.jail={name!r}: no such jail; choose auto, {', '.join(by_name)}")
    report = probe()
    offered = jail_names(report)
    if name == "auto":
        return next((jail for jail in JAILS[::-1] if jail.name in offered and not jail.launcher), JAILS[0])
    if name not in offered and name != "minimal":
        layers = [report.layer(need) for need in by_name[name].needs]
        causes = "; ".join(f"{layer.name}: {layer.detail}" for layer in layers if not layer.active)
        raise SandboxError(f"sandbox.jail={name} does not work on this machine ({causes})")
    return by_name[name]


def launched(jail: Jail, argv: list[str], *, read: Iterable[str], work: str, processes: bool) -> list[str]:
    """The command that starts the worker `argv` in this configuration.

    read       paths that the worker needs, its own source included
    work       a writable tmpfs inside, or empty
    processes  whether a launcher makes a process namespace for the worker (without one the worker does so itself)
    """
    if jail.launcher == "bwrap":
        return [*_bubblewrap(read, work, processes), *argv]
    if jail.launcher == "apptainer":
        return [*_apptainer(read, work, processes), *argv]
    return argv


def _bubblewrap(read: Iterable[str], work: str, processes: bool) -> list[str]:
    command = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--unshare-user-try", "--unshare-ipc"]
    command += ["--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--unshare-pid", "--as-pid-1", "--proc", "/proc"] if processes else []
    for path in sorted({*read, *held()}):
        if path in held():
            command += ["--tmpfs", path]
        else:
            command += ["--dev-bind-try" if path.startswith("/dev/") else "--ro-bind-try", path, path]
    for name, descriptor in STREAMS.items():
        command += ["--symlink", f"/proc/self/fd{descriptor}", f"/dev/{name}"]
    command += ["--size", str(LAUNCHER_BYTES), "--tmpfs", work] if work else []
    return [*command, "--remount-ro", "/", "--chdir", "/", "--"]


def _apptainer(read: Iterable[str], work: str, processes: bool) -> list[str]:
    """The host's root as the image (or STROP_APPTAINER_IMAGE). Written from apptainer's documentation, not yet run."""
    command = [shutil.which("apptainer") or "apptainer", "--silent", "exec", "--containall", "--no-home"]
    command += ["--cleanenv", "--no-privs", "--net", "--network", "none", "--ipc", "--uts"]
    command += ["--pid", "--no-init"] if processes else []
    for path in sorted(p for p in set(read) if os.path.exists(p) and not p.startswith("/dev/")):
        command += ["--bind", f"{path}:{path}:ro"]
    command += ["--scratch", work] if work else []
    return [*command, os.environ.get("STROP_APPTAINER_IMAGE", "/")]
