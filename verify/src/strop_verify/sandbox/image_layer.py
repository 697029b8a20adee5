"""Unpacks one layer of a container image into a folder, in the form that overlayfs stacks.

Rules: OCI image specification, layer.md; Documentation/filesystems/overlayfs.rst. A whiteout entry `.wh.NAME` removes
NAME of the layers below, `.wh..wh..opq` everything that they have in its folder, wherever either is in the archive;
here the former becomes a character device 0/0, the latter the attribute user.overlay.opaque. Deviations, because a jail
has one user:

1. Owners, other attributes and set-user-ID bits are dropped; the owner may read and write everything.
2. Entries below dev/ are skipped: a jail has its own.
3. A hard link must lead to an earlier entry of the same layer.

Layers are hostile. Folders are entered by descriptors that follow no link, so nothing is written outside. Python's
tarfile reads the archive, without its filters, which refuse links that are legitimate in an image; umoci would unpack
whole images, which share no layers.
"""

import os
import shutil
import stat
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from strop_verify.core.errors import UserError
from strop_verify.sandbox.workdir import remove_entry

MOST_BYTES, MOST_ENTRIES = 64 << 30, 4_000_000
"""Maximum contents of a layer."""
OPAQUE = "user.overlay.opaque"
_LONGEST = 1 << 20
"""Maximum bytes of an entry's name and attributes."""
_WHITEOUT, _HIDE_ALL = ".wh.", ".wh..wh..opq"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
Parts = tuple[str, ...]


class LayerFault(UserError):
    """A layer is invalid; the message names the entry."""


class _Entry(tarfile.TarInfo):
    """Bounds extended headers, which tarfile reads whole."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in b"xgXLK" and self.size > _LONGEST:
            raise LayerFault(f"a header of {self.size} bytes")
        made: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return made


def unpack(stream: IO[bytes], place: str, lower: Sequence[str] = ()) -> bool:
    """Unpacks a layer's tar into the empty folder `place`; returns whether it hides all layers below.

    lower  folders of the layers below, uppermost first: folders that the archive does not describe keep their modes
    Raises LayerFault, also if it is not a tar; OSError.
    """
    writer = _LayerWriter(place, lower)
    try:
        with tarfile.open(
            fileobj=stream, mode="r|", tarinfo=_Entry, encoding="utf-8", errors="surrogateescape"
        ) as archive:
            for number, member in enumerate(archive):
                if number == MOST_ENTRIES:
                    raise LayerFault(f"more than {MOST_ENTRIES} entries")
                writer.add(archive, member)
                archive.members = []  # type: ignore[attr-defined]  # it would keep them all
        return writer.finish()
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise LayerFault(f"its tar cannot be read: {error}") from None
    finally:
        writer.close()


class _LayerWriter:
    """Writes entries into the folder one after another; a later one replaces an earlier one."""

    def __init__(self, place: str, lower: Sequence[str]) -> None:
        self._top, self._lower = os.open(place, _DIRECTORY), lower
        self._bytes = 0
        self._gone: set[Parts] = set()
        self._opaque: set[Parts] = set()

    def close(self) -> None:
        os.close(self._top)

    def add(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Writes an entry. Raises LayerFault with its name."""
        shown = f"entry {member.name!r:.200}"
        parts = tuple(part for part in member.name.split("/") if part not in ("", "."))
        if ".." in parts or "\0" in member.name:
            raise LayerFault(f"{shown}: its name leaves the image")
        if any(part.startswith(_WHITEOUT) for part in parts[:-1]):
            raise LayerFault(f"{shown}: it lies below a mark of removal")
        try:
            if not parts:
                if not member.isdir():
                    raise LayerFault(f"{shown}: the root of an image is a folder")
                os.fchmod(self._top, _mode(member))
            elif parts[-1].startswith(_WHITEOUT):
                self._mark(parts, shown)
            elif parts[0] != "dev" or len(parts) == 1:
                self._write(archive, member, parts, shown)
        except OSError as error:
            raise LayerFault(f"{shown}: {os.strerror(error.errno or 0)}") from error

    def finish(self) -> bool:
        """Writes the whiteouts; returns whether the layer hides all below. Raises LayerFault, OSError."""
        absent = []
        # deepest first: folders made for some exist for others
        for parts in sorted(self._gone, key=lambda parts: (-len(parts), parts)):
            with self._folder(parts[:-1], f"entry {'/'.join(parts)!r:.200}") as fd:
                found = _status(fd, parts[-1])
            if found is None:
                absent.append(parts)
            elif stat.S_ISDIR(found.st_mode):
                self._opaque.add(parts)
        for parts in sorted(self._opaque - {()}):
            with self._folder(parts, f"entry {'/'.join(parts)!r:.200}") as fd:
                os.setxattr(fd, OPAQUE, b"y")
        for parts in absent:  # overlayfs would show a whiteout that hides nothing
            hidden = any(parts[:depth] in self._opaque for depth in range(len(parts)))
            if not hidden and self._below(parts) is not None:
                with self._folder(parts[:-1], "") as fd:
                    os.mknod(parts[-1], stat.S_IFCHR, os.makedev(0, 0), dir_fd=fd)
        return () in self._opaque

    def _mark(self, parts: Parts, shown: str) -> None:
        *above, last = parts
        name = last.removeprefix(_WHITEOUT)
        if last == _HIDE_ALL:
            self._opaque.add(tuple(above))
        elif name in ("", ".", ".."):
            raise LayerFault(f"{shown}: it would remove a folder above it")
        elif not name.startswith(_WHITEOUT):  # those are aufs's own metadata
            self._gone.add((*above, name))

    def _write(self, archive: tarfile.TarFile, member: tarfile.TarInfo, parts: Parts, shown: str) -> None:
        with self._folder(parts[:-1], shown) as fd:
            name, found = parts[-1], _status(fd, parts[-1])
            if member.isdir():
                if found is None or not stat.S_ISDIR(found.st_mode):
                    remove_entry(fd, name)
                    os.mkdir(name, 0o700, dir_fd=fd)
                os.chmod(name, _mode(member), dir_fd=fd)
            elif member.islnk():
                self._link(member, fd, name, shown)
            elif member.issym() or member.isreg() or member.isfifo():
                remove_entry(fd, name)
                if member.issym():
                    os.symlink(member.linkname, name, dir_fd=fd)
                elif member.isfifo():
                    os.mkfifo(name, dir_fd=fd)
                    os.chmod(name, _mode(member), dir_fd=fd)
                else:
                    self._bytes += member.size  # the full size, of which a sparse file stores less
                    if self._bytes > MOST_BYTES:
                        raise LayerFault(f"{shown}: more than {MOST_BYTES} bytes in all")
                    _copy(archive, member, fd, name)
            else:
                kind = "a device" if member.isdev() else f"of the unknown type {member.type!r}"
                raise LayerFault(f"{shown}: it is {kind}")

    def _link(self, member: tarfile.TarInfo, fd: int, name: str, shown: str) -> None:
        target = tuple(part for part in member.linkname.split("/") if part not in ("", "."))
        fault = LayerFault(f"{shown}: it links to {member.linkname!r:.200}, which this layer lacks")
        if ".." in target or not target:
            raise fault
        with self._folder(target[:-1], shown, make=False, fault=fault) as other:
            there = _status(other, target[-1])
            if there is None or stat.S_ISDIR(there.st_mode):
                raise fault
            mine = _status(fd, name)
            if mine is not None and os.path.samestat(there, mine):
                return
            remove_entry(fd, name)
            if _status(other, target[-1]) is None:  # it was in what has been removed
                raise fault
            os.link(target[-1], name, src_dir_fd=other, dst_dir_fd=fd, follow_symlinks=False)

    @contextmanager
    def _folder(
        self, parts: Parts, shown: str, *, make: bool = True, fault: LayerFault | None = None
    ) -> Iterator[int]:
        """A descriptor of a folder of the layer, made if missing. Raises `fault` for anything else."""
        fd = os.dup(self._top)
        try:
            for depth, part in enumerate(parts):
                found = _status(fd, part)
                if found is None and make:
                    os.mkdir(part, 0o700, dir_fd=fd)
                    os.chmod(part, self._mode_below(parts[: depth + 1]), dir_fd=fd)
                elif found is None or not stat.S_ISDIR(found.st_mode):
                    kind = "the link" if found is not None and stat.S_ISLNK(found.st_mode) else "the file"
                    raise fault or LayerFault(f"{shown}: it passes through {kind} {part!r:.100}")
                below = os.open(part, _DIRECTORY, dir_fd=fd)
                os.close(fd)
                fd = below
            yield fd
        finally:
            os.close(fd)

    def _mode_below(self, parts: Parts) -> int:
        """The mode of a folder in the layers below; that of a new one if they have none."""
        found = self._below(parts)
        return stat.S_IMODE(found.st_mode) if found is not None and stat.S_ISDIR(found.st_mode) else 0o755

    def _below(self, parts: Parts) -> os.stat_result | None:
        """The status of a path in the stacked layers below."""
        for layer in self._lower:
            path, last = layer, False
            for part in parts[:-1]:
                path = f"{path}/{part}"
                try:
                    found = os.lstat(path)
                except FileNotFoundError:
                    break
                if not stat.S_ISDIR(found.st_mode):
                    return None
                last = last or OPAQUE in os.listxattr(path, follow_symlinks=False)
            else:
                with suppress(FileNotFoundError):
                    found = os.lstat(f"{path}/{parts[-1]}")
                    return None if stat.S_ISCHR(found.st_mode) else found
            if last:
                break
        return None


def _mode(member: tarfile.TarInfo) -> int:
    runs = 0o100 if member.isdir() or member.mode & 0o111 else 0
    return member.mode & 0o1777 | 0o600 | runs


def _status(fd: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _copy(archive: tarfile.TarFile, member: tarfile.TarInfo, fd: int, name: str) -> None:
    content = archive.extractfile(member)
    assert content is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=fd), "wb", buffering=0) as file:
        shutil.copyfileobj(content, file, 1 << 20)
        os.fchmod(file.fileno(), _mode(member))
        changed = member.mtime if 0 <= member.mtime < 1 << 40 else 0
        os.utime(file.fileno(), (changed, changed))
