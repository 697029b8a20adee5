"""Separate namespaces for one worker process, entered once, with a root that holds only what may be read.

Works as root, and as an ordinary user if the kernel allows user namespaces. Raises OSError if it is refused (as in most
containers), before any harmful change. Inside there is no file, process, network, System V object or abstract socket of
the host; only the kernel itself is not hidden.
"""

import fcntl
import os
import socket
import stat
import struct
from collections.abc import Iterable

from strop_verify.sandbox import kernel, landlock

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
REC_PRIVATE, BIND_REC, RDONLY, NOSUID, NODEV, REMOUNT_BIND = 0x44000, 0x5000, 0x1, 0x2, 0x4, 0x1020
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")
STREAMS = {"stdin": "/0", "stdout": "/1", "stderr": "/2", "fd": ""}
"""Names in /dev for a process's own descriptors, with what follows /proc/self/fd."""
_SET_FLAGS, _UP = 0x8914, 0x41
ROOT_BYTES = 1 << 20
"""Size of the root file system, which holds only mount points."""


def unshare(*, processes: bool) -> None:
    """Leaves the host's namespaces. `processes`: the next child is pid 1 of a new process namespace."""
    flags = NEWNS | NEWNET | NEWIPC | NEWUTS | NEWCGROUP | (NEWPID if processes else 0)
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        try:
            kernel.unshare(flags)
            return
        except OSError:
            pass  # root without CAP_SYS_ADMIN: continue as an ordinary user
    kernel.unshare(NEWUSER | flags)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def raise_loopback() -> None:
    """Brings up the loopback device of this network namespace. Raises OSError."""
    request = struct.pack("16sH14x", b"lo", _UP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, request)


def enclose(
    read: Iterable[str],
    *,
    work: str,
    work_options: str,
    processes: bool = False,
    roots: Iterable[str] = (),
    hidden: Iterable[str] = (),
) -> None:
    """Moves into a new root with `read` (read-only, without absent paths) and the devices above.

    work       absolute path of a writable tmpfs with `work_options`; empty = nothing is writable
    processes  this is pid 1 of a process namespace, which /proc shows; see `show_processes`
    roots      names of folders in `work` that are also visible at the root
    hidden     folders that are empty there except for paths of `read` below them
    """
    kernel.mount("none", "/", "", REC_PRIVATE, "")
    covers = sorted({path for path in hidden if os.path.isdir(path)})
    outermost = _outermost(read, covers)
    sources = {path: fd for path in outermost if (fd := opened(path)) >= 0}
    covers = [path for path in covers if any(path.startswith(one + "/") for one in sources)]
    devices = [(path, fd) for path in DEVICES if (fd := opened(path)) >= 0]
    new = "/tmp"
    kernel.mount("strop", new, "tmpfs", NOSUID | NODEV, f"size={ROOT_BYTES},nr_inodes=4096,mode=755")
    for path in sorted([*sources, *covers]):
        if path in sources:
            bind(sources[path], new + path, RDONLY | NOSUID | NODEV)
        else:
            kernel.mount("strop", new + path, "tmpfs", NOSUID | NODEV, "size=64k,nr_inodes=256,mode=755")
    for path in covers:
        kernel.mount("none", new + path, "", REMOUNT_BIND | RDONLY | NOSUID | NODEV, "")
    for path, fd in devices:
        bind(fd, new + path, NOSUID)
    if work:
        os.makedirs(new + work)
        mount_work(new + work, work_options)
    for name in roots:
        if os.path.lexists(f"{new}/{name}"):
            raise OSError(f"/{name} cannot be made writable: programs read from it")
        os.symlink(f"{work}/{name}", f"{new}/{name}")
    show_processes(new + "/proc", own=processes)
    for name, descriptor in STREAMS.items():
        os.symlink(f"/proc/self/fd{descriptor}", f"{new}/dev/{name}")
    kernel.pivot_root(new)
    kernel.mount("none", "/", "", REMOUNT_BIND | RDONLY | NOSUID | NODEV, "")


def mount_work(path: str, options: str) -> None:
    """Mounts an empty tmpfs to which programs can write."""
    kernel.mount("strop", path, "tmpfs", NOSUID | NODEV, options)


def show_processes(target: str, *, own: bool) -> None:
    """Mounts /proc, through which a program opens /dev/stdin: with `own` that of the process namespace of which this is
    pid 1, else one in which a process sees only itself. Without /proc if the kernel refuses, as with masked paths in a
    container.

    An ordinary user can only mount the host's /proc. That is done if there is Landlock, which denies everything in it
    but a process's own descriptors; only which process ids exist remains visible.
    """
    os.mkdir(target)
    # "subset" comes first: kernels before 5.8 reject it, and would apply "hidepid" to the whole machine
    options = "" if own else "subset=pid,hidepid=2"
    try:
        kernel.mount("proc", target, "proc", NOSUID | NODEV, options)
        return
    except OSError:
        host = opened("/proc") if landlock.abi() and not own else -1
    try:
        if host >= 0:
            return bind(host, target, RDONLY | NOSUID | NODEV)
    except OSError:
        os.close(host)
    os.rmdir(target)


def _outermost(paths: Iterable[str], covers: Iterable[str]) -> list[str]:
    """The paths that are not below another one, as given and with links resolved; below one of `covers`, those that are
    not below another one there.
    """
    every = {os.path.normpath(p) for p in paths if not p.startswith(("/dev/", "/proc/"))}
    every |= {os.path.realpath(p) for p in every}
    kept: set[str] = set()
    for path in sorted(every):
        cover = max((len(one) for one in covers if path.startswith(one + "/")), default=0)
        above = (path[:at] for at, letter in enumerate(path) if letter == "/" and at > cover)
        if not any(one in kept and not os.path.islink(one) for one in above):
            kept.add(path)
    return sorted(kept)


def opened(path: str) -> int:
    """A descriptor of the path, not following a link at its end; -1 if it is absent."""
    try:
        return os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1


def bind(fd: int, target: str, flags: int) -> None:
    """Mounts what a descriptor refers to at `target`, and closes the descriptor."""
    mode = os.fstat(fd).st_mode
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if stat.S_ISLNK(mode):
        if not os.path.lexists(target):
            os.symlink(os.readlink("", dir_fd=fd), target)
        os.close(fd)
        return
    if stat.S_ISDIR(mode):
        os.makedirs(target, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.mount(f"/proc/self/fd/{fd}", target, "", BIND_REC, "")
    kernel.mount("none", target, "", REMOUNT_BIND | flags | _locked(target), "")
    os.close(fd)


def _locked(target: str) -> int:
    """Flags of the host's mount that a user namespace must not remove."""
    found = os.statvfs(target).f_flag
    pairs = (
        (os.ST_NOEXEC, 0x8), (os.ST_NOATIME, 0x400), (os.ST_NODIRATIME, 0x800), (os.ST_RELATIME, 0x200000),
    )  # fmt: skip
    return sum(flag for bit, flag in pairs if found & bit)
