"""The work directory as the box supervisor handles it: with hostile leftovers in it, no link followed out of it."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Any

ENTRIES = 16384
"""Most files and folders that are listed; also the inodes of a work directory with a size."""
DEPTH = 64
"""Most folders inside each other that are listed."""
_PAGE = 4096
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def put(top: str, name: str, data: bytes, owner: int, *, executable: bool = False) -> None:
    """Writes the file `name` (relative, no "..") below `top`, for user `owner` (0 = nobody else).

    Anything in its way is removed. Raises OSError; a file that was not written whole is gone then.
    """
    parts = name.split("/")
    fd = _opened(top)
    try:
        for part in parts[:-1]:
            fd = _step(fd, part, owner)
        remove_entry(fd, parts[-1])
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        file = os.open(parts[-1], flags, 0o755 if executable else 0o644, dir_fd=fd)
        try:
            with os.fdopen(file, "wb", buffering=0) as stream:
                while data:
                    data = data[stream.write(data) :]
                if owner:
                    os.fchown(stream.fileno(), owner, owner)
        except OSError:
            os.unlink(parts[-1], dir_fd=fd)
            raise
    finally:
        os.close(fd)


def make_folder(top: str, name: str, owner: int) -> None:
    """Makes the folder `name` below `top`, and those above it, where they are missing; what is in its way goes."""
    fd = _opened(top)
    try:
        for part in filter(None, name.split("/")):
            fd = _step(fd, part, owner)
    finally:
        os.close(fd)


def open_regular(top: str, name: str) -> int:
    """A descriptor for reading the regular file `name` below `top`. Raises FileNotFoundError, ValueError."""
    with _parent(top, name) as (fd, last):
        file = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise ValueError(f"{name} is no regular file")
    return file


def remove(top: str, name: str) -> None:
    """Removes the file, link or whole folder `name` below `top`. Raises FileNotFoundError, ValueError."""
    with _parent(top, name) as (fd, last):
        os.stat(last, dir_fd=fd, follow_symlinks=False)
        remove_entry(fd, last)


def clear(top: str) -> None:
    """Empties a directory of any depth."""
    fd = _opened(top)
    try:
        for name in os.listdir(fd):
            remove_entry(fd, name)
    finally:
        os.close(fd)


def renew(top: str, owner: int) -> None:
    """Puts an empty directory of user `owner` (0 = this one) in the place of a directory of any depth.

    A mount point stays what it is: mode and extended attributes are set back.
    """
    clear(top)
    try:
        os.rmdir(top)
        os.mkdir(top, stat.S_IRWXU)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        os.chmod(top, stat.S_IRWXU)
        for name in os.listxattr(top):
            os.removexattr(top, name)
    if owner:
        os.chown(top, owner, owner)


def listing(top: str, under: str = "") -> dict[str, Any]:
    """What is below `top`, or its folder `under`: {"files": {path from there: [bytes, executable]}, "bytes": of all
    entries as they are stored}.

    Regular files only; no link is followed. Folders that are locked are opened to their owner. Raises ValueError for
    more than `ENTRIES` entries, or folders deeper than `DEPTH`.
    """
    files: dict[str, tuple[int, bool]] = {}
    stored = 0
    if under:
        with _parent(top, under) as (above, last):
            fd = os.open(last, _DIRECTORY, dir_fd=above)
    else:
        fd = _opened(top)
    for number, (name, status) in enumerate(_walk(fd, "", DEPTH)):
        if number == ENTRIES:
            raise ValueError(f"it holds more than {ENTRIES} files and folders")
        stored += max(_PAGE, status.st_blocks * 512)
        if stat.S_ISREG(status.st_mode):
            files[name] = status.st_size, bool(status.st_mode & stat.S_IXUSR)
    return {"files": files, "bytes": stored}


def _walk(fd: int, prefix: str, depth: int) -> Iterator[tuple[str, os.stat_result]]:
    """Every entry below the directory, which it closes: its path, its status."""
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                yield prefix + entry.name, status
                if stat.S_ISDIR(status.st_mode):
                    if not depth:
                        raise ValueError(f"it holds more than {DEPTH} folders inside each other")
                    if status.st_mode & stat.S_IRWXU != stat.S_IRWXU:
                        os.chmod(entry.name, stat.S_IRWXU, dir_fd=fd)
                    below = os.open(entry.name, _DIRECTORY, dir_fd=fd)
                    yield from _walk(below, f"{prefix}{entry.name}/", depth - 1)
    finally:
        os.close(fd)


@contextlib.contextmanager
def _parent(top: str, name: str) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder of the file `name`, and the file's name in it.

    Raises FileNotFoundError; ValueError for any other failure of these names, also in the body.
    """
    parts = name.split("/")
    fd = _opened(top)
    try:
        for part in parts[:-1]:
            below = os.open(part, _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd, parts[-1]
    except FileNotFoundError as error:
        error.filename = name
        raise
    except OSError as error:
        raise ValueError(f"{name} is no file of this folder: {os.strerror(error.errno or 0)}") from None
    finally:
        os.close(fd)


def _opened(top: str) -> int:
    """A descriptor of the directory, which its owner may have locked."""
    if os.stat(top).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(top, stat.S_IRWXU)
    return os.open(top, _DIRECTORY)


def _step(fd: int, part: str, owner: int) -> int:
    try:
        below = os.open(part, _DIRECTORY, dir_fd=fd)
    except OSError:
        remove_entry(fd, part)
        os.mkdir(part, 0o755, dir_fd=fd)
        below = os.open(part, _DIRECTORY, dir_fd=fd)
        if owner:
            os.fchown(below, owner, owner)
    os.close(fd)
    return below


def remove_entry(fd: int, name: str) -> None:
    """Removes an entry of the directory, if it is there. Folders inside it move up beside it before it goes, so that no
    path grows long; those of an image, which do not move, go in their place.
    """
    doomed, number = [name], 0
    while doomed:
        name = doomed.pop()
        with contextlib.suppress(FileNotFoundError):
            if not _is_folder(fd, name):
                os.unlink(name, dir_fd=fd)
                continue
            os.chmod(name, stat.S_IRWXU, dir_fd=fd)
            below = os.open(name, _DIRECTORY, dir_fd=fd)
            try:
                for inner in os.listdir(below):
                    if not _is_folder(below, inner):
                        os.unlink(inner, dir_fd=below)
                        continue
                    os.chmod(inner, stat.S_IRWXU, dir_fd=below)  # a folder moves only if it may be changed
                    while _exists(fd, moved := f"{number}.old"):
                        number += 1
                    try:
                        os.rename(inner, moved, src_dir_fd=below, dst_dir_fd=fd)
                    except OSError as error:
                        if error.errno != errno.EXDEV:
                            raise
                        remove_entry(below, inner)
                        continue
                    doomed.append(moved)
            finally:
                os.close(below)
            os.rmdir(name, dir_fd=fd)


def _is_folder(fd: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)


def _exists(fd: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
