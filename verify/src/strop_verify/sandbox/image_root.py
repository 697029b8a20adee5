"""The root of programs that run in a container image: its layers, and above them what programs write, in memory.

Overlayfs stacks them, so a new root takes milliseconds whatever the image's size, nothing is ever written to a layer,
and what was written is bounded and goes with the namespace. It needs Linux 5.11, and as root 5.19: there the layers,
which root owns, are shown as the worker's user's by mounts with mapped ids.

The supervisor stays outside, in a root with nothing but the layers; programs change their root to `work`. Files of the
image are hostile: no link of it is followed here.
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
"""Folders of the root that are the jail's."""
_CLONE, _EMPTY_PATH, _CLOEXEC, _FROM_EMPTY_PATH, _HERE = 1, 0x1000, 0o2000000, 4, 2**64 - 100
_IDMAP = 0x00100000
INODES = 1 << 16
"""Files and folders that programs may add or change."""


class ImageRoot:
    """Belongs to one supervisor, which makes it before it enters namespaces: ids are mapped from outside.

    layers  folders of the image's layers, uppermost first
    home    where programs start, and what names of files are relative to: a path in the image
    work    where the root is, as the supervisor sees it
    read    paths of this machine that are also seen in it, under the same names; a file that the image has is its own
    uid     user that owns all of it, 0: this one
    """

    def __init__(self, layers: Sequence[str], home: str, work: str, read: Sequence[str], uid: int) -> None:
        self.home, self.work, self.uid = home.strip("/"), work, uid
        self._layers, self._read = layers, [path for path in read if os.path.exists(path)]
        self._closed: frozenset[str] | None = None
        self._open: list[str] = []
        self._owner = _id_map(uid) if uid else -1

    def enclose(self, options: str) -> None:
        """Moves into a new root; see `namespaces.enclose`. `options`: of the file system that is written to.

        Raises OSError, also where this kernel or file system does not map ids.
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
                "an image needs a /proc of its own, which this container refuses: start it so that no path is masked "
                "(--security-opt systempaths=unconfined)"
            )
        kernel.pivot_root(new)
        self.mount(options)
        kernel.mount("none", "/", "", REMOUNT_BIND | RDONLY | NOSUID | NODEV, "")
        if self._owner >= 0:
            os.close(self._owner)

    def mount(self, options: str) -> None:
        """Stacks the layers and an empty file system to write to. Raises OSError."""
        self._closed = None
        kernel.mount("strop", UPPER, "tmpfs", NOSUID | NODEV, options)
        for name, mode in (("files", 0o755), ("shm", 0o1777), ("work", 0o755)):
            os.mkdir(f"{UPPER}/{name}")
            os.chmod(f"{UPPER}/{name}", mode)
            if self.uid:
                os.chown(f"{UPPER}/{name}", self.uid, self.uid)
        os.chdir(_LAYERS)  # so that the option stays short
        lower = ":".join(map(str, range(len(self._layers))))
        stacked = f"lowerdir={lower},upperdir={UPPER}/files,workdir={UPPER}/work,userxattr"
        try:
            kernel.mount("overlay", self.work, "overlay", NOSUID | NODEV, stacked)
        except OSError as error:
            raise OSError(
                error.errno, f"an image needs overlayfs, for users from Linux 5.11 on: {error.strerror}"
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
        """Another root in the place of this one, with nothing of what was written. Raises OSError."""
        kernel.unmount(self.work)
        kernel.unmount(UPPER)
        self.mount(options)

    def make_home(self) -> None:
        """Makes the folder that programs start in where it is missing, or something else is in its place."""
        workdir.make_folder(self.work, self.home, self.uid)

    def close_folders(self, closed: Collection[str], still_open: Sequence[str]) -> None:
        """From now on programs write in no folder of the root called so, nor in the root itself, but in the paths that
        are still open.
        """
        for path in still_open:
            self._refuse_links(path)
        self._closed, self._open = frozenset(closed), [self.work + path for path in still_open]

    @property
    def writable(self) -> tuple[str, ...]:
        """What programs may write to."""
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
    """A descriptor of a user namespace in which what root owns is the user's. Raises OSError."""
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
            raise OSError("this machine gives root no user namespace")
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{name}", "w") as file:
                file.write(f"0 {uid} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _bind_mapped(fd: int, target: str, owner: int) -> None:
    """`namespaces.bind` of a folder, to be read alone, with its ids as in the user namespace. Raises OSError."""
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
            "STROP_CACHE on ext4, xfs, btrfs or tmpfs; an ordinary user does not",
        ) from None
    finally:
        os.close(tree)
        os.close(fd)
