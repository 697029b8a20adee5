"""Trains on tasks, a reward and an environment of the calling process, as in a notebook, without any file.

python examples/environments/notebook.py [RECIPE.yaml...] [KEY=VALUE...]
"""

import sys

import strop


class Hint:
    """Shows the beginning of the reference for a `share` of the tasks."""

    def __init__(self, task, opening, read, *, share: float = 0.5):
        self.read, self.opening = read, opening
        if opening.text and sum(map(ord, task.id)) % 100 < 100 * share:
            self.opening = strop.Opening(text=f"# {task.reference.strip()[:40]}\n{opening.text}")

    def begin(self):
        """The prompt, with or without the hint."""
        return self.opening

    def step(self, completion):
        """The completion is the answer."""
        return strop.Done(self.read(completion.text))


def short(task, rollout, verdict):
    """1 for an empty answer, less for each character."""
    return 1.0 / (1 + len(rollout.answer))


if __name__ == "__main__":
    recipe = strop.recipe(*sys.argv[1:] or ["demo"])
    tasks = strop.load_tasks("python-functions", limit=40)
    summary = strop.train(recipe, tasks=tasks, rewards={"passed": 1.0, short: 0.1}, environment=Hint)
    print(summary["steps"], "steps")
