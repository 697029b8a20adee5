"""Trains like `strop train`: python examples/train.py [RECIPE.yaml...] [KEY=VALUE...]."""

import sys

import strop

recipe = strop.recipe(*sys.argv[1:] or ["demo"])
summary = strop.train(recipe)
print(
    summary["steps"],
    "steps in",
    f"{summary['wall_seconds']:.0f} s; the model is in {recipe.run.folder}/final",
)
