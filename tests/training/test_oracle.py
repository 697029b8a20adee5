"""One batch through the learner and through examples/minimal_grpo.py: the same loss and gradients."""

import copy
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from strop.config.load import load_recipe
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.policies.loading import load_model
from strop.training.backend import TrainingBackend
from strop.training.batch import Advantages, batch_of
from strop.training.learner import Learner
from strop.training.ranks import Ranks
from strop_verify.core.rollout import Batch, Completion, Group, Rollout, Turn

PROMPTS = [[5, 17, 90], [400, 3, 8, 21, 77]]
GROUP = 4


def minimal_grpo() -> Any:
    path = Path(__file__).parents[2] / "examples" / "minimal_grpo.py"
    spec = importlib.util.spec_from_file_location("minimal_grpo", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def batch() -> dict[str, Any]:
    """8 answers of 2 groups with different lengths and rewards."""
    rng = torch.Generator().manual_seed(1)
    completions = [torch.randint(3, 900, (n,), generator=rng).tolist() for n in (3, 6, 1, 4, 5, 2, 6, 3)]
    return {
        "prompt_ids": [PROMPTS[i // GROUP] for i in range(8)],
        "completion_ids": completions,
        "logprobs": [[0.0] * len(c) for c in completions],
        "env_mask": [[1] * len(c) for c in completions],
        "strop_reward": [1.0, 0.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.0],
    }


def batch_for(recipe: Recipe) -> Batch:
    """The same as the learner takes it."""
    data = batch()
    rollouts = [
        Rollout(
            task_id=str(row // GROUP),
            index=row % GROUP,
            seed=0,
            prompt="",
            turns=[
                Turn(
                    prompt_ids=data["prompt_ids"][row],
                    completion=Completion(
                        token_ids=ids, logprobs=[0.0] * len(ids), text="", finish_reason="eos"
                    ),
                )
            ],
            reward=data["strop_reward"][row],
        )
        for row, ids in enumerate(data["completion_ids"])
    ]
    groups = [Group(task_id=str(n), step=1, rollouts=rollouts[n * GROUP : (n + 1) * GROUP]) for n in (0, 1)]
    return batch_of(Advantages(recipe.grpo.advantage).of(groups), recipe.grpo)


Seen = list[tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]]


@contextmanager
def watching(model: Any) -> Iterator[Seen]:
    """(gradients, weights) before each step of the optimiser."""
    seen: Seen = []

    def note(*_: Any) -> None:
        named = list(model.named_parameters())
        seen.append(({n: p.grad.clone() for n, p in named}, {n: p.detach().clone() for n, p in named}))

    handle = register_optimizer_step_pre_hook(note)
    try:
        yield seen
    finally:
        handle.remove()


def perturbed(model: Any) -> Any:
    """A reference model that differs, so that the KL term is not zero."""
    other = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for p in other.parameters():
            p.add_(torch.randn(p.shape, generator=generator) * 0.02)
    return other


FORMS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "classic": (
        ["grpo.loss.type=grpo", "grpo.beta=0.04", "grpo.advantage.scale=group"],
        {"beta": 0.04, "clip_high": 0.2, "mean_over": "answers"},
    ),
    "clip-higher": (
        ["grpo.loss.type=dapo", "grpo.beta=0", "grpo.loss.epsilon_high=0.28"],
        {"beta": 0.0, "clip_high": 0.28, "mean_over": "tokens"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shared_prefix", [False, True])
@pytest.mark.parametrize("limit", [1000, 14, 1])
def test_learner_equals_the_equations(
    tiny_model: Path, tmp_path: Path, form: str, shared_prefix: bool, limit: int
) -> None:
    oracle = minimal_grpo()
    overrides, options = FORMS[form]
    model = load_model(str(tiny_model), device="cpu")
    reference = perturbed(model)
    reference.save_pretrained(tmp_path)
    recipe = load_recipe(
        [],
        [
            *overrides, "model.compute_dtype=float32", "model.dtype=float32", "model.gradient_checkpointing=false",
            "grpo.group_size=4", "grpo.tasks_per_step=2", f"optim.micro_batch_tokens={limit}", "optim.steps=1",
            "optim.max_grad_norm=1e9", "sampling.max_tokens=6", f"optim.shared_prefix={shared_prefix}",
            f"model.name={tmp_path}",
        ],
    )  # fmt: skip
    (stage,) = stages_of(recipe)
    ours = copy.deepcopy(model)
    learner = Learner(TrainingBackend(model, recipe, Ranks()), recipe)
    with watching(model) as seen:
        metrics = learner.update(batch_for(recipe), stage, 0)
    ((gradients, _),) = seen

    data = batch()
    prompts, prompt_mask = oracle.pad(data["prompt_ids"], left=True)
    completions, completion_mask = oracle.pad(data["completion_ids"], left=False)
    mask = torch.cat([prompt_mask, completion_mask], dim=1)
    with torch.no_grad():
        ref = oracle.token_logps(reference, prompts, completions, mask) if recipe.grpo.beta else None
    expected = oracle.loss(
        oracle.token_logps(ours, prompts, completions, mask),
        completion_mask.float(),
        oracle.advantages(torch.tensor(data["strop_reward"]), GROUP),
        ref_logps_BT=ref,
        **options,
    )
    expected.backward()
    assert metrics["loss"] == pytest.approx(expected.item(), abs=1e-5)
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad, atol=1e-5, rtol=1e-5)
    assert max(g.abs().max() for g in gradients.values()) > 1e-3


def test_minibatches_are_updates_of_their_own(tiny_model: Path) -> None:
    """Two updates: the first is the oracle's on the first group, the second on the other group and moved weights."""
    oracle = minimal_grpo()
    recipe = load_recipe(
        [],
        [
            *FORMS["clip-higher"][0], "model.compute_dtype=float32", "model.gradient_checkpointing=false",
            "grpo.group_size=4", "grpo.tasks_per_step=2", "grpo.minibatches=2", "optim.micro_batch_tokens=14",
            "optim.steps=1", "optim.max_grad_norm=1e9", "sampling.max_tokens=6", "optim.learning_rate=0.01",
        ],
    )  # fmt: skip
    (stage,) = stages_of(recipe)
    assert stage.last_update == 2
    model = load_model(str(tiny_model), device="cpu")
    ours = copy.deepcopy(model)
    learner = Learner(TrainingBackend(model, recipe, Ranks()), recipe)
    with watching(model) as seen:
        learner.update(batch_for(recipe), stage, 0)
    assert len(seen) == 2

    data = batch()
    prompts, prompt_mask = oracle.pad(data["prompt_ids"], left=True)
    completions, completion_mask = oracle.pad(data["completion_ids"], left=False)
    mask = torch.cat([prompt_mask, completion_mask], dim=1)
    advantages = oracle.advantages(torch.tensor(data["strop_reward"]), GROUP)
    with torch.no_grad():
        sampled = oracle.token_logps(ours, prompts, completions, mask)
    for number, (gradients, weights) in enumerate(seen):
        rows = slice(number * GROUP, (number + 1) * GROUP)
        ours.load_state_dict(weights, strict=False)
        ours.zero_grad()
        oracle.loss(
            oracle.token_logps(ours, prompts[rows], completions[rows], mask[rows]),
            completion_mask[rows].float(),
            advantages[rows],
            old_logps_BT=sampled[rows],
            **FORMS["clip-higher"][1],
        ).backward()
        for name, parameter in ours.named_parameters():
            torch.testing.assert_close(gradients[name], parameter.grad, atol=1e-5, rtol=1e-4)
    assert max(g.abs().max() for g in seen[1][0].values()) > 1e-3
