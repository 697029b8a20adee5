"""Packs the built-in data sets into two files of the package: `python -m tasksets.build` or `make tasksets`.

Every reference of `builtin.jsonl.zst` runs here, once; whoever loads the tasks runs nothing.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import zstandard

from strop.core.task import Task
from strop.tasks import GENERATORS, builtin
from strop.tasks.splits import clusters
from tasksets import read_python, read_rust, read_rust_from_python

_HERE = Path(__file__).parent
_GENERATORS = ("needs_feedback", "stdio_problems", "toy_repositories")


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


def modules() -> dict[str, bytes]:
    """The modules of the generators by their paths."""
    paths = (path for name in _GENERATORS for path in sorted((_HERE / name).rglob("*.py")))
    return {path.relative_to(_HERE).as_posix(): path.read_bytes() for path in paths}


def main() -> None:
    """Writes the files and says what they hold."""
    found = lines()
    builtin.FILE.write_bytes(zstandard.ZstdCompressor(level=19, write_checksum=True).compress(found))
    print(f"{builtin.FILE}: {len(found.splitlines())} tasks, {builtin.FILE.stat().st_size:,} bytes")
    with ZipFile(GENERATORS, "w", compresslevel=9) as archive:
        for path, source in modules().items():
            archive.writestr(ZipInfo(path), source, ZIP_DEFLATED)
    print(f"{GENERATORS}: {len(modules())} modules, {GENERATORS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
