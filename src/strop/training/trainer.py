"""TRL's GRPOTrainer, fed by our rollouts.

What differs from TRL, and why:

1. Rollouts come from `feed` through TRL's rollout hook, and may belong to other tasks than those that TRL requests.
2. Micro-batches keep groups together (TRL shuffles rows), so that a group's prompt is computed once
   (`shared_prefix`). The gradient of a step is the same: it is a sum over rows.
3. Rows whose advantage is zero are not computed when nothing else (KL, entropy bonus) gives them a gradient.
4. A checkpoint is marked complete when everything is on disk, and holds the state of the task stream.
5. Each stage of the run has its own trainer, which continues from the checkpoint of the previous one. The
   learning-rate schedule is that of the whole run, with the stage's peak.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.optim.lr_scheduler import LambdaLR
from transformers import TrainerCallback
from trl import GRPOTrainer
from trl.trainer.utils import split_tensor_dict

from strop.config.run_stages import RunStage
from strop.policies.attention import attend_in_groups
from strop.training import checkpoints
from strop.training.logps import check_head, shared_prefix_logps

Feed = Callable[[int], dict[str, Any]]
"""step -> the rollout hook's fields: prompt_ids, completion_ids, logprobs, env_mask, strop_reward."""


def given_reward(
    prompts: list[Any], completions: list[Any], strop_reward: list[float | None], **_: Any
) -> Any:
    """Hands TRL the rewards that came with the rollouts."""
    return strop_reward


class StropTrainer(GRPOTrainer):
    """See the module's docstring. `feed` plays a step; `on_advantages` gets its number and its rows' advantages."""

    def __init__(
        self,
        *arguments: Any,
        feed: Feed,
        on_advantages: Callable[[int, list[float]], None],
        state: Callable[[], dict[str, Any]],
        stage: RunStage,
        shared_prefix: bool,
        **options: Any,
    ) -> None:
        self._feed = feed
        self._on_advantages = on_advantages
        self._state = state
        self._stage = stage
        self._shared_prefix = shared_prefix
        self._wanted: list[int] | None = None
        self._buffered_inputs: Any = None
        super().__init__(*arguments, reward_funcs=given_reward, rollout_func=self._rollouts, **options)
        if shared_prefix:
            for model in filter(None, (self.model, self.ref_model)):
                check_head(self.accelerator.unwrap_model(model))
                attend_in_groups(self.accelerator.unwrap_model(model))

    def rollout_step(self) -> int:
        """Which batch of rollouts the optimiser is at, from 0."""
        return self._stage.step_of(int(self.state.global_step))[0]

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """The schedule over the whole run: this trainer's steps may be those of a stage."""
        return super().create_scheduler(self._stage.all_updates, optimizer)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        scheduler, rate = self.lr_scheduler, self.args.learning_rate
        if checkpoint is None or not isinstance(scheduler, LambdaLR) or set(scheduler.base_lrs) == {rate}:
            return
        scheduler.base_lrs = [rate] * len(scheduler.base_lrs)
        for group, shape in zip(scheduler.optimizer.param_groups, scheduler.lr_lambdas, strict=True):
            group["initial_lr"], group["lr"] = rate, rate * shape(scheduler.last_epoch)
        scheduler._last_lr = [group["lr"] for group in scheduler.optimizer.param_groups]

    def _rollouts(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        return self._feed(self.rollout_step())

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        if not self.model.training:
            return super()._prepare_inputs(generation_batch)
        every = self.args.steps_per_generation * self.num_iterations
        if self._step % every == 0 or self._buffered_inputs is None:
            batch = self._generate_and_score_completions(generation_batch)
            self._on_advantages(self.rollout_step(), batch["advantages"].tolist())
            self._buffered_inputs = split_tensor_dict(batch, self.args.steps_per_generation)
        return self._buffered_inputs[self._step % self.args.steps_per_generation]

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        silent = self.beta == 0.0 and not self._entropy_bonus_enabled and self.accelerator.num_processes == 1
        if silent:
            self._wanted = torch.nonzero(inputs["advantages"]).flatten().tolist()
        try:
            return super()._compute_loss(model, inputs)
        finally:
            self._wanted = None

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int, *rest: Any, **options: Any
    ) -> Any:
        if not self._shared_prefix:
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, *rest, **options
            )
        size = options.get("batch_size") or len(input_ids)
        logps, entropies = [], []
        for start in range(0, len(input_ids), size):
            part = slice(start, start + size)
            with self.accelerator.autocast():
                values = shared_prefix_logps(
                    model,
                    input_ids[part],
                    attention_mask[part],
                    logits_to_keep,
                    head=self.accelerator.unwrap_model(model).get_output_embeddings(),
                    rows=self._wanted,
                    temperature=self.temperature,
                )
            logps.append(values[0])
            entropies.append(values[1])
        return torch.cat(logps), torch.cat(entropies), None

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.args.should_save:
            folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
            checkpoints.complete(folder, self._state())


class StepWatch(TrainerCallback):
    """Tells the run when an optimiser step is done, with what TRL logged about it, and when to save."""

    def __init__(self, on_log: Callable[[int, dict[str, Any]], None], saves: Callable[[int], bool]) -> None:
        self._on_log, self._saves = on_log, saves

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Called by transformers after each optimiser step, with how many there were."""
        if self._saves(int(state.global_step)):
            control.should_save = True

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any
    ) -> None:
        """Called by transformers after each logged step."""
        if logs and "loss" in logs:
            self._on_log(int(state.global_step), dict(logs))
