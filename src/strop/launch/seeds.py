"""`strop train --seeds N`: one recipe several times, its differences pooled over tasks and seeds."""

import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strop.config.schema import Recipe
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.files import write_json

if TYPE_CHECKING:
    from strop.evaluation.seeds import Pooled


def train_seeds(recipe: Recipe, words: Sequence[str], seeds: int, plain: bool) -> None:
    """Trains the recipe of these words with as many seeds from its own on, each in a process and a folder of its own,
    RUN-seed-S, and shows the pooled differences, which RUN-seeds.json keeps. Seeds that are finished are not repeated,
    one that was stopped goes on.
    """
    base = recipe.run.folder
    folders = {
        seed: base.with_name(f"{base.name}-seed-{seed}") for seed in range(recipe.seed, recipe.seed + seeds)
    }
    for number, (seed, folder) in enumerate(folders.items(), 1):
        print(f"seed {seed} ({number} of {seeds}): {folder}", flush=True)
        if (folder / "summary.json").is_file():
            continue
        again = ["--resume", str(folder)] if (folder / "recipe.yaml").is_file() else [
            *words, f"seed={seed}", f"run.dir={folder}"
        ]  # fmt: skip
        command = [sys.executable, "-m", "strop.cli", "train", *again, *(["--plain"] if plain else [])]
        if code := subprocess.run(command).returncode:
            done = f"go on with: strop train {shlex.join(words)} --seeds {seeds}"
            if code in (130, -2):
                raise KeyboardInterrupt(done)
            raise StropError(f"seed {seed} ended with status {code}; {done}")
    found = pooled_runs(list(folders.values()))
    if not found:
        raise UserError("evaluation.before and after are off: there is nothing to pool")
    target = base.with_name(f"{base.name}-seeds.json")
    write_json(target, {
        "seeds": list(folders),
        "runs": [str(folder) for folder in folders.values()],
        "pooled": {against: {key: one._asdict() for key, one in by_key.items()} for against, by_key in found.items()},
    })  # fmt: skip
    _show(found)
    print(f"\n{target} has these numbers; every run has its raw results in its folder")


def pooled_runs(folders: Sequence[Path]) -> "dict[str, dict[str, Pooled]]":
    """{what after training is held against: {rate: difference}}, for what all of the runs have."""
    from strop.evaluation.seeds import pooled
    from strop.training.evaluations import read_evaluations

    evaluations = [read_evaluations(folder).get("", ({}, None))[0] for folder in folders]
    names = [name for name in evaluations[0] if name != "after" and all(name in one for one in evaluations)]
    if not all("after" in one for one in evaluations):
        return {}
    return {name: pooled([(one[name], one["after"]) for one in evaluations]) for name in names}


def _show(found: "Mapping[str, Mapping[str, Any]]") -> None:
    from rich.text import Text

    from strop.evaluation.table import new_table, show

    count = len(next(iter(next(iter(found.values())).values())).seeds)
    table = new_table(
        "after training, less", "rate", "mean", "seeds and tasks", "seeds alone", *["seed"] * count
    )
    for against, by_key in found.items():
        for key, one in by_key.items():
            table.add_row(
                Text(against.replace("_", " ")), Text(key), Text(f"{one.delta:+.3f}"),
                Text(f"[{one.low:+.3f}, {one.high:+.3f}]"), Text(f"[{one.least:+.3f}, {one.most:+.3f}]"),
                *(Text(f"{value:+.3f}") for value in one.seeds),
            )  # fmt: skip
    show(table)
