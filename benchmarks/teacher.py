"""GRPO, controls and a teacher at equal compute: trains a recipe with each, seed by seed.

python benchmarks/teacher.py RECIPE [KEY=VALUE...] --teacher MODEL --work FOLDER -o experiments/controls/NAME.json

A seed is `strop train RECIPE --controls ssd,rft`, then `strop distill RECIPE --teacher MODEL` for as many steps as fit
into the CPU seconds of the run's steps, which its first two steps tell. What has ended is not run again, and what was
cut off goes on, so that the same command may be given until all seeds are there. The output keeps every seed that
ended, of earlier commands too (benchmarks/controls.py); its table is printed.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import controls

from strop.reports.run_folder import RunFolder

FIRST = 2
"""Steps that tell how long a step with a teacher takes; the first of them also proves how it computes."""


def strop(*words: str) -> None:
    print("strop", *words, flush=True)
    subprocess.run([sys.executable, "-m", "strop.cli", *words, "--plain"], check=True)


def trained(run: Path, *start: str) -> None:
    """Trains into a folder, from the start or from the last checkpoint; not at all where it has ended."""
    if (run / "summary.json").is_file():
        return
    if (run / "checkpoints").is_dir():
        strop("train", "--resume", str(run))
    else:
        strop(*start, f"run.dir={run}")


def seconds_of(run: Path) -> list[float]:
    """CPU seconds of each step."""
    return [line["seconds_cpu"] for line in RunFolder(run).iter_metrics()]


def distilled(run: Path, budget: float, *start: str) -> None:
    """Distils for as many CPU seconds as the budget has."""
    if not (run / "checkpoints").is_dir():
        strop(
            *start,
            f"optim.steps={FIRST}",
            f"run.save_every={FIRST}",
            "evaluation.before=false",
            f"run.dir={run}",
        )
    plan = run / "steps.json"
    if not plan.is_file():
        first = seconds_of(run)
        more = max(0, round((budget - sum(first)) / first[-1]))
        plan.write_text(json.dumps(FIRST + more))
        if more:
            (run / "summary.json").unlink()
    if not (run / "summary.json").is_file():
        strop("train", "--resume", str(run), f"optim.steps={json.loads(plan.read_text())}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE")
    parser.add_argument("--teacher", required=True)
    parser.add_argument("--rate", default="5e-6", help="learning rate of distillation")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_intermixed_args()
    ended: list[tuple[Path, Path]] = []
    for seed in given.seeds.split(","):
        own = [given.recipe, *given.settings, f"seed={seed}"]
        run, taught = given.work / f"grpo-{seed}", given.work / f"distill-{seed}"
        trained(run, "train", *own, "--controls", "ssd,rft")
        budget = sum(seconds_of(run))
        distilled(
            taught, budget, "distill", *own, "--teacher", given.teacher, f"optim.learning_rate={given.rate}"
        )
        ended.append((run, taught))
        beside = {"distill": [taught for _, taught in ended]}
        data = controls.collected([run for run, _ in ended], given.output, beside)
        given.output.write_text(controls.packed(data))
        print(
            "\n\n".join(f"{on or 'held-out'}\n{controls.table(data, on)}" for on in data["tasks"]), flush=True
        )


if __name__ == "__main__":
    main()
