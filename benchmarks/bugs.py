"""Makes bugs in Python projects with `strop build bugs` and judges every task again several times.

    python benchmarks/bugs.py toolz-1.0.0.tar.gz tabulate-0.8.10.tar.gz [--count 300] [--rounds 3] [--json FILE]

For each project: wall seconds of the build, tasks, functions. Then each round, with a fresh verifier, counts the oracle
edits that pass and the answers with the bug still in place (they add a comment) that fail. Verdicts and outcomes of
tests must be the same in all rounds; otherwise the run ends with status 1.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from strop.tasks.sources import load_tasks
from strop_verify.core.checks import EditCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.edits import FORMATS
from strop_verify.verification import open_verifier

COMMENT = "\n# unchanged\n"


def unrepaired(task: Task) -> str:
    """An answer in the task's format that changes no statement."""
    check = task.check
    assert isinstance(check, EditCheck)
    (path,) = check.oracle
    return FORMATS[check.format].render(check.files, {path: check.files[path] + COMMENT})


def judged(tasks: list[Task]) -> tuple[list[Verdict], list[Verdict]]:
    """Verdicts on the oracle edits and on the answers that repair nothing."""
    with open_verifier() as verifier:
        oracles = [verifier.submit(task, task.reference or "") for task in tasks]
        others = [verifier.submit(task, unrepaired(task)) for task in tasks]
        return [future.result() for future in oracles], [future.result() for future in others]


def measured(archive: Path, folder: Path, count: int, rounds: int) -> dict[str, Any]:
    """Builds the tasks of one project and judges them `rounds` times."""
    output = folder / f"{archive.name}.jsonl"
    command = [sys.executable, "-m", "strop.cli", "build", "bugs", str(archive), "-o", str(output)]
    started = time.monotonic()
    subprocess.run([*command, "--count", str(count)], check=True)
    seconds = time.monotonic() - started
    tasks = load_tasks(str(output))
    seen, passed, failed = set(), [], []
    for _ in range(rounds):
        oracles, others = judged(tasks)
        passed.append(sum(verdict.passed for verdict in oracles))
        failed.append(sum(verdict.outcome is Outcome.FAILED for verdict in others))
        seen.add(json.dumps([[(t.id, t.outcome) for t in v.tests] for v in oracles + others]))
    functions = {(path, task.statement.split("`")[1]) for task in tasks for path in _files(task)}
    return {"project": archive.name, "seconds": round(seconds), "tasks": len(tasks), "functions": len(functions),
            "oracles_passed": passed, "unrepaired_failed": failed, "same": len(seen) == 1}  # fmt: skip


def _files(task: Task) -> list[str]:
    assert isinstance(task.check, EditCheck)
    return list(task.check.oracle)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("archives", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for archive in args.archives:
            rows.append(measured(archive, Path(folder), args.count, args.rounds))
            print(json.dumps(rows[-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    if not all(
        row["same"] and {*row["oracles_passed"], *row["unrepaired_failed"]} == {row["tasks"]} for row in rows
    ):
        raise SystemExit("some verdicts are wrong or differ between rounds")


if __name__ == "__main__":
    main()
