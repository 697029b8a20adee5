"""Evaluates a model on held-out tasks: python examples/evaluate.py [RECIPE.yaml...] [KEY=VALUE...]."""

import sys

import strop

recipe = strop.recipe(*sys.argv[1:] or ["demo"])
tasks = strop.load_tasks(recipe.task_set.source, split="held-out", limit=recipe.evaluation.limit)
result = strop.evaluate(strop.open_policy(recipe), tasks, recipe=recipe)
for key in result.keys:
    print(key, result.estimate(key))
