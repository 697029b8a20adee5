"""Rows of a parquet file, or of every parquet file in a folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strop.core.errors import UserError
from strop.tasks.optional import require


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (`file:row`, row), row counted from 1. Raises UserError for a missing or broken file."""
    parquet = require("pyarrow.parquet", package="pyarrow", extra="data", purpose=f"reading {path}")
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise UserError(f"no such parquet file: {path}")
    for file in files:
        number = 0
        try:
            with parquet.ParquetFile(file) as source:
                for batch in source.iter_batches(batch_size=256):
                    for row in batch.to_pylist():
                        number += 1
                        yield f"{file}:{number}", {k: v for k, v in row.items() if v is not None}
        except (OSError, ValueError) as error:  # pyarrow's own errors derive from ValueError
            raise UserError(f"cannot read {file} as parquet: {error}") from error
