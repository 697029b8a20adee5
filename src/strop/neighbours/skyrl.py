"""Export to SkyRL 0.4: `strop export RECIPE --skyrl DIR` writes tasks, an environment and the recipe's settings.

    train.parquet, validation.parquet   prompts; the ground truth is the task, so Strop can judge answers by any check
    train.py                            SkyRL's trainer with the environment `strop`: the recipe's rewards
    settings.txt                        one setting of SkyRL's `SkyRLTrainConfig` per line
    train.sh                            starts it with them
    README.md                           settings that SkyRL lacks

SkyRL scores each answer separately, so a reward over a whole group is refused.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from strop.config.algorithms import ClipRange
from strop.config.schema import Recipe
from strop.neighbours.trainer_folder import known_form, scores_of, weights_of, write_folder
from strop_verify.core.task import Task

_LOSSES = {"grpo": ("regular", "sequence_mean"), "dapo": ("regular", "token_mean"),
           "dr-grpo": ("regular", "seq_mean_token_sum_norm"), "gspo": ("gspo", "sequence_mean")}  # fmt: skip
"""SkyRL's (policy_loss_type, loss_reduction)."""
_TRAIN = '''"""SkyRL's trainer on Strop's verdicts. Written by `strop export --skyrl`."""

import sys

import ray
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.entrypoints.main_base import BasePPOExp, validate_cfg
from skyrl.train.utils import initialize_ray
from skyrl_gym.envs import register

REWARDS = {rewards}


@ray.remote(num_cpus=1)
def trained(config: SkyRLTrainConfig) -> None:
    register(id="strop", entry_point="strop.neighbours.skyrl:environment", kwargs={{"rewards": REWARDS}})
    BasePPOExp(config).run()


if __name__ == "__main__":
    config = SkyRLTrainConfig.from_cli_overrides(sys.argv[1:])
    validate_cfg(config)
    initialize_ray(config)
    ray.get(trained.remote(config))
'''
_START = """#!/bin/sh
# bash train.sh [OVERRIDE...]: your overrides come last, so they take precedence.
cd "$(dirname "$0")" || exit
set -- data.train_data="['$PWD/train.parquet']" data.val_data="['$PWD/validation.parquet']" "$@"
while IFS= read -r setting; do set -- "$setting" "$@"; done < settings.txt
exec python3 train.py "$@"
"""
_README = """# {name} for SkyRL

Written by `strop export {name} --skyrl`, for SkyRL 0.4 with Strop installed beside it. `bash train.sh` starts it; it
takes overrides, such as `trainer.placement.policy_num_gpus_per_node=4`.

{tasks} training tasks, {held_out} held out. Answers are judged in Strop's jail. Settings that SkyRL lacks or handles
differently:

{left}
"""


@cache
def _judged(rewards: tuple[tuple[str, float], ...]) -> Any:
    """An environment of skyrl-gym: one answer, and its reward."""
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

    scores = scores_of(dict(rewards))

    class Judged(BaseTextEnv):
        def __init__(self, line: str) -> None:
            super().__init__()
            self._line = line
            self._told: dict[str, float] = {}

        def step(self, action: str) -> Any:
            found, told = scores(action, self._line)
            self._told = {**told, "graded": float(found is not None)}
            return BaseTextEnvStepOutput(observations=[], reward=found or 0.0, done=True, metadata=self._told)

        def get_metrics(self) -> dict[str, float]:
            return self._told

    return Judged


def environment(
    env_config: Any = None, extras: Mapping[str, Any] | None = None, *, rewards: Mapping[str, float]
) -> Any:
    """An environment of skyrl-gym for the row `extras`: a step judges the answer, and its reward is the weighted sum.
    Each reward is reported by name; `graded` is 0 for an answer on which the grader failed, whose reward is then 0.
    """
    line = (extras or {})["reward_spec"]["ground_truth"]
    return _judged(tuple(rewards.items()))(line)


def settings_of(recipe: Recipe) -> tuple[dict[str, Any], list[str]]:
    """(SkyRL's settings, lines about settings that are not carried over). Raises UserError for settings that SkyRL
    cannot support."""
    known_form(recipe, "SkyRL", [*_LOSSES], ["group", "leave-one-out"])
    grpo, optim, sampling, model = recipe.grpo, recipe.optim, recipe.sampling, recipe.model
    kind, reduction = _LOSSES[grpo.loss.type]
    scale = getattr(grpo.advantage, "scale", "none")
    policy, algorithm = "trainer.policy", "trainer.algorithm"
    found: dict[str, Any] = {
        f"{policy}.model.path": model.name,
        f"{policy}.model.lora.rank": model.lora.rank,
        f"{policy}.optimizer_config.lr": optim.learning_rate,
        f"{policy}.optimizer_config.adam_betas": [*optim.betas],
        f"{policy}.optimizer_config.weight_decay": optim.weight_decay,
        f"{policy}.optimizer_config.max_grad_norm": optim.max_grad_norm,
        f"{policy}.optimizer_config.num_warmup_steps": optim.warmup_steps,
        f"{algorithm}.advantage_estimator": "grpo" if grpo.advantage.type == "group" else "rloo",
        f"{algorithm}.grpo_norm_by_std": scale != "none",
        f"{algorithm}.policy_loss_type": kind,
        f"{algorithm}.loss_reduction": reduction,
        f"{algorithm}.use_kl_loss": grpo.beta > 0,
        f"{algorithm}.kl_loss_coef": grpo.beta,
        f"{algorithm}.dynamic_sampling.type": "filter" if grpo.refill else None,
        "trainer.gradient_checkpointing": model.gradient_checkpointing,
        "trainer.seed": recipe.seed,
        "trainer.max_training_steps": optim.steps,
        "trainer.epochs": optim.steps,  # more than enough: the number of steps ends the run
        "trainer.train_batch_size": grpo.tasks_per_step,
        "trainer.policy_mini_batch_size": max(1, grpo.tasks_per_step // grpo.minibatches),
        "trainer.update_epochs_per_batch": grpo.iterations,
        "trainer.max_tokens_per_microbatch": max(
            optim.micro_batch_tokens, recipe.task_set.max_prompt_tokens + sampling.max_tokens
        ),
        "trainer.max_prompt_length": recipe.task_set.max_prompt_tokens,
        "trainer.ckpt_interval": recipe.run.save_every,
        "trainer.project_name": "strop",
        "trainer.run_name": recipe.run.name,
        "trainer.logger": "console",
        "generator.n_samples_per_prompt": grpo.group_size,
        "generator.apply_overlong_filtering": grpo.mask_truncated,
        "generator.sampling_params.max_generate_length": sampling.max_tokens,
        "generator.sampling_params.temperature": sampling.temperature,
        "generator.sampling_params.top_p": sampling.top_p,
        "environment.env_class": "strop",
    }
    if isinstance(grpo.loss, ClipRange):
        found[f"{algorithm}.eps_clip_low"] = grpo.loss.epsilon_low
        found[f"{algorithm}.eps_clip_high"] = grpo.loss.epsilon_high
    if reduction == "seq_mean_token_sum_norm":
        found[f"{algorithm}.max_seq_len"] = sampling.max_tokens
    if model.lora.rank:
        found[f"{policy}.model.lora.alpha"] = model.lora.alpha
    if sampling.stop:
        found["generator.sampling_params.stop"] = [*sampling.stop]
    return found, [*_left(recipe, scale)]


def _left(recipe: Recipe, scale: str) -> Iterator[str]:
    grpo = recipe.grpo
    yield "Strop leaves out an answer on which the grader fails; SkyRL scores it 0 (`graded` counts these)."
    if scale == "batch":
        yield "grpo.advantage.scale=batch: SkyRL divides by the standard deviation of the group."
    if grpo.teacher:
        yield "grpo.teacher: see SkyRL's example `on_policy_distillation`."
    if grpo.max_staleness:
        yield "grpo.max_staleness: see `trainer.fully_async.max_staleness_steps` and SkyRL's asynchronous entry point."
    if recipe.sft.warm_start:
        yield "sft.warm_start: train it here, and set `trainer.policy.model.path` to the run's folder `warm`."
    if recipe.optim.schedule != "constant":
        yield f"optim.schedule={recipe.optim.schedule}: see `trainer.policy.optimizer_config.scheduler`."
    yield "evaluation: SkyRL answers held-out tasks greedily; `strop eval` takes the model that it exports."


def write_skyrl(recipe: Recipe, folder: Path) -> list[str]:
    """Writes the folder. Returns lines about what is not carried over. Raises UserError, also if the folder is not
    empty."""
    settings, left = settings_of(recipe)
    files = {
        "settings.txt": "".join(f"{key}={json.dumps(value)}\n" for key, value in settings.items()),
        "train.py": _TRAIN.format(rewards=json.dumps(weights_of(recipe))),
        "train.sh": _START,
        "README.md": _README,
    }
    write_folder(recipe, folder, ("train", "validation"), _row, files, left)
    return left


def _row(task: Task, messages: list[dict[str, Any]], split: str) -> dict[str, Any]:
    return {
        "prompt": messages,
        "env_class": "strop",
        "reward_spec": {"method": "rule", "ground_truth": task.model_dump_json()},
        "extra_info": {"split": split, "index": task.id},
    }
