"""One run over several task sets: shares, rubrics and stop strings of their own, and the same bits after a resume."""

import json
import shutil
from pathlib import Path

import pytest
from tests.needs import missing
from tests.warm import strop

from strop.config.load import load_recipe
from strop.reports.run_folder import RunFolder
from strop.tasks import load_tasks
from strop.tasks.task_sets import task_sets
from strop_verify.core.errors import UserError

from .conftest import metrics, stopped_after, weights


def broken_programs(path: Path) -> Path:
    """Python tasks with a program that returns nothing, which an edit has to put right."""
    tasks = load_tasks("python-functions", levels=[2], limit=12)
    lines = [
        task.model_copy(
            update={"metadata": {"broken": f"{task.signature}\n    return None\n"}, "split": None, "id": ""}
        ).model_dump_json(exclude={"id", "split"})
        for task in tasks
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def mixed(folder: Path) -> Path:
    """A recipe file with functions, programs, edits, and Rust where it can be compiled."""
    sets = [
        {"name": "functions", "source": "python-functions", "levels": [1], "style": "continue", "weight": 3,
         "stop": ["\n\n", "e"], "limit": 24},
        {"name": "programs", "source": "stdio-problems", "style": "chat", "limit": 24, "max_tokens": 12,
         "stop": ["a"], "rewards": [{"name": "answered", "weight": 0.5}, {"name": "passed"}]},
        {"name": "edits", "source": f"edits:{broken_programs(folder / 'broken.jsonl')}", "style": "chat",
         "rewards": [{"name": "finished"}], "stop": ["i"]},
    ]  # fmt: skip
    if not missing("cargo"):
        sets.append(
            {"name": "rust", "weight": 0.5, "source": "rust-functions", "levels": [1], "style": "continue", "limit": 12,
             "rewards": [{"name": "build", "weight": 0.2}, {"name": "tests", "weight": 0.8}], "stop": ["o"]}
        )  # fmt: skip
    path = folder / "mixed.yaml"
    path.write_text(json.dumps({"tasks": sets, "rewards": [{"name": "passed"}]}))
    return path


@pytest.fixture(scope="module")
def run(peaked_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four steps over all of them."""
    folder = tmp_path_factory.mktemp("mixed")
    settings = {
        "model.name": peaked_model, "model.compute_dtype": "float32", "model.sampling_dtype": "float32",
        "model.gradient_checkpointing": "false", "sampling.max_tokens": 16, "grpo.group_size": 4,
        "grpo.mask_truncated": "false", "grpo.tasks_per_step": 5, "grpo.refill": "false",
        "optim.micro_batch_tokens": 256, "optim.learning_rate": 0.003, "optim.steps": 4, "run.save_every": 2,
        "run.dir": folder / "run", "evaluation.samples": 1, "evaluation.k": "[1]", "evaluation.limit": 2,
    }  # fmt: skip
    done = strop("train", mixed(folder), *(f"{key}={value}" for key, value in settings.items()))
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.mark.train(40)
def test_each_set_has_its_share_its_rubric_and_its_stop_strings(run: Path) -> None:
    recipe = load_recipe([run / "recipe.yaml"])
    sets = {one.name: one for one in task_sets(recipe)}
    groups = [group for step in range(1, 5) for group in RunFolder.read(run).iter_groups(step)]
    assert len(groups) == 20
    weights = {name: one.weight_at(1) for name, one in sets.items()}
    for name, weight in weights.items():
        played = [group for group in groups if group.task_set == name]
        assert abs(len(played) - 20 * weight / sum(weights.values())) < 1
        ids = {task.id for task in sets[name].train}
        assert all(group.task_id in ids for group in played)
    foreign = 0
    for rollout, name in ((rollout, group.task_set) for group in groups for rollout in group.rollouts):
        one = sets[name].recipe
        assert [score.name for score in rollout.scores] == [reward.name for reward in one.rewards]
        (turn,) = rollout.turns
        text, stop = turn.completion.text, one.sampling.stop
        assert not any(word in text for word in stop)
        foreign += any(word in text for other in sets.values() for word in other.recipe.sampling.stop)
        if turn.completion.finish_reason == "length":
            assert len(turn.completion.token_ids) == (12 if name == "programs" else 16)
    assert foreign > 10
    lines = metrics(run)
    assert all(line["task_sets"].keys() <= sets.keys() and len(line["task_sets"]) > 1 for line in lines)
    summary = json.loads((run / "summary.json").read_text())["evaluation"]
    assert summary["task_sets"].keys() == sets.keys()
    assert sum(part["tasks"] for part in summary["task_sets"].values()) == summary["after"]["tasks"]


@pytest.mark.train(20)
def test_a_mixture_resumes_to_the_same_bits(run: Path, tmp_path: Path) -> None:
    again = tmp_path / "run"
    shutil.copytree(run, again)
    stopped_after(again, 2)
    done = strop("train", "--resume", again)
    assert done.returncode == 0 and "checkpoint-2" in done.stdout, done
    assert metrics(again) == metrics(run)
    assert weights(again) == weights(run)


def test_what_two_sets_must_not_share(tmp_path: Path) -> None:
    one = {"name": "a", "source": "python-functions", "levels": [1]}
    path = tmp_path / "recipe.yaml"
    path.write_text(json.dumps({"tasks": [one, {**one, "name": "b", "style": "continue"}]}))
    with pytest.raises(UserError, match="in two task sets, a and b"):
        task_sets(load_recipe([path]))
    said: list[str] = []
    rust = {"name": "rust", "weight": 0.5, "source": "rust-functions", "levels": [1]}
    path.write_text(json.dumps({"tasks": [one, rust]}))
    python, other = task_sets(load_recipe([path]), said.append)
    assert said and all("near-duplicates of held-out tasks" in line for line in said)
    alone = task_sets(load_recipe([], ["tasks.source=python-functions", "tasks.levels=[1]"]))[0]
    assert len(python.train) < len(alone.train) and python.held_out == alone.held_out
    held_out = {task.statement for one in (python, other) for task in one.held_out}
    assert not held_out & {task.statement for one in (python, other) for task in one.train}
