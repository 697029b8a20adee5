"""Loads tasks and verifies answers: python examples/load_and_verify.py [SOURCE]."""

import sys

import strop

tasks = strop.load_tasks(*sys.argv[1:] or ["python-functions"], limit=3)
verdicts = strop.verify(tasks, [task.reference for task in tasks])
for task, verdict in zip(tasks, verdicts, strict=True):
    print(task.topic, verdict.outcome.value, f"{verdict.fraction:.0%} of {len(verdict.tests)} tests")
