"""The work directory as a keeper handles it: with hostile leftovers in it, and never following a link out of it."""

import contextlib
import os
import stat

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def put(top: str, name: str, data: bytes, owner: int) -> None:
    """Writes the file `name` (relative, no "..") below `top`, for user `owner` (0 = nobody else).

    Anything in its way is removed. Raises OSError.
    """
    parts = name.split("/")
    fd = _opened(top)
    try:
        for part in parts[:-1]:
            fd = _step(fd, part, owner)
        _remove(fd, parts[-1])
        file = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=fd)
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
            if owner:
                os.fchown(stream.fileno(), owner, owner)
    finally:
        os.close(fd)


def open_regular(top: str, name: str) -> int:
    """A descriptor for reading the regular file `name` below `top`. Raises FileNotFoundError, ValueError."""
    parts = name.split("/")
    fd = _opened(top)
    try:
        for part in parts[:-1]:
            below = os.open(part, _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        file = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"{name} is no regular file: {os.strerror(error.errno or 0)}") from None
    finally:
        os.close(fd)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise ValueError(f"{name} is no regular file")
    return file


def clear(top: str) -> None:
    """Empties a directory of any depth; directories are taken apart from above, so that no path grows long."""
    fd = _opened(top)
    try:
        number = 0
        while names := os.listdir(fd):
            for name in names:
                number = _remove(fd, name, number)
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
        _remove(fd, part)
        os.mkdir(part, 0o755, dir_fd=fd)
        below = os.open(part, _DIRECTORY, dir_fd=fd)
        if owner:
            os.fchown(below, owner, owner)
    os.close(fd)
    return below


def _remove(fd: int, name: str, number: int = 0) -> int:
    """Removes an entry; what is in a directory moves up beside it, under numbers from `number` on; returns the next."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=fd)
            return number
        os.chmod(name, 0o700, dir_fd=fd)
        below = os.open(name, _DIRECTORY, dir_fd=fd)
        try:
            for inner in os.listdir(below):
                while _exists(fd, moved := f"{number}.old"):
                    number += 1
                if stat.S_ISDIR(os.stat(inner, dir_fd=below, follow_symlinks=False).st_mode):
                    os.chmod(inner, 0o700, dir_fd=below)  # a folder moves only if it may be changed
                os.rename(inner, moved, src_dir_fd=below, dst_dir_fd=fd)
        finally:
            os.close(below)
        os.rmdir(name, dir_fd=fd)
    return number


def _exists(fd: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
