"""Files that are written whole or not at all, compressed according to their name."""

import gzip
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from strop.core import files


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that takes its name when the block ends well; otherwise nothing is left behind.

    A name that ends in .gz or .zst is compressed. See `core.files.atomic` for the rest.
    """
    with files.atomic(path) as raw, _packed(raw, path.suffix) as file:
        yield file


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
