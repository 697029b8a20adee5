"""Does it matter for suggestions how much text after the cursor the model sees?

    python benchmarks/behind.py FOLDER... [--model smollm2-135m] [--states 120] [--context 1024] [--behind 256 64 0]
        [--json FILE] [--set KEY=VALUE]

Each state is a real file, drawn from the folders' Python programs, in which a line has been started: the rest of it is
removed, and the cursor is there. The model answers greedily, once per size of `--behind`. A suggestion is right if the
file's own text begins with it and it reaches at least the end of the line. Utility: .75 for a right suggestion, -.25
for a wrong one, 0 for silence (docs/next-edit.md). Differences are paired by state, against the first size, with 95 %
intervals. `--set model.dtype=bfloat16` and the like are settings of a recipe.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from strop.cli.models import read_models, recipes_of
from strop.evaluation.statistics import paired_difference
from strop.policies.open import open_policy
from strop.serve.edit_model import EditModel
from strop.serve.edit_prompt import EditState, FimPrompt
from strop.tasks.comparison import THRESHOLD
from strop_verify.core.rollout import SamplingParams

GREEDY = SamplingParams(temperature=0.0, max_tokens=40)
LINES_AROUND = 10
"""Lines that a file must have before and after the started one."""


def started(files: Sequence[Path], count: int) -> Iterator[tuple[EditState, str]]:
    """(state, the text that followed the cursor), at most one state per draw of a file."""
    draw = random.Random("started lines")
    while count:
        file = draw.choice(files)
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
        at = draw.randrange(len(lines))
        line = lines[at].rstrip()
        indent = len(line) - len(line.lstrip())
        around = min(at, len(lines) - at - 1)
        if around < LINES_AROUND or len(line) - indent < 12 or line.lstrip().startswith("#"):
            continue
        cut = draw.randrange(indent + 2, len(line) - 4)
        before = "\n".join([*lines[:at], line[:cut]])
        after = "\n".join(["", *lines[at + 1 :]])
        yield EditState(before + after, len(before), file.name), line[cut:] + after
        count -= 1


def utility(state: EditState, followed: str, edit: Any) -> float:
    """Of a suggestion at the cursor."""
    if edit is None:
        return 0.0
    text, rest = edit.text.rstrip(), followed.split("\n")[0]
    right = edit.start == edit.end == state.at and followed.startswith(text) and len(text) >= len(rest)
    return right - THRESHOLD


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--states", type=int, default=120)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--behind", type=int, nargs="+", default=[256, 64, 0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a recipe's setting")
    options = parser.parse_args()
    (recipe,) = recipes_of(read_models([options.model], "transformers", None), [], options.set).values()
    policy: Any = open_policy(recipe)
    models = {
        size: EditModel(policy, GREEDY, FimPrompt(policy.tokenizer, options.context, size))
        for size in options.behind
    }
    files = sorted(file for folder in options.folders for file in folder.rglob("*.py"))
    values: dict[int, list[float]] = {size: [] for size in models}
    began = time.monotonic()
    for number, (state, followed) in enumerate(started(files, options.states), 1):
        for size, model in models.items():
            values[size].append(utility(state, followed, model.suggest(state).result(600).edit))
        if number % 20 == 0:
            print(f"{number} states, {time.monotonic() - began:.0f} s", flush=True)
    rows = []
    first = values[options.behind[0]]
    for size, found in values.items():
        against = paired_difference(first, found)
        row = {
            "behind": size, "states": len(found), "right": sum(value > 0 for value in found),
            "wrong": sum(value < 0 for value in found), "utility": sum(found) / len(found),
            "difference": against.delta, "low": against.low, "high": against.high,
        }  # fmt: skip
        rows.append(row)
        print(json.dumps(row))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
