"""Imports, audits and verifies data sets by three commands each, as they come, and writes one table.

    python benchmarks/real_sets.py ../shared/data [--only mbpp quixbugs] [--limit 50] [--keep DIR]

For each `*.jsonl`: tasks, rows left out, references that pass, those that do not by name, and the findings of the audit by
code, the fatal ones with an exclamation mark. `tests/tasks/test_real_sets.py` says of each name why it does not pass.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

NAMES = 8
"""Names of failing references that a row lists."""


def strop(*words: str) -> str:
    """What a command prints. Exit code 1 says that tasks are unfit; any other failure ends the run."""
    done = subprocess.run(
        [sys.executable, "-m", "strop.cli", *words], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        sys.exit(f"strop {' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout + done.stderr


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def measured(data: Path, folder: Path, limit: int | None) -> str:
    """One row of the table."""
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
    failed = [row["task_id"] for row in lines(verdicts) if row["outcome"] != "passed"]
    found = lines(audits)
    codes = Counter(
        (f["severity"] != "fatal", f["code"])
        for row in found
        for f in {(f["severity"], f["code"]): f for f in row["findings"]}.values()
    )
    findings = ", ".join(f"{code}{'' if mild else '!'} {n}" for (mild, code), n in sorted(codes.items()))
    names = ", ".join(failed[:NAMES]) + (f" and {len(failed) - NAMES} more" if len(failed) > NAMES else "")
    trust = Counter(row["trust"] for row in found if "trust" in row)
    cells = (
        data.stem, len(found), left_out[1] if left_out else "?", f"{len(given) - len(failed)} of {len(given)}", names,
        sum(row["ok"] for row in found), findings, ", ".join(f"{name} {n}" for name, n in trust.most_common()),
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


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
                print(measured(data, folder, args.limit), flush=True)


if __name__ == "__main__":
    main()
