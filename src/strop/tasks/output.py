"""Files that appear whole or not at all, compressed as their name says."""

import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from strop.core.errors import UserError


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that takes its name when the block ends well; otherwise nothing is left behind.

    A name that ends in .gz or .zst is compressed. What is no regular file, such as /dev/null or a pipe, is written to,
    never replaced. Raises UserError when the file cannot be written.
    """
    temporary: str | None = None
    try:
        if path.is_dir():
            raise UserError(f"cannot write {path}: it is a folder")
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield device
            return
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as raw:
            with _packed(raw, path.suffix) as file:
                yield file
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def _packed(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    with ExitStack() as stack:
        packed: Any = raw
        if suffix == ".gz":
            packed = stack.enter_context(gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0))
        elif suffix == ".zst":
            writer = zstandard.ZstdCompressor(level=6, write_checksum=True).stream_writer(raw, closefd=False)
            packed = stack.enter_context(writer)
        yield cast(IO[bytes], packed)
