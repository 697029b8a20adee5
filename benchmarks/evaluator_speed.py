"""Speed of `evalplus.evaluate` with its own judge and with Strop's, in answers per second on the same samples.

    python benchmarks/evaluator_speed.py PYTHON FILE.jsonl ... [--mutants 1] [--parallel 2] [--json FILE]

PYTHON is the interpreter of an environment with evalplus and what Strop imports; the files are releases of EvalPlus.
The answers are references and mutants of them. A first, untimed run computes EvalPlus' results for the references. A
`fail` of either judge may be a time-out. Both use the same number of processes (`--parallel`).
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agreement import mutants

ROOT = Path(__file__).parents[1]
JUDGES = {"EvalPlus": "evalplus.evaluate", "Strop": "strop.neighbours.evalplus"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--mutants", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    print(
        "| set | answers | EvalPlus, answers a second | Strop | ratio | same verdict |\n|---|---|---|---|---|---|"
    )
    found = []
    for path in given.files:
        one = measured(given.python, path.resolve(), given.mutants, given.parallel)
        found.append(one)
        rates = [one["answers"] / one["seconds"][judge] for judge in JUDGES]
        cells = [one["set"], one["answers"], *(f"{rate:.1f}" for rate in rates)]
        print("|", " | ".join(map(str, [*cells, f"{rates[1] / rates[0]:.2f}", one["same"]])), "|", flush=True)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


def measured(python: Path, release: Path, limit: int, parallel: int) -> dict[str, Any]:
    """Seconds of both commands over all answers to a release's tasks."""
    rows = [json.loads(line) for line in release.read_text().splitlines()]
    dataset = rows[0]["task_id"].partition("/")[0].lower()
    references = [(row["task_id"], row["prompt"] + row["canonical_solution"]) for row in rows]
    wrong = [(name, code) for name, whole in references for code in mutants(whole, name, limit)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = {
            **os.environ,
            f"{dataset.upper()}_OVERRIDE_PATH": str(release),
            "HOME": name,
            "PYTHONPATH": os.pathsep.join(str(ROOT / part / "src") for part in ("", "verify", "tasks")),
        }

        def judged(judge: str, what: str, answers: Sequence[tuple[str, str]]) -> tuple[float, list[Any]]:
            samples, results = folder / f"{judge}-{what}.jsonl", folder / f"{judge}-{what}_eval_results.json"
            lines = [json.dumps({"task_id": task, "solution": code}) for task, code in answers]
            samples.write_text("\n".join(lines) + "\n")
            words = ["--dataset", dataset, "--samples", str(samples), "--parallel", str(parallel)]
            began = time.perf_counter()
            subprocess.run(
                [str(python), "-m", JUDGES[judge], *words],
                env=env,
                cwd=name,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            took = time.perf_counter() - began
            said = json.loads(results.read_text())["eval"]
            return took, [
                (task, one["solution"], one["base_status"], one["plus_status"])
                for task, several in said.items()
                for one in several
            ]

        judged("EvalPlus", "first", references)
        seconds, verdicts = {}, {}
        for judge in JUDGES:
            seconds[judge], verdicts[judge] = judged(judge, "all", references + wrong)
    same = (Counter(verdicts["EvalPlus"]) & Counter(verdicts["Strop"])).total()
    return {"set": release.name, "answers": len(verdicts["Strop"]), "seconds": seconds, "same": same}


if __name__ == "__main__":
    main()
