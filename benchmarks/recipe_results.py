"""Extracts a recipe run's results for docs/results.py: the counts of each task, steps, and rewards of answers.

python benchmarks/recipe_results.py RUN [REWARD...] -o experiments/recipes/NAME.json

For each REWARD that a table should show besides the rates, the mean by task of the evaluations' answers is kept.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strop.config.load import load_recipe
from strop.evaluation.result import Evaluation
from strop.reports.rollout_files import evaluation_file, read_whole
from strop.rewards.rubric import REWARDS
from strop.tasks.sources import load_tasks
from strop.training.evaluations import read_evaluations
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task

STEP = ("step", "reward", "rewards", "pass_rate", "reward_auc", "completion_tokens", "seconds")


def counts_of(evaluation: Evaluation) -> dict[str, Any]:
    """The part of an evaluation that is kept."""
    counts = [
        {name: value for name, value in one.model_dump().items() if value not in ("", None, {})}
        for one in evaluation.counts
    ]
    names = ("tokens_mean", "truncated_rate", "outcomes", "seconds")
    return {"counts": counts, **{name: getattr(evaluation, name) for name in names}}


def rewards_of(run: Path, side: str, name: str, tasks: Mapping[str, Task]) -> dict[str, dict[str, float]]:
    """{"sampled": {task: mean reward}, "greedy": {task: reward}}."""
    sampled: dict[str, list[float]] = defaultdict(list)
    greedy: dict[str, float] = {}
    seen = set()
    for row in read_whole(evaluation_file(run, side).path):
        rollout = Rollout.model_validate(
            {key: value for key, value in row.items() if key in Rollout.model_fields}
        )
        value = round(REWARDS[name](tasks[rollout.task_id], rollout, rollout.verdict) or 0.0, 4)
        key = (rollout.task_id, rollout.index)
        if key in seen:  # the greedy answer comes after the sampled ones
            greedy[rollout.task_id] = value
        else:
            sampled[rollout.task_id].append(value)
            seen.add(key)
    return {"sampled": {task: sum(all_) / len(all_) for task, all_ in sampled.items()}, "greedy": greedy}


def collected(run: Path, rewards: list[str]) -> dict[str, Any]:
    """Everything that is kept of a run."""
    recipe = load_recipe([run / "recipe.yaml"])
    evaluations = read_evaluations(run)[""][0]
    summary = json.loads((run / "summary.json").read_text())
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    tasks = {task.id: task for task in load_tasks(recipe.task_set.source)} if rewards else {}
    return {
        "recipe": recipe.run.name,
        "seed": recipe.seed,
        "wall_seconds": summary["wall_seconds"],
        "peak_rss_bytes": summary["peak_rss_bytes"],
        "evaluations": {side: counts_of(one) for side, one in evaluations.items()},
        "rewards": {
            name: {side: rewards_of(run, side, name, tasks) for side in evaluations} for name in rewards
        },
        "metrics": [{name: line[name] for name in STEP if name in line} for line in lines],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("rewards", nargs="*")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    text = json.dumps(collected(given.run, given.rewards), separators=(",", ":"))
    given.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
