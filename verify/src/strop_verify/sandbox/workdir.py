"""The box supervisor's access to the work directory: its contents are hostile, and no link is followed out of it."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Any

ENTRIES = 16384
"""Maximum files and folders to list; also the inodes of a work directory with a size."""
DEPTH = 64
"""Maximum depth of folders to list."""
_PAGE = 4096
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def put(top: str, name: str, data: bytes, owner: int, *, executable: bool = False) -> None:
    """Writes the file `name` (relative, no "..") below `top`, for user `owner` (0 = this one).

    Anything in its way is removed. Raises OSError; a partly written file is removed then.
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
    """Makes the missing folder `name` below `top` and its parents; anything in its way is removed."""
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
        raise ValueError(f"{name} is not a regular file")
    return file


def remove(top: str, name: str) -> None:
    """Removes the file, link or whole folder `name` below `top`. Raises FileNotFoundError, ValueError."""
    with _parent(top, name) as (fd, last):
        os.stat(last, dir_fd=fd, follow_symlinks=False)
        remove_entry(fd, last)


def clear(top: str) -> None:
    """Empties a directory of any depth, see `remove_entry`."""
    fd = _opened(top)
    try:
        for name in os.listdir(fd):
            remove_entry(fd, name)
    finally:
        os.close(fd)


def renew(top: str, owner: int) -> None:
    """Replaces a directory of any depth with an empty one of user `owner` (0 = this one).

    A mount point stays: its mode and extended attributes are reset.
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
    """What is below `top`, or its folder `under`: {"files": {path from there: [bytes, executable]}, "bytes": space that
    all entries take}.

    Lists regular files only; follows no link. Makes locked folders accessible to their owner. Raises ValueError for
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
    """(path, status) of every entry below the directory; closes its descriptor."""
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
    """A descriptor of the folder that contains the file `name`, and the file's name in it.

    Raises FileNotFoundError; ValueError for any other failure with these names, also in the body.
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
        raise ValueError(f"{name} is not a file of this folder: {os.strerror(error.errno or 0)}") from None
    finally:
        os.close(fd)


def _opened(top: str) -> int:
    """A descriptor of the directory, unlocked first if necessary."""
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
    """Removes an entry of the directory, if it exists. Folders in it are first moved up beside it, so that no path
    grows long; an image's folders, which cannot be moved, are removed in place.
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
