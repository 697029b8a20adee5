"""What runs of `strop train --controls` showed, seed by seed: keeps the counts of each task, and makes the table.

python benchmarks/controls.py RUN... -o experiments/controls/demo.json    a run a seed
python benchmarks/controls.py --table experiments/controls/demo.json      README's table
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from strop.evaluation.seeds import Pooled, crossed
from strop.reports.run_state import read_settings
from strop.training.evaluations import read_evaluations
from strop_verify.core.files import write_json

TOLD = {
    "before": "before training",
    "room": "before, four times the tokens",
    "warm": "after the warm start",
    "control_ssd": "ssd: own answers, unverified",
    "control_rft": "rft: own answers that passed",
    "control_warm": "supervised on the references",
}
RATES = ("pass@1", "greedy")


def collected(runs: Sequence[Path]) -> dict[str, Any]:
    """The counts of each run's evaluations, task by task, and what its controls took."""
    found: list[dict[str, Any]] = []
    tasks: list[str] = []
    for run in runs:
        evaluations = read_evaluations(run)[""][0]
        summary = json.loads((run / "summary.json").read_text())
        tasks = tasks or [one.task_id for one in evaluations["after"].counts]
        sides = {name: one for name, one in evaluations.items() if name in TOLD or name == "after"}
        sides |= {name: one for name, one in evaluations["after"].controls.items() if name in TOLD}
        found.append({
            "seed": read_settings(run).get("seed"),
            "wall_seconds": round(summary["wall_seconds"], 1),
            "took": {name: one["took"] for name, one in summary.get("controls", {}).items()},
            "values": {
                name: {rate: [one.values(rate).get(task) for task in tasks] for rate in RATES if rate in one.keys}
                for name, one in sides.items()
            },
        })  # fmt: skip
    controls = sorted({name for run in found for name in run["took"]})
    return {"tasks": tasks, "controls": controls, "runs": found}


def rows(data: Mapping[str, Any]) -> Iterator[tuple[str, str, float, float, Pooled]]:
    """(side, rate, its mean over seeds, that after training, the pooled difference)."""
    runs = [run["values"] for run in data["runs"]]
    for side in TOLD:
        for rate in RATES:
            if not all(rate in run.get(side, {}) for run in runs):
                continue
            pairs = [
                [(run[side][rate][at], run["after"][rate][at]) for run in runs]
                for at in range(len(data["tasks"]))
            ]
            known = [pair for pair in pairs if all(None not in one for one in pair)]
            differences = [[pair[seed][1] - pair[seed][0] for pair in known] for seed in range(len(runs))]
            means = [sum(one[at] for pair in known for one in pair) / len(known) / len(runs) for at in (0, 1)]
            yield side, rate, means[0], means[1], crossed(differences)


def table(data: Mapping[str, Any]) -> str:
    """In Markdown."""
    count = len(data["runs"])
    lines = [
        f"| GRPO held against | | it | GRPO | difference, {count} seed{'s' * (count > 1)} | each seed |",
        "|---|---|---|---|---|---|",
    ]
    for side, rate, mean, after, one in rows(data):
        each = " ".join(_signed(value) for value in one.seeds)
        told = f"{_signed(one.delta)} [{_signed(one.low)}, {_signed(one.high)}]"
        name = "T = 0.8" if rate == "pass@1" else rate
        lines.append(f"| {TOLD[side]} | {name} | {_plain(mean)} | {_plain(after)} | {told} | {each} |")
    return "\n".join(lines)


def _plain(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    if given.output:
        write_json(given.output, collected(given.runs))
    print(table(json.loads((given.table or given.output).read_text())))


if __name__ == "__main__":
    main()
