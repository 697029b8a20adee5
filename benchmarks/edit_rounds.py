"""Rounds of `strop online` on edits of real histories: does acceptance rise compared with a server that never learns?

    python benchmarks/edit_rounds.py FOLDER REPOSITORY ... [--held-out NAME] [--model smollm2-135m] [--rounds 10]
        [--batch 512] [--updates 16] [--states 400] [--json FILE] [KEY=VALUE ...]

Writes to FOLDER, continuing where a run of the same command ended:

    next-edit.jsonl  the states of the commits (`strop build next-edit`), with the repositories of --held-out held out
    warm             the model after a supervised warm start (`strop sft`), unless --model is a folder
    run              the rounds. In each, the simulated user `nearer` judges --batch suggestions of the served model,
                     which stays fixed; --updates updates follow, then a comparison with it on --states held-out states

Two lines per round report its candidate on the held-out states: accepted over shown, suggestions shown per 100 keys,
and utility, each with its 95 % interval; whether it is deployed; the gain in utility over the served model and over the
first one (frozen), paired by state; and what it learned from. The keys of a state are the characters that its newest
edit inserted or deleted before the suggestion. The last line compares the finally served model with the frozen one.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel

from strop.evaluation.result import Evaluation
from strop.evaluation.statistics import Difference, Estimate, paired_difference, ratio_interval
from strop.reports.run_folder import record_file
from strop.tasks.sources import load_tasks
from strop.training.online import what_changed
from strop_verify.core.checks import NextEditCheck

HELD_OUT = ("cachetools", "python-tabulate")
WINDOW = ("--lines=6", "--history=2", "--chars=600", "--silence=.4", "--newest-share=0")
"""As in the recipe next-edit-laptop."""


def strop(*words: object) -> None:
    """Runs a command; ends with its exit code if it fails."""
    print("strop", *words, file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, "-m", "strop.cli", *map(str, words)], stdout=sys.stderr)
    if done.returncode:
        raise SystemExit(done.returncode)


def played(options: argparse.Namespace) -> tuple[Path, Path]:
    """(file of tasks, folder of the run) after all rounds."""
    folder, recipe = options.folder, "next-edit-laptop"
    tasks, warm, run = folder / "next-edit.jsonl", folder / "warm", folder / "run"
    folder.mkdir(parents=True, exist_ok=True)
    if not tasks.exists():
        held_out = [word for name in options.held_out or HELD_OUT for word in ("--held-out", name)]
        strop("build", "next-edit", *options.repositories, *held_out, *WINDOW, "-o", tasks)
    model = options.model if Path(options.model).is_dir() else str(warm / "final")
    if not Path(model).is_dir():
        strop(
            "sft",
            recipe,
            f"model.preset={options.model}",
            f"tasks.source={tasks}",
            f"run.dir={warm}",
            *options.settings,
        )
    rounds = f"optim.steps={options.rounds}"
    if (run / "recipe.yaml").exists():
        strop("online", "--resume", run, rounds)
    else:
        strop(
            "online",
            recipe,
            f"model.name={model}",
            f"tasks.source={tasks}",
            f"run.dir={run}",
            rounds,
            "online.user=nearer",
            f"online.batch={options.batch}",
            f"grpo.tasks_per_step={options.batch}",
            f"grpo.minibatches={options.updates}",
            f"evaluation.limit={options.states}",
            *options.settings,
        )
    return tasks, run


def key_counts(tasks: Path) -> dict[str, int]:
    """{task: characters that its newest edit inserted or deleted}."""
    checks = {task.id: task.check.only(NextEditCheck) for task in load_tasks(str(tasks))}
    pasts = {id: check.history[-1] for id, check in checks.items()}
    return {id: Indel.distance("\n".join(past.old), "\n".join(past.new)) for id, past in pasts.items()}


class Judged:
    """A model on the held-out states."""

    def __init__(self, record: Path, keys: Mapping[str, int]) -> None:
        self.evaluation = Evaluation.model_validate_json(record.read_bytes())
        self._keys = keys

    def values(self, name: str) -> dict[str, float]:
        """{state: a number of docs/next-edit.md}."""
        return self.evaluation.values(self.evaluation.first_stage_keys[name])

    def rates(self) -> dict[str, Estimate | None]:
        """Acceptance, suggestions per 100 keys and utility; None if nothing is shown."""
        shown, accepted = self.values("shown"), self.values("accepted")
        keys = [self._keys[task] / 100 for task in shown]
        return {
            "accept_rate": ratio_interval(list(accepted.values()), list(shown.values())),
            "shown_per_100_keys": ratio_interval(list(shown.values()), keys),
            "utility": self.evaluation.estimate(self.evaluation.first_stage_keys["utility"]),
        }

    def against(self, other: "Judged") -> Difference:
        """The gain in utility over another model."""
        mine, theirs = self.values("utility"), other.values("utility")
        return paired_difference([theirs[task] for task in mine], list(mine.values()))

    def acceptance_gain(self, other: "Judged", resamples: int = 10_000) -> Difference | None:
        """The difference in acceptance rate; the same states are drawn for both. None if one shows nothing."""
        columns = [
            np.array([list(one.values(name).values()) for name in ("accepted", "shown")])
            for one in (self, other)
        ]
        states = columns[0].shape[1]
        draws = np.random.default_rng(0).multinomial(states, np.full(states, 1 / states), resamples)
        if not all(one[1].sum() for one in columns):
            return None
        mine, theirs = ((draws @ one[0]) / np.maximum(draws @ one[1], 1e-9) for one in columns)
        low, high = np.quantile(mine - theirs, [0.025, 0.975])
        rates = [float(one[0].sum() / one[1].sum()) for one in columns]
        return Difference(rates[0] - rates[1], float(low), float(high))


def table(tasks: Path, run: Path) -> dict[str, Any]:
    """The rounds, and the finally served model compared with the frozen one."""
    keys = key_counts(tasks)
    frozen = served = Judged(record_file(run, "before"), keys)
    rounds: list[dict[str, Any]] = [{"round": 0, **frozen.rates()}]
    for line in (run / "metrics.jsonl").read_text().splitlines():
        number, deployed = json.loads(line)["step"], json.loads(line)["deployed"]
        one = Judged(record_file(run, f"round-{number}"), keys)
        over = {"gain_over_served": one.against(served), "gain_over_frozen": one.against(frozen)}
        says = what_changed(served.evaluation, one.evaluation)
        rounds.append({"round": number, **one.rates(), **over, "deployed": deployed, "says": says})
        served = one if deployed else served
    return {
        "states": len(frozen.values("shown")),
        "rounds": rounds,
        "utility_gain": served.against(frozen),
        "acceptance_gain": served.acceptance_gain(frozen),
    }


def told(value: Sequence[float] | None, form: str = ".3f") -> str:
    """A number with its interval."""
    return "-" if value is None else "{:{f}} [{:{f}}, {:{f}}]".format(*value, f=form)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("words", nargs="+", metavar="REPOSITORY or KEY=VALUE")
    parser.add_argument("--held-out", action="append")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--updates", type=int, default=16)
    parser.add_argument("--states", type=int, default=400)
    parser.add_argument("--json", type=Path)
    options = parser.parse_intermixed_args()
    options.settings = [word for word in options.words if "=" in word]
    options.repositories = [word for word in options.words if "=" not in word]
    found = table(*played(options))
    for one in found["rounds"]:
        shown = told(one["shown_per_100_keys"], ".2f")
        rates = (
            f"accepted {told(one['accept_rate'])}, shown per 100 keys {shown}, utility {told(one['utility'])}"
        )
        print(f"round {one['round']}: {rates}")
        if one["round"]:
            gains = (told(one[f"gain_over_{name}"], "+.3f") for name in ("served", "frozen"))
            done = "deployed" if one["deployed"] else "not deployed"
            print(f"    {done}; utility over the served and the frozen {' and '.join(gains)}; {one['says']}")
    utility, acceptance = (told(found[name], "+.3f") for name in ("utility_gain", "acceptance_gain"))
    print(
        f"final model over the frozen one, {found['states']} states: utility {utility}, acceptance {acceptance}"
    )
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
