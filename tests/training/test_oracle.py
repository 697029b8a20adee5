"""One batch through the trainer and through examples/minimal_grpo.py: the same loss and gradients."""

import copy
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from strop.config.load import load_recipe
from strop.config.run_stages import stages_of
from strop.policies.loading import load_model, load_tokenizer
from strop.training.setup import grpo_arguments
from strop.training.trainer import StropTrainer

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


class Capture(TrainerCallback):
    """Keeps the gradients of the first step and the logged loss."""

    def __init__(self) -> None:
        self.gradients: dict[str, torch.Tensor] = {}
        self.loss = float("nan")

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        if not self.gradients:
            self.gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if "loss" in logs and self.loss != self.loss:
            self.loss = float(logs["loss"])


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
        ["grpo.loss=grpo", "grpo.beta=0.04", "grpo.epsilon_high=0.2", "grpo.scale_rewards=group"],
        {"beta": 0.04, "clip_high": 0.2, "mean_over": "answers"},
    ),
    "clip-higher": (
        ["grpo.loss=dapo", "grpo.beta=0", "grpo.epsilon_high=0.28"],
        {"beta": 0.0, "clip_high": 0.28, "mean_over": "tokens"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shared_prefix", [True, False])
@pytest.mark.parametrize("micro_batch", [8, 4])
def test_trainer_equals_the_equations(
    tiny_model: Path, tmp_path: Path, form: str, shared_prefix: bool, micro_batch: int
) -> None:
    oracle = minimal_grpo()
    overrides, options = FORMS[form]
    recipe = load_recipe(
        [],
        [
            *overrides, "model.compute_dtype=float32", "model.gradient_checkpointing=false", "grpo.group_size=4",
            "grpo.tasks_per_step=2", f"optim.micro_batch={micro_batch}", "optim.steps=1", "optim.max_grad_norm=1e9",
            "sampling.max_tokens=6",
        ],
    )  # fmt: skip
    (stage,) = stages_of(recipe)
    model = load_model(str(tiny_model), device="cpu")
    reference = perturbed(model)
    ours = copy.deepcopy(model)
    capture = Capture()
    from datasets import Dataset

    trainer = StropTrainer(
        model=model,
        args=grpo_arguments(stage, tmp_path),
        train_dataset=Dataset.from_list([{"prompt": ""}] * 8),
        processing_class=load_tokenizer(str(tiny_model)),
        feed=lambda step: batch(),
        on_advantages=lambda step, advantages: None,
        state=dict,
        stage=stage,
        shared_prefix=shared_prefix,
        callbacks=[capture],
    )
    if recipe.grpo.beta:
        trainer.ref_model.load_state_dict(reference.state_dict())
    trainer.train()

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
    assert capture.loss == pytest.approx(expected.item(), abs=1e-5)
    assert capture.gradients
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(capture.gradients[name], parameter.grad, atol=1e-5, rtol=1e-5)
    assert max(g.abs().max() for g in capture.gradients.values()) > 1e-3


def test_minibatches_are_updates_of_their_own(tiny_model: Path, tmp_path: Path) -> None:
    """Two updates: the first is the oracle's on the first group, the second on the other group and moved weights."""
    oracle = minimal_grpo()
    recipe = load_recipe(
        [],
        [
            *FORMS["clip-higher"][0], "model.compute_dtype=float32", "model.gradient_checkpointing=false",
            "grpo.group_size=4", "grpo.tasks_per_step=2", "grpo.minibatches=2", "optim.micro_batch=2", "optim.steps=1",
            "optim.max_grad_norm=1e9", "sampling.max_tokens=6", "optim.learning_rate=0.01",
        ],
    )  # fmt: skip
    (stage,) = stages_of(recipe)
    assert stage.last_update == 2
    model = load_model(str(tiny_model), device="cpu")
    ours = copy.deepcopy(model)
    seen: list[tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]] = []
    played: list[int] = []

    class Watch(TrainerCallback):
        def on_pre_optimizer_step(
            self, args: Any, state: Any, control: Any, model: Any = None, **_: Any
        ) -> None:
            named = list(model.named_parameters())
            seen.append(({n: p.grad.clone() for n, p in named}, {n: p.detach().clone() for n, p in named}))

    def feed(step: int) -> dict[str, Any]:
        played.append(step)
        return batch()

    from datasets import Dataset

    trainer = StropTrainer(
        model=model,
        args=grpo_arguments(stage, tmp_path),
        train_dataset=Dataset.from_list([{"prompt": ""}] * 4),
        processing_class=load_tokenizer(str(tiny_model)),
        feed=feed,
        on_advantages=lambda step, advantages: None,
        state=dict,
        stage=stage,
        shared_prefix=False,
        callbacks=[Watch()],
    )
    trainer.train()
    assert played == [0] and len(seen) == 2

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
        loss = oracle.loss(
            oracle.token_logps(ours, prompts[rows], completions[rows], mask[rows]),
            completion_mask[rows].float(),
            advantages[rows],
            old_logps_BT=sampled[rows],
            **FORMS["clip-higher"][1],
        )
        # The mean over a minibatch's tokens, as a share of half of the step's tokens.
        (loss * completion_mask[rows].sum() / (completion_mask.sum() / 2)).backward()
        for name, parameter in ours.named_parameters():
            torch.testing.assert_close(gradients[name], parameter.grad, atol=1e-5, rtol=1e-4)
    assert max(g.abs().max() for g in seen[1][0].values()) > 1e-3
