"""Reads rows of a parquet file, or of every parquet file in a folder, and writes rows as one file.

Column values are more restricted than JSON: an object must have the same fields in every row, none is empty, and
missing fields become null. Format readers therefore treat null as missing.
"""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from strop.tasks import jsonl
from strop.tasks.jsonl import whole_file
from strop.tasks.lines import Report, fail
from strop.tasks.row_limits import MAX_ROW, plain_row, size
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require

BATCH = 256
"""Maximum rows to unpack at once."""
_GROUP_ROWS, _GROUP_BYTES = 4096, 32 << 20
"""Maximum rows of a row group, and maximum bytes of JSON on average."""
_RATIO = 500
"""A column that compresses better than this, and unpacks to more than `MAX_ROW`, counts as a bomb."""


def read_rows(path: Path, report: Report = fail) -> Iterator[tuple[str, dict[str, Any]]]:
    """(`file:row`, row), counted from 1, without columns that are null or NaN; unpacks few large values at a time.

    Damage is reported after the rows before it; without `report` it raises UserError, like a missing file.
    """
    require("pyarrow.parquet", package="pyarrow", extra="data", purpose=f"reading {path}")
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise UserError(f"no such parquet file: {path}")
    for file in files:
        try:
            yield from _rows(file, report)
        except (OSError, ValueError, MemoryError, RuntimeError) as error:  # pyarrow's own derive from these
            cause = " ".join(str(error).split())[:300]
            report(f"cannot read {file} as parquet: {cause}")


def write_rows(rows: Iterable[dict[str, Any]], path: Path | str) -> int:
    """Writes rows as one parquet file, all or nothing, and returns how many.

    Each column has a type that fits all rows, which wait in a temporary file until it is known. Raises UserError for a
    column with different kinds of values, and if the file cannot be written.
    """
    purpose = f"writing {path}"
    arrow = require("pyarrow", package="pyarrow", extra="data", purpose=purpose)
    parquet = require("pyarrow.parquet", package="pyarrow", extra="data", purpose=purpose)
    schema = None
    with tempfile.TemporaryDirectory(prefix="strop-") as folder, whole_file(Path(path)) as out:
        spool = Path(folder) / "rows.jsonl"
        count = jsonl.write_rows(rows, spool)
        group = max(1, min(_GROUP_ROWS, _GROUP_BYTES * count // max(spool.stat().st_size, 1)))
        for batch in _batches(spool, group):
            schema = _joined(arrow, schema, batch, path)
        if schema is None:
            raise UserError(f"cannot write {path}: there is no row to write")
        schema = arrow.schema([field.with_type(_storable(arrow, field.type)) for field in schema])
        with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
            for batch in _batches(spool, group):
                writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
    return count


def _rows(file: Path, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    from pyarrow import parquet

    with parquet.ParquetFile(file, memory_map=True) as source:
        number = 0
        for group in range(source.metadata.num_row_groups):
            about = source.metadata.row_group(group)
            last = number + about.num_rows
            fault, batch_size = _plan(about)
            if fault:
                report(f"{file}:{number + 1}: rows {number + 1} to {last}: {fault}")
            else:
                for batch in source.iter_batches(batch_size, row_groups=[group], use_threads=False):
                    yield from _unpacked(batch, file, number, report)
                    number += batch.num_rows
            number = last


def _plan(group: Any) -> tuple[str, int]:
    """("", rows to unpack at once) for a row group, or why it is left out."""
    largest = 0
    for i in range(group.num_columns):
        column = group.column(i)
        unpacked, packed = column.total_uncompressed_size, max(column.total_compressed_size, 1)
        # Repeated values are stored once, so a row may hold more than its share of the column, but never more than all.
        largest = max(largest, unpacked)
        if unpacked > MAX_ROW and unpacked > _RATIO * packed:
            return f"column {column.path_in_schema!r} unpacks to {size(unpacked)}: left out", 0
    return "", max(1, min(BATCH, MAX_ROW // max(largest, 1)))


def _unpacked(batch: Any, file: Path, before: int, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    for i in range(batch.num_rows):
        where = f"{file}:{before + i + 1}"
        try:
            (row,) = batch.slice(i, 1).to_pylist()
            yield where, plain_row(row, where)
        except UnicodeDecodeError as error:
            report(f"{where}: not UTF-8: {error.reason} at byte {error.start}")
        except UserError as error:
            report(str(error))


def _batches(spool: Path, size: int) -> Iterator[list[dict[str, Any]]]:
    rows = (row for _, row in jsonl.read_rows(spool))
    while batch := list(islice(rows, size)):
        yield batch


def _joined(arrow: Any, schema: Any, batch: list[dict[str, Any]], path: Path | str) -> Any:
    """The schema merged with that of a batch. Raises UserError if no type holds all values of a column."""
    names = dict.fromkeys(name for row in batch for name in row)
    try:
        fields = [arrow.field(name, arrow.array([r.get(name) for r in batch]).type) for name in names]
        found = arrow.schema(fields)
        return found if schema is None else arrow.unify_schemas([schema, found], promote_options="permissive")
    except (ValueError, TypeError, OverflowError) as error:  # pyarrow's own derive from these
        cause = " ".join(str(error).split())[:200]
        raise UserError(
            f"cannot write {path} as parquet: a column's values are of different kinds ({cause}); "
            "write a file that ends in .jsonl"
        ) from error


def _storable(arrow: Any, kind: Any) -> Any:
    """The type with null in place of empty objects, which parquet cannot hold."""
    if arrow.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        inner = [f.with_type(_storable(arrow, f.type)) for f in fields]
        return arrow.struct(inner) if inner else arrow.null()
    if arrow.types.is_list(kind):
        return arrow.list_(_storable(arrow, kind.value_type))
    return kind
