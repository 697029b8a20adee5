"""The root of programs that run in a container image: its layers, and above them, in memory, what programs write.

Overlayfs stacks them, so a new root takes milliseconds whatever the image's size, nothing is ever written to a layer,
and writes are bounded and end with the namespace. It needs Linux 5.11, and as root 5.19: the layers, which root owns,
are mounted with mapped ids, so that the worker's user owns them.

The supervisor stays outside, in a root with only the layers; programs change their root to `work`. Files of the image
are hostile: no link in it is followed here.
"""

import contextlib
import ctypes
import os
import signal
import stat
import struct
from collections.abc import Collection, Sequence

from strop_verify.sandbox import kernel, workdir
from strop_verify.sandbox.namespaces import (
    DEVICES,
    NEWUSER,
    NODEV,
    NOSUID,
    RDONLY,
    REC_PRIVATE,
    REMOUNT_BIND,
    ROOT_BYTES,
    STREAMS,
    bind,
    opened,
    show_processes,
)
from strop_verify.sandbox.syscalls import table

UPPER = "/upper"
_LAYERS, _GIVEN = "/layers", "/given"
_OWN = frozenset({"proc", "dev", "sys"})
"""Folders of the root that belong to the jail."""
_CLONE, _EMPTY_PATH, _CLOEXEC, _FROM_EMPTY_PATH, _HERE = 1, 0x1000, 0o2000000, 4, 2**64 - 100
_IDMAP = 0x00100000
INODES = 1 << 16
"""Maximum files and folders that programs may add or change."""


class ImageRoot:
    """The root of one supervisor, which makes it before it enters namespaces, because ids are mapped from outside.

    layers  folders of the image's layers, uppermost first
    home    path in the image where programs start, to which file names are relative
    work    path of the root, as the supervisor sees it
    read    paths of this machine to show in it, under the same names; the image's own files take precedence
    uid     user that owns all of it; 0 = this one
    """

    def __init__(self, layers: Sequence[str], home: str, work: str, read: Sequence[str], uid: int) -> None:
        self.home, self.work, self.uid = home.strip("/"), work, uid
        self._layers, self._read = layers, [path for path in read if os.path.exists(path)]
        self._closed: frozenset[str] | None = None
        self._open: list[str] = []
        self._owner = _id_map(uid) if uid else -1

    def enclose(self, options: str) -> None:
        """Moves into a new root; see `namespaces.enclose`. `options`: of the writable file system.

        Raises OSError, also if this kernel or file system does not map ids.
        """
        kernel.mount("none", "/", "", REC_PRIVATE, "")
        layers = [os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) for path in self._layers]
        given = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in self._read]
        devices = [(path, fd) for path in DEVICES if (fd := opened(path)) >= 0]
        new = "/tmp"
        kernel.mount("strop", new, "tmpfs", NOSUID | NODEV, f"size={ROOT_BYTES},nr_inodes=4096,mode=755")
        for number, fd in enumerate(layers):
            if self.uid:
                _bind_mapped(fd, f"{new}{_LAYERS}/{number}", self._owner)
            else:
                bind(fd, f"{new}{_LAYERS}/{number}", RDONLY | NOSUID | NODEV)
        for number, fd in enumerate(given):
            bind(fd, f"{new}{_GIVEN}/{number}", RDONLY | NOSUID | NODEV)
        for path, fd in devices:
            bind(fd, new + path, NOSUID)
        for name in (self.work, UPPER):
            os.mkdir(new + name)
        show_processes(f"{new}/proc", own=True)
        if not os.path.isdir(f"{new}/proc"):
            raise OSError(
                "an image needs its own /proc, which this container refuses: start it without masked paths "
                "(--security-opt systempaths=unconfined)"
            )
        kernel.pivot_root(new)
        self.mount(options)
        kernel.mount("none", "/", "", REMOUNT_BIND | RDONLY | NOSUID | NODEV, "")
        if self._owner >= 0:
            os.close(self._owner)

    def mount(self, options: str) -> None:
        """Stacks the layers and an empty writable file system. Raises OSError."""
        self._closed = None
        kernel.mount("strop", UPPER, "tmpfs", NOSUID | NODEV, options)
        for name, mode in (("files", 0o755), ("shm", 0o1777), ("work", 0o755)):
            os.mkdir(f"{UPPER}/{name}")
            os.chmod(f"{UPPER}/{name}", mode)
            if self.uid:
                os.chown(f"{UPPER}/{name}", self.uid, self.uid)
        os.chdir(_LAYERS)  # keeps the mount option short
        lower = ":".join(map(str, range(len(self._layers))))
        stacked = f"lowerdir={lower},upperdir={UPPER}/files,workdir={UPPER}/work,userxattr"
        try:
            kernel.mount("overlay", self.work, "overlay", NOSUID | NODEV, stacked)
        except OSError as error:
            raise OSError(
                error.errno, f"an image needs overlayfs, for ordinary users Linux 5.11: {error.strerror}"
            ) from None
        os.chdir("/")
        for name in (*_OWN, "tmp"):
            if not self._is_folder(name):
                workdir.make_folder(self.work, name, self.uid)
                os.chmod(f"{self.work}/{name}", 0o1777 if name == "tmp" else 0o755)
        bind(opened("/proc"), f"{self.work}/proc", RDONLY | NOSUID | NODEV)
        self._mount_devices(f"{self.work}/dev")
        for number, path in enumerate(self._read):
            whole = os.path.isdir(f"{_GIVEN}/{number}")
            if not whole and os.path.lexists(self.work + path):
                continue
            self._refuse_links(path)
            workdir.make_folder(self.work, path if whole else os.path.dirname(path), self.uid)
            bind(opened(f"{_GIVEN}/{number}"), self.work + path, RDONLY | NOSUID | NODEV)
        self._refuse_links(f"/{self.home}")
        self.make_home()

    def renew(self, options: str) -> None:
        """Replaces the root with a new one without anything that was written. Raises OSError."""
        kernel.unmount(self.work)
        kernel.unmount(UPPER)
        self.mount(options)

    def make_home(self) -> None:
        """Makes the folder in which programs start, if it is missing or not a folder."""
        workdir.make_folder(self.work, self.home, self.uid)

    def close_folders(self, closed: Collection[str], still_open: Sequence[str]) -> None:
        """Forbids later programs to write in these folders of the root or the root itself, except in `still_open`."""
        for path in still_open:
            self._refuse_links(path)
        self._closed, self._open = frozenset(closed), [self.work + path for path in still_open]

    @property
    def writable(self) -> tuple[str, ...]:
        """Paths to which programs may write."""
        if self._closed is None:
            return (self.work,)
        names = sorted({*os.listdir(self.work)} - self._closed - _OWN)
        folders = [f"{self.work}/{name}" for name in names if self._is_folder(name)]
        return (*folders, *self._open, f"{self.work}/dev/shm")

    def _mount_devices(self, target: str) -> None:
        kernel.mount("strop", target, "tmpfs", NOSUID, "size=64k,nr_inodes=64,mode=755")
        for path in DEVICES:
            if (fd := opened(path)) >= 0:
                bind(fd, f"{target}/{os.path.basename(path)}", NOSUID)
        for name, descriptor in STREAMS.items():
            os.symlink(f"/proc/self/fd{descriptor}", f"{target}/{name}")
        os.mkdir(f"{target}/shm")
        kernel.mount("none", target, "", REMOUNT_BIND | RDONLY | NOSUID, "")
        bind(os.open(f"{UPPER}/shm", os.O_PATH | os.O_CLOEXEC), f"{target}/shm", NOSUID | NODEV)

    def _is_folder(self, name: str) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return stat.S_ISDIR(os.lstat(f"{self.work}/{name}").st_mode)
        return False

    def _refuse_links(self, path: str) -> None:
        """Raises ValueError for a path of the image that passes through a link."""
        seen = self.work
        for part in filter(None, path.split("/")):
            seen = f"{seen}/{part}"
            if os.path.islink(seen):
                raise ValueError(
                    f"{path} cannot be used in this image, where {seen[len(self.work) :]} is a link"
                )


def _id_map(uid: int) -> int:
    """A descriptor of a user namespace that maps root's files to the user. Raises OSError."""
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            kernel.unshare(NEWUSER)
            os.write(told, b".")
            signal.pause()
        finally:
            os._exit(1)
    os.close(told)
    try:
        if not os.read(ready, 1):
            raise OSError("this machine refuses root a user namespace")
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{name}", "w") as file:
                file.write(f"0 {uid} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _bind_mapped(fd: int, target: str, owner: int) -> None:
    """`namespaces.bind` of a folder, read-only, with ids as in the user namespace. Raises OSError."""
    os.makedirs(target)
    calls = table(kernel.MACHINE)
    tree = kernel.syscall(calls["open_tree"], fd, b"\0", _CLONE | _EMPTY_PATH | _CLOEXEC)
    try:
        flags = _IDMAP | RDONLY | NOSUID | NODEV
        attributes = ctypes.create_string_buffer(struct.pack("=QQQQ", flags, 0, 0, owner), 32)
        kernel.syscall(calls["mount_setattr"], tree, b"\0", _EMPTY_PATH, attributes, 32)
        kernel.syscall(calls["move_mount"], tree, b"\0", _HERE, target.encode() + b"\0", _FROM_EMPTY_PATH)
    except OSError as error:
        raise OSError(
            error.errno,
            f"layers of an image cannot be shown to another user ({error.strerror}): root needs Linux 5.19, and "
            "STROP_CACHE on ext4, xfs, btrfs or tmpfs; ordinary users do not",
        ) from None
    finally:
        os.close(tree)
        os.close(fd)
