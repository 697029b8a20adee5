"""Every shipped recipe runs: two steps with a tiny model in place of the recipe's own."""

import json
from pathlib import Path

import pytest

from strop.config.load import load_recipe

from .conftest import strop

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "recipes").glob("*.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_two_steps(recipe: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = strop(
        "train", str(recipe), f"model.name={tiny_model}", f"run.dir={tmp_path}/run", "policy.engine=transformers",
        "optim.steps=2", "grpo.tasks_per_step=2", "grpo.group_size=4", "optim.micro_batch=4", "sampling.max_tokens=8",
        "tasks.limit=30", "evaluation.limit=3", "evaluation.extra=[]", "optim.warmup_steps=0", "sft.steps=1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 2
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["steps"] == 2


@pytest.mark.parametrize(
    "overlay", sorted((ROOT / "recipes" / "rubrics").glob("*.yaml")), ids=lambda p: p.stem
)
@pytest.mark.parametrize("recipe", sorted((ROOT / "recipes").glob("rust-*.yaml")), ids=lambda path: path.stem)
def test_a_rubric_lies_over_every_rust_recipe(recipe: Path, overlay: Path) -> None:
    merged = load_recipe([recipe, overlay], [])
    assert merged.tasks.answer == "function-and-tests" and merged.tasks.judge == "own"
    published = overlay.stem == "rust-published"
    assert (merged.sandbox.rust_verdict == "cargo") is published
    names = {reward.name for reward in merged.rewards if reward.weight}
    assert {"build", "clippy"} < names and any(n.startswith("published_") for n in names) is published
    assert sum(reward.weight for reward in merged.rewards) == 6.5
