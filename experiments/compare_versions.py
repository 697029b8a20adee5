"""Do two versions of Strop give the same tasks, splits and verdicts? For changes that should change nothing.

    python experiments/compare_versions.py write OLD --strop .../bin/strop --data ../shared/data --project P.tar.gz
    python experiments/compare_versions.py write NEW --strop .../bin/strop --data ../shared/data --project P.tar.gz
    python experiments/compare_versions.py compare OLD NEW

`write` uses the command line alone, so that it runs on any version. For each set it keeps the task lines (ids and
splits in them), and the verdicts of three answers a task: its reference, the reference without its last third, and
nothing. Then the files of `strop build bugs`, `strop curate` and `strop audit`. Seconds and bytes of memory are left
out of the comparison, and so is the time in a manifest; everything else is compared byte by byte.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BUILT_IN = ("python-functions", "rust-functions", "humaneval", "stdio-problems:200")
MEASURED = {
    "seconds",
    "cpu_seconds",
    "peak_bytes",
    "created",
    "finished",
    "started",
    "version",
    "revision",
    "memory_mb",
}
"""Keys of JSON whose values are measured, not decided."""
KEPT = (".jsonl", ".json", ".txt", ".exit")
"""Endings of the files that are compared."""
IN_TEXT = re.compile(r"0x[0-9a-fA-F]{6,}|\b\d+(?:\.\d+)? ?m?s\b|/tmp/[^\s\"':]+")
"""Addresses, durations and temporary paths in what programs print."""


def plain(value: Any) -> Any:
    """A JSON value without what is measured."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in MEASURED}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return IN_TEXT.sub("#", value) if isinstance(value, str) else value


def answers_of(line: str) -> list[str]:
    """Answers to a task line: what should pass, what should not, nothing."""
    task = json.loads(line)
    whole = task.get("reference") or task["check"].get("expected") or ""
    kept = whole.splitlines()
    return [whole, "\n".join(kept[: max(1, 2 * len(kept) // 3)]), ""]


class Writer:
    """Runs one version's command line and keeps what it writes in a folder."""

    def __init__(self, strop: str, folder: Path) -> None:
        self.strop = strop
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, name: str, *arguments: str) -> None:
        """Runs `strop ARGUMENTS`; its exit code is kept too."""
        begun = time.monotonic()
        done = subprocess.run([self.strop, *arguments], capture_output=True, text=True, check=False)
        self.path(f"{name}.exit").write_text(f"{done.returncode}\n")
        note = done.stderr.strip().splitlines()[-1:] if done.returncode not in (0, 1) else []
        print(f"{name}: {time.monotonic() - begun:.0f} s, exit {done.returncode}", *note, flush=True)

    def path(self, name: str) -> Path:
        """A file of the folder."""
        return self.folder / name

    def tasks(self, name: str, source: str, every: int) -> None:
        """The task lines of a source, and verdicts on every `every`-th."""
        tasks = self.path(f"{name}.tasks.jsonl")
        if self.path(f"{name}.verdicts.exit").exists():
            return
        self.run(f"{name}.import", "tasks", "import", source, "-o", str(tasks))
        if not tasks.exists():
            return
        with self.path(f"{name}.answers").open("w") as file:
            for line in tasks.read_text().splitlines()[::every]:
                for answer in answers_of(line):
                    file.write(json.dumps({"task_id": json.loads(line)["id"], "answer": answer}) + "\n")
        verdicts = str(self.path(f"{name}.verdicts.jsonl"))
        self.run(f"{name}.verdicts", "verify", str(tasks), str(self.path(f"{name}.answers")), "-o", verdicts)

    def splits(self, name: str) -> None:
        """The split of each task of a built-in set, as `strop tasks list` prints it."""
        done = subprocess.run(
            [self.strop, "tasks", "list", name], capture_output=True, text=True, check=False
        )
        self.path(f"{name}.list.txt").write_text(done.stdout)


def write(options: argparse.Namespace) -> None:
    """Everything of one version."""
    writer = Writer(options.strop, options.folder)
    for name in BUILT_IN:
        writer.tasks(name.replace(":", "-"), name, options.every)
        writer.splits(name.partition(":")[0] if ":" not in name else name)
    for file in sorted(options.data.glob("*.jsonl")) if options.data else []:
        writer.tasks(file.stem, str(file), options.every)
    if options.project:
        writer.run("bugs", "build", "bugs", str(options.project), "-o", str(writer.path("bugs.jsonl")))
        writer.tasks("bugs-again", str(writer.path("bugs.jsonl")), options.every)
    writer.run("curate", "curate", "small", "-o", str(writer.path("curated")))
    writer.run("audit", "audit", "humaneval", "-o", str(writer.path("audit.jsonl")), "--limit", "80")


def lines_of(path: Path) -> list[Any]:
    """What of a file is compared."""
    if path.suffix == ".json":
        return [plain(json.loads(path.read_text()))]
    if path.suffix == ".jsonl":
        return [plain(json.loads(line)) for line in path.read_text().splitlines()]
    return [IN_TEXT.sub("#", line) for line in path.read_text().splitlines()]


def compare(old: Path, new: Path, show: int) -> int:
    """Prints what differs; the number of lines that do."""
    found = {p.relative_to(f) for f in (old, new) for p in f.rglob("*") if p.suffix in KEPT}
    total = compared = 0
    for file in sorted(found):
        if not (old / file).exists() or not (new / file).exists():
            print(f"{file}: only in {old if (old / file).exists() else new}")
            total += 1
            continue
        a, b = lines_of(old / file), lines_of(new / file)
        different = [i for i, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]]
        compared += len(a)
        total += len(different) + abs(len(a) - len(b))
        if different or len(a) != len(b):
            print(f"{file}: {len(a)} and {len(b)} lines, {len(different)} differ")
            for i in different[:show]:
                print(f"  {i}: {json.dumps(a[i])[:600]}\n  {i}: {json.dumps(b[i])[:600]}")
    print(f"{len(found)} files, {compared} lines compared, {total} differ")
    return total


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    writing = commands.add_parser("write")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--strop", required=True)
    writing.add_argument("--data", type=Path)
    writing.add_argument("--project", type=Path)
    writing.add_argument("--every", type=int, default=1)
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--show", type=int, default=2)
    options = parser.parse_args()
    if options.command == "write":
        write(options)
        return 0
    return 1 if compare(options.old, options.new, options.show) else 0


if __name__ == "__main__":
    sys.exit(main())
