"""`strop train --seeds N --sweep KEY=A,B`: trains a recipe several times and pools the results over tasks and seeds."""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strop.config.schema import Recipe
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.files import write_json

if TYPE_CHECKING:
    from strop.evaluation.seeds import Pooled


_VALUE = re.compile(r"(?:[^,\[{'\"]|\[[^\]]*\]|{[^}]*}|'[^']*'|\"[^\"]*\")+")


def train_all(
    recipe: Recipe, words: Sequence[str], sweeps: Sequence[str], seeds: int, plain: bool
) -> list[Path]:
    """Trains the recipe of `words` with every combination of the swept values and `seeds` consecutive seeds, starting
    at the recipe's own; returns the runs' folders.

    Each run has its own process and folder, RUN-KEY-VALUE-seed-S. Finished runs are skipped, stopped ones are resumed.
    The pooled differences of several seeds are printed and written to RUN-KEY-VALUE-seeds.json.
    """
    told = [*words, *(word for sweep in sweeps for word in ("--sweep", sweep)), "--seeds", str(seeds)]
    variants, found = swept(sweeps), list[Path]()
    for number, (name, more) in enumerate(variants, 1):
        base = recipe.run.folder.with_name("-".join(filter(None, (recipe.run.folder.name, name))))
        several = {
            base.with_name(f"{base.name}-seed-{one}"): one for one in range(recipe.seed, recipe.seed + seeds)
        }
        folders = several if seeds > 1 else {base: recipe.seed}
        for folder, seed in folders.items():
            print(f"{name or 'run'} ({number} of {len(variants)}), seed {seed}: {folder}", flush=True)
            _train([*words, *more, f"seed={seed}"], folder, shlex.join(["strop", "train", *told]), plain)
        found += folders
        if seeds > 1:
            _pool(base, folders)
    return found


def swept(sweeps: Sequence[str]) -> list[tuple[str, list[str]]]:
    """(suffix of the run's name, overrides) of each combination of KEY=VALUE,VALUE,... Commas in brackets and quotes
    belong to the value. Raises UserError.
    """
    axes: list[list[str]] = []
    for sweep in sweeps:
        key, is_one, values = sweep.partition("=")
        parts = [one.strip() for one in _VALUE.findall(values)]
        if not (key.strip() and is_one and len(parts) > 1):
            raise UserError(f"--sweep {sweep}: write KEY=VALUE,VALUE, such as optim.learning_rate=1e-5,3e-5")
        axes.append([f"{key.strip()}={part}" for part in parts])
    return [("-".join(map(_name, words)), list(words)) for words in product(*axes)]


def _name(word: str) -> str:
    key, _, value = word.partition("=")
    return re.sub(r"[^\w.+-]+", "_", f"{key.rpartition('.')[2]}-{value}").strip("_")


def _train(words: Sequence[str], folder: Path, again: str, plain: bool) -> None:
    if (folder / "summary.json").is_file():
        return
    begun = (folder / "recipe.yaml").is_file()
    given = ["--resume", str(folder)] if begun else [*words, f"run.dir={folder}"]
    command = [sys.executable, "-m", "strop.cli", "train", *given, *(["--plain"] if plain else [])]
    if code := subprocess.run(command).returncode:
        if code in (130, -2):
            raise KeyboardInterrupt(f"continue with: {again}")
        raise StropError(f"{folder} ended with status {code}; continue with: {again}")


def _pool(base: Path, folders: Mapping[Path, int]) -> None:
    found = pooled_runs(list(folders))
    if not found:
        print("evaluation.before and after are off: there is nothing to pool")
        return
    target = base.with_name(f"{base.name}-seeds.json")
    write_json(target, {
        "seeds": list(folders.values()),
        "runs": [str(folder) for folder in folders],
        "pooled": {against: {key: one._asdict() for key, one in by_key.items()} for against, by_key in found.items()},
    })  # fmt: skip
    _show(found)
    print(f"\n{target} holds these numbers; every run's folder holds its raw results")


def pooled_runs(folders: Sequence[Path]) -> "dict[str, dict[str, Pooled]]":
    """{baseline of the trained model: {rate: difference}}, for baselines and rates that all runs have. The name of a
    set of evaluation.extra precedes the baseline's, as in "humaneval: before".
    """
    from strop.evaluation.seeds import pooled
    from strop.training.evaluations import read_evaluations

    runs = [read_evaluations(folder) for folder in folders]
    found: dict[str, dict[str, Pooled]] = {}
    for name in runs[0]:
        sides = [one.get(name, ({}, None))[0] for one in runs]
        if not all("after" in one for one in sides):
            continue
        sides = [{**one["after"].controls, **one} for one in sides]  # adds the controls of "after"
        for side in sides[0]:
            if side != "after" and all(side in one for one in sides):
                found[f"{name}: {side}" if name else side] = pooled(
                    [(one[side], one["after"]) for one in sides]
                )
    return found


def _show(found: "Mapping[str, Mapping[str, Any]]") -> None:
    from rich.text import Text

    from strop.evaluation.table import new_table, show

    count = len(next(iter(next(iter(found.values())).values())).seeds)
    heads = ["from", "rate", "mean", "seeds and tasks", "seeds alone"]
    table = new_table("differences of the trained model", *heads, *["seed"] * count)
    for against, by_key in found.items():
        for key, one in by_key.items():
            table.add_row(
                Text(against.replace("_", " ")), Text(key), Text(f"{one.delta:+.3f}"),
                Text(f"[{one.low:+.3f}, {one.high:+.3f}]"), Text(f"[{one.least:+.3f}, {one.most:+.3f}]"),
                *(Text(f"{value:+.3f}") for value in one.seeds),
            )  # fmt: skip
    show(table)
