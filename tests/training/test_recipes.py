"""Every shipped recipe runs: two steps with a tiny model in place of the recipe's own."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import next_edits
from tests.warm import strop

from strop.config.algorithms import DapoLoss
from strop.config.load import load_recipe
from strop.config.run_stages import stages_of
from strop.tasks.task_sets import each, extra_tasks, split_tasks

from .test_reward_model import preferences

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "src/strop/recipes").glob("*.yaml"))
JUDGES = [path for path in RECIPES if "\nreward_model:" in path.read_text()]
"""Recipes of `strop train-reward`."""


@pytest.fixture(scope="session")
def bugs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some tasks of repair."""
    path = tmp_path_factory.mktemp("bugs") / "bugs.jsonl"
    done = strop("build", "bugs", "python-functions", "-o", str(path), "--limit", "40", "--per-task", "1")
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="session")
def searches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some tasks of search, of a repository with a file for each word."""
    folder = tmp_path_factory.mktemp("searches") / "shop"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for step in ("0", "1"):
        for word in ("apples", "bread", "cheese", "dates", "eggs"):
            (folder / f"{word[0]}.py").write_text(f"def {word}(count):\n    return count * {step}\n")
            subprocess.run([*git, "add", "-A"], check=True)
            subprocess.run([*git, "commit", "-qm", f"Change the price of {word} to {step}"], check=True)
    path = folder.with_name("search.jsonl")
    done = strop("build", "retrieval", str(folder), "-o", str(path), "--newest-share", "0")
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="session")
def edits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some tasks of next edits."""
    return next_edits.built(tmp_path_factory.mktemp("edits"))


def made_small(recipe: Path, bugs: Path, searches: Path, edits: Path) -> list[str]:
    """What else a recipe needs to run anywhere: tasks in place of a file to be made, a step for each stage."""
    settings = load_recipe([recipe], [])
    words = []
    if (
        recipe.stem.startswith(("repair-", "implement-", "infill-", "histories-"))
        or recipe.stem == "swe-rl-70b"
    ):
        words += [f"tasks.source={bugs}"]
    elif settings.tasks.environment.type == "search":
        words += [f"tasks.source={searches}"]
    elif settings.tasks.environment.type == "next-edit":
        words += [f"tasks.source={edits}"]
    elif settings.tasks.source.endswith(".jsonl") or settings.tasks.source.startswith(
        ("code-contests:", "mbpp:")
    ):
        words += ["tasks.source=python-functions"]
    if settings.grpo.minibatches > 2:
        words += ["grpo.minibatches=2"]
    if settings.sft.demos:
        words += ["sft.demos=null"]
    if settings.tasks.environment.type == "workspace":
        words += ["tasks.environment.turns=2"]
    if settings.stages:
        assert len(settings.stages) == 2
        words += ["stages=[{until: 1, sampling: {max_tokens: 4}}, {until: 2, grpo: {tasks_per_step: 4}}]"]
    return words


def judged(recipe: Path, model: Path, folder: Path) -> list[str]:
    """Of a recipe with a learned reward that reward, of a tiny model."""
    names = [reward.name for reward in load_recipe([recipe]).rewards]
    if not any(name.startswith("model:") for name in names):
        return []
    trained_judge(model, folder, JUDGES[-1])
    ours = [
        "{name: 'model:judge'}" if name.startswith("model:") else f"{{name: {name}, weight: 0}}"
        for name in names
    ]
    rewards = ", ".join(ours)
    return [f"rewards=[{rewards}]"]


@pytest.mark.train(10)
@pytest.mark.parametrize("recipe", JUDGES, ids=lambda path: path.stem)
def test_two_updates_of_a_reward_model(recipe: Path, tiny_model: Path, tmp_path: Path) -> None:
    done = trained_judge(tiny_model, tmp_path, recipe)
    assert [line["steps"] for line in done] == [2, 2]


def trained_judge(model: Path, folder: Path, recipe: Path) -> list[dict[str, Any]]:
    pairs = preferences(folder / "pairs.jsonl")
    done = strop(
        "train-reward", str(recipe), f"model.name={model}", f"run.dir={folder}/judge", f"reward_model.pairs={pairs}",
        "reward_model.steps=2", "reward_model.batch_size=2", "reward_model.warmup_steps=0", "evaluation.bootstrap=100",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "judge" / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.train(30)
@pytest.mark.parametrize("recipe", sorted({*RECIPES} - {*JUDGES}), ids=lambda path: path.stem)
def test_two_steps(
    recipe: Path,
    tiny_model: Path,
    bugs: Path,
    searches: Path,
    edits: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # what a recipe names is found from any folder
    done = strop(
        "train", str(recipe), f"model.name={tiny_model}", f"run.dir={tmp_path}/run", "policy.engine=transformers",
        "optim.steps=2", "grpo.tasks_per_step=2", "grpo.group_size=4", "optim.micro_batch_tokens=64",
        "sampling.max_tokens=8",
        "tasks.limit=30", "evaluation.limit=3", "evaluation.extra=[]", "optim.warmup_steps=0", "sft.steps=1",
        *made_small(recipe, bugs, searches, edits), *judged(recipe, tiny_model, tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2]
    if load_recipe([recipe], []).stages:
        assert [line["recipe_stage"] for line in lines] == [1, 2]
        assert lines[0]["completion_tokens"] <= 4 and lines[1]["rollouts"] == 16
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["steps"] == 2


@pytest.mark.parametrize("name", ["repair-small", "repair-medium", "repair-large"])
def test_the_published_mixture_of_repair(name: str) -> None:
    recipe = ROOT / "src/strop/recipes" / f"{name}.yaml"
    ours, theirs = (
        load_recipe([recipe], []),
        load_recipe([recipe, ROOT / "src/strop/recipes/rubrics/repair-published.yaml"], []),
    )
    weights = [0.1, 0.2, 0.3, 0.4]
    assert (
        [r.weight for r in ours.rewards if r.weight]
        == [r.weight for r in theirs.rewards if r.weight]
        == weights
    )
    assert [r.name.removeprefix("published_") for r in theirs.rewards if r.weight] == [
        "partial_reasoning", "strict_reasoning", "sr_diff_format", "sr_diff_similarity"
    ]  # fmt: skip
    grpo, optim = ours.grpo, ours.optim
    assert (grpo.group_size, grpo.beta, grpo.advantage.scale) == (4, 0.02, "none")
    assert (optim.learning_rate, optim.max_grad_norm, optim.warmup_steps / optim.steps) == (5e-6, 0.1, 0.1)
    assert (ours.tasks.max_prompt_tokens, ours.sampling.max_tokens) == (512, 256)
    assert (ours.model.lora.rank, ours.model.lora.alpha) == (32, 64)


@pytest.mark.parametrize("overlay", ["execution", "similarity"])
def test_what_repair_is_paid_for(overlay: str) -> None:
    recipe, rubric = (
        ROOT / "src/strop/recipes/repair-laptop.yaml",
        ROOT / f"src/strop/recipes/rubrics/repair-{overlay}.yaml",
    )
    plain, merged = load_recipe([recipe], []), load_recipe([recipe, rubric], [])
    paid = {"execution": "passed", "similarity": "edit_similarity"}[overlay]
    assert {r.name for r in merged.rewards if r.weight} == {paid}
    assert merged.model_copy(update={"rewards": plain.rewards}) == plain


def test_the_published_schedule() -> None:
    stages = stages_of(load_recipe([ROOT / "src/strop/recipes" / "competitive-14b.yaml"], []))
    assert [(s.steps_before, s.last_step) for s in stages] == [(0, 180), (180, 250)]
    assert [s.recipe.sampling.max_tokens for s in stages] == [16384, 32768]
    assert [s.recipe.grpo.tasks_per_step // s.recipe.grpo.minibatches for s in stages] == [16, 64]
    for recipe in (stage.recipe for stage in stages):
        grpo = recipe.grpo
        assert (grpo.loss, grpo.beta) == (DapoLoss(epsilon_low=0.2, epsilon_high=0.28), 0.0)
        assert grpo.mask_truncated and not grpo.refill and grpo.group_size == 8
        assert (recipe.sampling.temperature, recipe.tasks.max_tests) == (0.6, 15)
        assert (recipe.optim.learning_rate, recipe.optim.max_grad_norm) == (1e-6, 1.0)
        assert [(r.name, r.weight) for r in recipe.rewards if r.weight] == [("passed", 1.0)]


@pytest.mark.parametrize("name", ["rust-1.5b", "rust-3b"])
def test_recipes_that_train_on_own_tests_are_judged_by_hidden_ones_too(name: str) -> None:
    recipe = load_recipe([name], ["evaluation.limit=40"])
    ((_, held_out),) = [split_tasks(one) for one in each(recipe).values()]
    (extra,) = recipe.evaluation.extra
    hidden = extra_tasks(recipe, extra)
    assert [task.id for task in hidden] == [task.id for task in held_out] and len(hidden) == 40
    assert all(task.check.tests for task in hidden) and not any(task.check.tests for task in held_out)


@pytest.mark.parametrize(
    "overlay", sorted((ROOT / "src/strop/recipes" / "rubrics").glob("rust-*.yaml")), ids=lambda p: p.stem
)
@pytest.mark.parametrize(
    "recipe", sorted((ROOT / "src/strop/recipes").glob("rust-*.yaml")), ids=lambda path: path.stem
)
def test_a_rubric_lies_over_every_rust_recipe(recipe: Path, overlay: Path) -> None:
    merged = load_recipe([recipe, overlay], [])
    assert merged.tasks.answer == "function-and-tests" and merged.tasks.judge == "own"
    published = overlay.stem == "rust-published"
    assert (merged.sandbox.rust_verdict == "cargo") is published
    names = {reward.name for reward in merged.rewards if reward.weight}
    assert {"build", "clippy"} < names and any(n.startswith("published_") for n in names) is published
    assert sum(reward.weight for reward in merged.rewards) == 6.5


def test_the_share_of_tests_lies_over_the_competitive_laptop() -> None:
    recipe, overlay = (
        ROOT / "src/strop/recipes/competitive-laptop.yaml",
        ROOT / "src/strop/recipes/rubrics/competitive-fraction.yaml",
    )
    plain, merged = load_recipe([recipe], []), load_recipe([recipe, overlay], [])
    assert {r.name: r.weight for r in plain.rewards}["passed"] == 1.0
    assert {r.name: r.weight for r in merged.rewards} == {"tests": 1.0, "passed": 0.0}
    assert merged.model_copy(update={"rewards": plain.rewards}) == plain
