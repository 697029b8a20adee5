"""GRPO, controls and a teacher at equal compute: trains a recipe with each, seed by seed.

python benchmarks/teacher.py RECIPE [KEY=VALUE...] --teacher MODEL --work FOLDER -o experiments/controls/NAME.json

For each seed, runs `strop train RECIPE --controls ssd,rft`, then `strop distill RECIPE --teacher MODEL` for as many
steps as fit into the CPU seconds of the run's steps, estimated from the first two. Finished parts are not run again and
interrupted ones resume, so the same command can be repeated until all seeds are done. The output keeps every finished
seed, also those of earlier commands (benchmarks/controls.py); its table is printed. If the output already has a seed,
only its missing parts are trained, for the CPU seconds of its run times --pace: the seconds that this machine needs for
one second of work on the earlier machine.
"""

import argparse
import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import controls

from strop.config.load import dump_recipe, load_recipe
from strop.config.revision import revision
from strop.reports.run_folder import RunFolder
from strop.training.controls import trained_control
from strop.training.evaluations import CONTROL, Evaluations
from strop.training.ranks import join
from strop.training.setup import set_up
from strop.training.sinks import open_sinks
from strop_verify.core.files import write_json

CONTROLS = {"ssd", "rft"}
FIRST = 2
"""Steps from which the time of a step with a teacher is estimated; the first also runs the check of the fast paths."""


def strop(*words: str) -> None:
    print("strop", *words, flush=True)
    subprocess.run([sys.executable, "-m", "strop.cli", *words, "--plain"], check=True)


def trained(run: Path, *start: str) -> None:
    """Trains into a folder, from the start or from the last checkpoint; does nothing if the run has finished."""
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


def controlled(name: str, run: Path, budget: float, *own: str) -> None:
    """Trains a control and evaluates it, in its own folder."""
    done = run / "controls" / f"{name}.done.json"
    files, settings = ([word for word in own if ("=" in word) is has] for has in (False, True))
    recipe = load_recipe(files, [*settings, f"run.dir={run}"])
    with ExitStack() as stack:
        parts = set_up(recipe, join(), stack, print)
        kept: dict[str, Any] = {"recipe": dump_recipe(recipe), "versions": revision()}
        folder = stack.enter_context(RunFolder.create(run, overwrite=True, **kept))
        sinks = stack.enter_context(open_sinks(recipe, folder, print, step=0, writing=True))
        trained, took = trained_control(name, recipe, folder, parts, budget, stack, print)
        evaluations = Evaluations(recipe, folder, parts, sinks, print, lambda text, done, total: None)
        evaluations.all("after", parts=trained)
        write_json(done, took)


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
    parser.add_argument("--pace", type=float, default=1.0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_intermixed_args()
    known = json.loads(given.output.read_text())["runs"] if given.output.is_file() else []
    before = {str(run["seed"]): run for run in known}
    for seed in given.seeds.split(","):
        own = [given.recipe, *given.settings, f"seed={seed}"]
        run, taught = given.work / f"grpo-{seed}", given.work / f"distill-{seed}"
        beside = dict[str, list[Path]]()
        if seed in before:
            budget, has = before[seed]["seconds_cpu"] * given.pace, before[seed]["took"]
            for name in CONTROLS - has.keys():
                alone = given.work / f"{name}-{seed}"
                if not (alone / "controls" / f"{name}.done.json").is_file():
                    controlled(name, alone, budget, *own)
                beside[f"{CONTROL}{name}"] = [alone]
        else:
            trained(run, "train", *own, "--controls", ",".join(sorted(CONTROLS)))
            budget, has = sum(seconds_of(run)), {}
        if "distill" not in has:
            teacher = ["--teacher", given.teacher, f"optim.learning_rate={given.rate}"]
            distilled(taught, budget, "distill", *own, *teacher)
            beside["distill"] = [taught]
        data = controls.collected([] if seed in before else [run], given.output, beside)
        given.output.write_text(controls.packed(data))
        print(
            "\n\n".join(f"{on or 'held-out'}\n{controls.table(data, on)}" for on in data["tasks"]), flush=True
        )


if __name__ == "__main__":
    main()
