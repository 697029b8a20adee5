"""Packs the built-in data sets into one file of the package: `python -m tasksets.build` or `make tasksets`.

Every reference runs here, once; whoever loads the tasks runs nothing.
"""

import json
from collections.abc import Iterator, Sequence

import zstandard

from strop.tasks import builtin
from strop.tasks.splits import clusters
from strop_verify.core.task import Task
from tasksets import read_python, read_rust, read_rust_from_python


def lines() -> bytes:
    """The tasks of all sources, one a line, each with the cluster that decides its split."""
    python = read_python.load()
    rust = read_rust.load() + read_rust_from_python.load(python)
    return b"".join(line.encode() + b"\n" for tasks in (python, rust) for line in _packed(tasks))


def _packed(tasks: Sequence[Task]) -> Iterator[str]:
    smallest = {i: min(tasks[j].id for j in cluster) for cluster in clusters(tasks) for i in cluster}
    for i, task in enumerate(tasks):
        row = {**task.model_dump(mode="json", exclude={"split"}), "cluster": smallest[i]}
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Writes the file and says what it holds."""
    found = lines()
    builtin.FILE.write_bytes(zstandard.ZstdCompressor(level=19, write_checksum=True).compress(found))
    print(f"{builtin.FILE}: {len(found.splitlines())} tasks, {builtin.FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
