"""Packs the built-in data sets into one file of the package: `python -m tasksets.build` or `make tasksets`.

Every reference runs here, once; whoever loads the tasks runs nothing.
"""

import zstandard

from strop.tasks import assign_splits, builtin
from tasksets import read_python, read_rust, read_rust_from_python


def lines() -> bytes:
    """The tasks of all sources, one a line, with the split of the default held-out share."""
    python = read_python.load()
    rust = read_rust.load() + read_rust_from_python.load(python)
    tasks = assign_splits(python) + assign_splits(rust)
    return b"".join(task.model_dump_json().encode() + b"\n" for task in tasks)


def main() -> None:
    """Writes the file and says what it holds."""
    found = lines()
    builtin.FILE.write_bytes(zstandard.ZstdCompressor(level=19, write_checksum=True).compress(found))
    print(f"{builtin.FILE}: {len(found.splitlines())} tasks, {builtin.FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
