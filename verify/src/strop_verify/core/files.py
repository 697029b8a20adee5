"""Files that are complete or absent: atomic writes, and JSON lines that survive a kill.

Every failed write is a UserError of one line that names the file and the cause.
"""

import errno
import glob
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import zstandard

from strop_verify.core.errors import UserError

_PART = ".part"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an OSError into a UserError that says which file could not be written and why."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error


def is_device(path: Path) -> bool:
    """Whether it exists and is not a regular file: a device, a pipe, or /dev/stdout."""
    link = path.is_symlink() and path.absolute().parts[1] in ("dev", "proc")
    return path.exists() and not path.is_dir() and (link or not path.is_file())


@contextmanager
def atomic(path: Path) -> Iterator[IO[bytes]]:
    """A file that gets its name only if the block succeeds, after an fsync; otherwise nothing is left.

    The folder must exist. Raises UserError for errors of the system; other errors of the block pass through. Anything
    but a regular file, such as /dev/null or a pipe, is written to, never replaced.
    """
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a folder")
    if is_device(path):
        with writing(path), path.open("wb") as device:
            yield device
        return
    part = path.with_name(f".{path.name}.{os.getpid()}{_PART}")
    try:
        with writing(path):
            file = part.open("wb")
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise UserError(f"cannot write {path}: {error.strerror}") from error
        with writing(path):
            part.replace(path)
            sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


class HashedFile:
    """A file that counts and hashes its lines."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._digest, self._lines = file, hashlib.sha256(), 0

    def write(self, line: bytes) -> None:
        """Writes one line, its newline added."""
        data = line + b"\n"
        self._file.write(data)
        self._digest.update(data)
        self._lines += 1

    def entry(self) -> dict[str, Any]:
        """Its entry in a manifest: number of lines and their SHA-256."""
        return {"lines": self._lines, "sha256": self._digest.hexdigest()}


def check_writable(path: Path) -> None:
    """Makes the folder of a file, before long work. Raises UserError when the file could not be written."""
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a folder")
    if path.parent.exists() and not path.parent.is_dir():
        raise UserError(f"cannot write {path}: {path.parent} is not a folder")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise UserError(f"cannot write {path}: no permission to write in {path.parent}")


def sync_folder(folder: Path) -> None:
    """Makes names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_to_readers(folder: Path) -> None:
    """Gives every file below a folder the mode of a new file; some libraries write for the owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(0o666 & ~mask)


def remove_parts(folder: Path, name: str = "*") -> None:
    """Removes leftovers of interrupted atomic writes in a folder, or only those of the file of that name."""
    for part in folder.glob(f".{name if name == '*' else glob.escape(name) + '.*'}{_PART}"):
        part.unlink(missing_ok=True)


def json_line(value: Any) -> bytes:
    """One line of strict JSON. Numbers that are not finite become null; numpy and torch scalars become numbers."""
    return _json_text(value, None)


def json_text(value: Any) -> bytes:
    """The same as `json_line`, but indented for people."""
    return _json_text(value, 2)


def write_json(path: Path, value: Any) -> None:
    """Writes one JSON document, whole or not at all."""
    with atomic(path) as file:
        file.write(json_text(value))


def write_jsonl_zst(path: Path, lines: Iterable[bytes]) -> None:
    """Writes lines, each ending in a newline, into one zstandard frame, whole or not at all."""
    with atomic(path) as file, zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False) as packed:
        for line in lines:
            packed.write(line)


def append_line(path: Path, line: bytes, *, durable: bool = True) -> None:
    """Appends one line, atomically for readers; on failure the file keeps its length.

    durable  whether the line is on the disk on return, whatever happens to the machine
    """
    with writing(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        length = os.fstat(handle).st_size
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(handle, rest) :]
            if durable:
                os.fsync(handle)
        except OSError:
            with suppress(OSError):  # readers skip a torn line
                os.ftruncate(handle, length)
            raise
        finally:
            os.close(handle)


def drop_torn_line(path: Path) -> None:
    """Drops a torn last line (no newline), so that the next append starts a new line."""
    with writing(path):
        if path.exists():
            data = path.read_bytes()
            os.truncate(path, data.rfind(b"\n") + 1)


def read_jsonl(path: Path) -> Iterator[Any]:
    """Values of a JSON-lines file, plain or `.zst`. A last line that was torn by a kill is left out.

    Raises UserError for a file that cannot be read and for a bad line that is not the last.
    """
    bad = ""
    for number, line in enumerate(lines(path), start=1):
        if bad:
            raise UserError(f"{path}:{number - 1}: bad JSON: {bad}")
        try:
            value = json.loads(line)
        except ValueError as error:
            bad = str(error)
            continue
        if line.endswith(b"\n"):
            yield value


def lines(path: Path) -> Iterator[bytes]:
    """Lines of a file, plain or `.zst`, undecoded, each with its newline unless the last one was torn.

    Raises UserError for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            if path.suffix != ".zst":
                yield from file
                return
            rest = b""
            reader = zstandard.ZstdDecompressor().stream_reader(file)
            while block := reader.read(1 << 20):
                *whole, rest = (rest + block).split(b"\n")
                yield from (line + b"\n" for line in whole)
            if rest:
                yield rest
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except (OSError, zstandard.ZstdError) as error:
        raise UserError(f"cannot read {path}: {error}") from error


def _json_text(value: Any, indent: int | None) -> bytes:
    text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    item: Callable[[], Any] | None = getattr(value, "item", None)
    if callable(item):
        value = item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def moved_base(adapters: Path) -> str:
    """The base model of an adapter folder whose run was moved; "" if it was not.

    Adapters name a folder of their run by its absolute path.
    """
    try:
        named = str(json.loads((adapters / "adapter_config.json").read_text())["base_model_name_or_path"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    if not Path(named).is_absolute() or Path(named).exists():
        return ""
    beside = (folder / Path(named).name for folder in adapters.resolve().parents)
    return next((str(folder) for folder in beside if (folder / "config.json").is_file()), "")
