"""What each recipe needs on GPUs, by the plan of memory (`strop.training.memory`): the line `# Needs` of its head.

    python benchmarks/needs.py [--write]

Prints a line for each recipe that does not run on a laptop; --write puts it into the head, where what comes after the
first semicolon stays. The card is the smallest of `CARDS` on which the recipe fits as it is, with 1 GB for CUDA; else
the fewest cards of 80, 94 or 141 GB over which ZeRO-3 spreads it, and a card for vLLM; 5 % are left free. Where the
head has a command with adapters, the card for that comes after "or". A test holds the heads to it.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.rehearse import RECIPES, head_commands

CARDS = (16, 24, 40, 48, 80, 94, 141, 180)
"""GB of GPUs that can be had."""
SPREAD = (80, 94, 141)
_OWN = 1e9
"""Of CUDA, beside what is planned."""
_FREE = 1.05


def needs_of(path: Path) -> str | None:
    """The words up to the first semicolon; None for a recipe of CPUs."""
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
    """GB of the smallest card on which it fits, alone."""
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
    from strop.policies.model_shape import ModelShape
    from strop.training.memory import memory_plan

    found = load_recipe(recipe, words)
    shape = ModelShape.read(found.model.name)
    assert shape is not None, found.model.name
    return memory_plan(found, shape)


def _line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("# Needs: "))


def written(path: Path) -> str:
    """The recipe with the line that is computed."""
    text, said = path.read_text(), needs_of(path)
    if said is None:
        return text
    line = _line(text)
    rest = line.partition(";")[2]
    return text.replace(line, f"# Needs: {said}" + (f";{rest}" if rest else ""), 1)


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
        if asked.write and new != path.read_text():
            path.write_text(new)


if __name__ == "__main__":
    main()
