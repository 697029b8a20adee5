"""Imports, verifies and audits unmodified data sets by three commands each, and writes one table.

    python benchmarks/real_sets.py ../shared/data [--only mbpp quixbugs] [--limit 50] [--keep DIR]

For each `*.jsonl`: tasks, omitted rows, references that pass, names of those that fail, and the audit's findings by
code, fatal ones with an exclamation mark. `tests/tasks/test_real_sets.py` gives the reasons for failing references.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

NAMES = 8
"""Names of failing references that a row lists."""


def strop(*words: str) -> str:
    """A command's output. Exit code 1 means that tasks are unfit; any other failure ends the run."""
    done = subprocess.run(
        [sys.executable, "-m", "strop.cli", *words], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        sys.exit(f"strop {' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout + done.stderr


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class Measured(NamedTuple):
    """The commands' results for one set."""

    name: str
    tasks: int
    left_out: int
    references: int
    failed: list[str]
    fit: int
    findings: Counter[str]
    trust: Counter[str]

    def line(self) -> str:
        """A row of the table."""
        more = f" and {len(self.failed) - NAMES} more" if len(self.failed) > NAMES else ""
        passed = f"{self.references - len(self.failed)} of {self.references}"
        findings, trust = (
            ", ".join(f"{key} {n}" for key, n in sorted(c.items())) for c in (self.findings, self.trust)
        )
        names = ", ".join(self.failed[:NAMES]) + more
        cells = (self.name, self.tasks, self.left_out, passed, names, self.fit, findings, trust)
        return "| " + " | ".join(map(str, cells)) + " |"


def measured(data: Path, folder: Path, limit: int | None = None) -> Measured:
    """Runs the commands; their files go into the folder."""
    tasks, answers, verdicts, audits = (
        folder / f"{data.stem}.{part}.jsonl" for part in ("tasks", "answers", "verdicts", "audits")
    )
    some = ["--limit", str(limit)] if limit else []
    said = strop("tasks", "import", str(data), "-o", str(tasks), *some)
    left_out = re.search(r"(\d+) rows left out", said)
    given = [row for row in lines(tasks) if row.get("reference", "").strip()]
    with answers.open("w") as file:
        for row in given:
            file.write(json.dumps({"task_id": row["id"], "answer": row["reference"]}) + "\n")
    strop("verify", str(tasks), str(answers), "-o", str(verdicts))
    strop("audit", str(tasks), "-o", str(audits))
    found = lines(audits)
    codes = ({f["code"] + "!" * (f["severity"] == "fatal") for f in row["findings"]} for row in found)
    return Measured(
        name=data.stem,
        tasks=len(found),
        left_out=int(left_out[1]) if left_out else 0,
        references=len(given),
        failed=[row["task_id"] for row in lines(verdicts) if row["outcome"] != "passed"],
        fit=sum(row["ok"] for row in found),
        findings=Counter(code for some_codes in codes for code in some_codes),
        trust=Counter(row["trust"] for row in found if "trust" in row),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--limit", type=int)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    print("| set | tasks | left out | references pass | do not | fit | findings | trust |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for data in sorted(args.data.glob("*.jsonl")):
            if not args.only or data.stem in args.only:
                print(measured(data, folder, args.limit).line(), flush=True)


if __name__ == "__main__":
    main()
