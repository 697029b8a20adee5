"""Computes the GPUs that each recipe needs, by the memory plan (`strop.training.memory`), and its duration, by the
model of scale (`benchmarks/scale.py`): the lines `# Needs` and `# Time` of its head.

    python benchmarks/needs.py [--write]

Prints both for each recipe that does not run on a laptop. --write updates the head and keeps the text after the first
semicolon of needs. The card is the smallest of `CARDS` on which the unchanged recipe fits, with 1 GB for CUDA; else the
fewest cards of 80, 94 or 141 GB over which ZeRO-3 spreads it, and a card for vLLM; 5 % are left free. If the head has a
command with adapters, the card for that comes after "or". A test compares the heads with this.

Hours and dollars assume the speed of an H100 with the card's memory, at `PRICE`: steps and evaluations, for answers
that use from a quarter to all of their limit, over all turns of a play. Published or measured values come first.
"""

import argparse
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.rehearse import RECIPES, head_commands
from benchmarks.scale import GB, H100, HOUR, Gpu, Run, step_of

CARDS = (16, 24, 40, 48, 80, 94, 141, 180)
"""Memory sizes of available GPUs in GB."""
SPREAD = (80, 94, 141)
PRICE = 3.0
"""Assumed dollars per H100-hour."""
_OWN = 1e9
"""GB for CUDA, besides the plan."""
_FREE = 1.05


@cache
def needs_of(path: Path) -> str | None:
    """The words up to the first semicolon; None for a recipe for CPUs."""
    text = path.read_text()
    if "CPU cores" in _line(text):
        return None
    whole = _card([path], [])
    said = f"one GPU with {whole} GB" if whole else _spread(path)
    with_adapters = (
        words for words in head_commands(text) if any(w.startswith("model.lora.rank") for w in words)
    )
    if (words := next(with_adapters, None)) is not None and (card := _card([path], words[2:])):
        said += f", or 1 of {card} GB for adapters"
    return f"{said} (computed)"


def _card(recipe: list[Path], words: list[str]) -> int | None:
    """GB of the smallest single card on which it fits."""
    smallest = max(plan.smallest for plan in _plans(recipe, words)) * _FREE + _OWN
    return next((card for card in CARDS if smallest <= card * 1e9), None)


def _spread(path: Path) -> str:
    """The fewest cards over which it can be sharded."""
    shared = ["policy.engine=vllm-server", "launch.engine=zero3", "launch.servers=1"]
    for count in (2, 4, 8, 16):
        training, *_ = _plans([path], [*shared, f"launch.processes={count}"])
        if card := next((c for c in SPREAD if training.smallest * _FREE + _OWN <= c * 1e9), None):
            return f"{count} GPUs of {card} GB, 1 for vLLM"
    sys.exit(f"{path.stem} fits no number of GPUs")


def _plans(recipe: list[Path], words: list[str]) -> list:  # type: ignore[type-arg]
    from strop.config.load import load_recipe
    from strop.training.memory import memory_plan

    found = load_recipe(recipe, words)
    return memory_plan(found, _shape(found.model.name))


@cache
def _shape(name: str) -> Any:
    from strop.policies.model_shape import ModelShape

    shape = ModelShape.read(name)
    assert shape is not None, name
    return shape


def time_of(path: Path) -> str | None:
    """Hours and dollars; None for a recipe for CPUs, and for one without reinforcement learning."""
    from strop.config.load import load_recipe

    said, recipe = needs_of(path), load_recipe([path])
    if said is None or recipe.reward_model.pairs:
        return None
    gpus = 1 if said.startswith("one GPU") else int(said.split()[0])
    card = replace(H100, memory=float(re.findall(r"(\d+) GB", said)[0]) * GB)
    hours = [_hours(recipe, gpus, card, share) for share in (0.25, 1.0)]
    cost = " to ".join(dict.fromkeys(f"{gpus * PRICE * one:,.0f}" for one in hours))
    how = "one H100" if gpus == 1 else f"{gpus} H100"
    return f"computed: {' to '.join(dict.fromkeys(map(_round, hours)))} hours of {how}, {cost} $"


def _round(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.1f}"


def _hours(recipe: Any, gpus: int, card: Gpu, share: float) -> float:
    """Steps and both evaluations. `share`: mean length of an answer as a share of its limit."""
    from strop.config.run_stages import stages_of

    seconds = 0.0
    for stage in stages_of(recipe):
        room, config = _room(stage.recipe), stage.recipe.grpo
        asked = _run(stage.recipe, gpus, card, config.group_size * config.tasks_per_step, share * room, room)
        seconds += (stage.last_step - stage.steps_before) * step_of(asked, card).seconds
    config, room = recipe.evaluation, _room(recipe)
    answers = (config.limit or 500) * (config.samples + config.greedy)
    many = _run(recipe, gpus, card, answers, share * room, room)
    return (seconds + (1 + (config.before is not False)) * step_of(many, card).sampling) / HOUR


def _room(recipe: Any) -> int:
    """Maximum tokens of all turns of a play."""
    turns = recipe.task_set.environment.options.get("turns") or recipe.play.max_turns or 1
    most = recipe.sampling.max_tokens * (1 if recipe.task_set.environment.type == "single-turn" else turns)
    return min(most, recipe.play.max_tokens or most)


def _run(recipe: Any, gpus: int, card: Gpu, rows: int, mean: float, longest: int) -> Run:
    passes = 1 + bool(recipe.grpo.beta)
    for spread in (1, 2, 4, 8, 16):
        asked = Run(recipe.model.name, gpus, rows, recipe.task_set.max_prompt_tokens, mean, longest, 1,
                    spread=min(spread, gpus), passes=passes)  # fmt: skip
        try:
            step_of(asked, card)
        except ValueError:
            continue
        return asked
    return asked


def _line(text: str, name: str = "Needs") -> str:
    return next(line for line in text.splitlines() if line.startswith(f"# {name}: "))


def written(path: Path) -> str:
    """The recipe with the computed lines."""
    text, said, time = path.read_text(), needs_of(path), time_of(path)
    if said is None:
        return text
    line = _line(text)
    rest = line.partition(";")[2]
    text = text.replace(line, f"# Needs: {said}" + (f";{rest}" if rest else ""), 1)
    if time is not None:
        line = _line(text, "Time")
        known = (
            line.removeprefix("# Time: ").partition("computed: ")[0].rstrip("; ").removeprefix("not known")
        )
        text = text.replace(line, "# Time: " + "; ".join(filter(None, [known.strip("; "), time])), 1)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    for path in sorted(RECIPES.glob("*.yaml")):
        new = written(path)
        if "CPU cores" not in _line(new):
            print(f"{path.stem:20} {_line(new).removeprefix('# Needs: ')}")
            print(f"{'':20} {_line(new, 'Time').removeprefix('# Time: ')}")
        if asked.write and new != path.read_text():
            path.write_text(new)


if __name__ == "__main__":
    main()
