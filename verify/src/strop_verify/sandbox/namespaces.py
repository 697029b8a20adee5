"""Separate namespaces for one worker process, entered once: a root that holds only what may be read.

Works as root, and as an ordinary user if the kernel allows user namespaces. Raises OSError if it is refused
(most containers do), before any harmful change. Inside there is no file, process, network,
System V object or abstract socket of the host; not hidden: the kernel itself.
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
"""Names in /dev of a process's own descriptors, by what follows /proc/self/fd."""
_SET_FLAGS, _UP = 0x8914, 0x41
ROOT_BYTES = 1 << 20
"""Size of the root file system, which holds mount points only."""


def unshare(*, processes: bool) -> None:
    """Leaves the host's namespaces; with `processes` the next child is pid 1 of a new process namespace."""
    flags = NEWNS | NEWNET | NEWIPC | NEWUTS | NEWCGROUP | (NEWPID if processes else 0)
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        try:
            kernel.unshare(flags)
            return
        except OSError:
            pass  # root without CAP_SYS_ADMIN: like a user
    kernel.unshare(NEWUSER | flags)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def raise_loopback() -> None:
    """Brings up the loopback device of this process's network namespace. Raises OSError."""
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
    """Moves into a new root that holds `read` (not to be written; absent paths are left out) and the devices above.

    work       an absolute path for a writable tmpfs with `work_options`; empty = nothing can be written
    processes  this is pid 1 of a process namespace, and /proc shows that; see `show_processes`
    roots      names of folders in `work` that are also found at the root
    hidden     folders that are empty there but for what `read` names below them
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
            raise OSError(f"/{name} cannot be written: something that programs read lies there")
        os.symlink(f"{work}/{name}", f"{new}/{name}")
    show_processes(new + "/proc", own=processes)
    for name, descriptor in STREAMS.items():
        os.symlink(f"/proc/self/fd{descriptor}", f"{new}/dev/{name}")
    kernel.pivot_root(new)
    kernel.mount("none", "/", "", REMOUNT_BIND | RDONLY | NOSUID | NODEV, "")


def mount_work(path: str, options: str) -> None:
    """Mounts an empty tmpfs, for programs to write in."""
    kernel.mount("strop", path, "tmpfs", NOSUID | NODEV, options)


def show_processes(target: str, *, own: bool) -> None:
    """Mounts /proc, through which a program opens /dev/stdin: of the process namespace that this is pid 1 of (`own`),
    else so that a process sees only itself. There is none where the kernel refuses that, as with the masked paths of a
    container.

    As an ordinary user only the host's /proc is to be had, so it is taken where Landlock keeps everything in it closed
    but a process's own descriptors. What stays open is which process ids exist.
    """
    os.mkdir(target)
    # "subset" comes first: kernels before 5.8 know neither, and would apply "hidepid" to the whole machine
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
    """The paths that are not below another one, each as spelled and with links resolved; below one of `covers` only
    what is not below another one there.
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
    """A descriptor of the path, whose last component may not be a link; -1 if it is absent."""
    try:
        return os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1


def bind(fd: int, target: str, flags: int) -> None:
    """Shows what the descriptor, which is closed, stands for at `target` too."""
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
    """Flags of the host's mount that a user namespace may not remove."""
    found = os.statvfs(target).f_flag
    pairs = (
        (os.ST_NOEXEC, 0x8),
        (os.ST_NOATIME, 0x400),
        (os.ST_NODIRATIME, 0x800),
        (os.ST_RELATIME, 0x200000),
    )
    return sum(flag for bit, flag in pairs if found & bit)
