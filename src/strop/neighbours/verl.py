"""Export to verl 0.9: `strop export RECIPE --verl DIR` writes tasks, a reward function and the recipe's settings.

    train.parquet, test.parquet   prompts; the ground truth is the task, so Strop can judge answers by any check
    reward.py                     verl's custom reward function: the recipe's rewards on Strop's verdicts
    settings.txt                  one setting of verl's `ppo_trainer` (Hydra's overrides) per line
    train.sh                      starts verl with them
    README.md                     settings that verl lacks

verl scores each answer separately, so a reward over a whole group is refused.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from strop.config.algorithms import ClipRange
from strop.config.schema import Recipe
from strop.neighbours.trainer_folder import known_form, scores_of, weights_of, write_folder
from strop_verify.core.task import Task

ACTOR = "actor_rollout_ref.actor"
_LOSSES = {"grpo": ("vanilla", "seq-mean-token-mean"), "dapo": ("vanilla", "token-mean"),
           "dr-grpo": ("vanilla", "seq-mean-token-sum-norm"), "gspo": ("gspo", "seq-mean-token-mean")}  # fmt: skip
"""verl's (loss_mode, loss_agg_mode)."""
_REWARD = '''"""verl's reward function: Strop's verdicts. Written by `strop export --verl`."""

from strop.neighbours.verl import reward_of

compute_score = reward_of({rewards})
'''
_START = """#!/bin/sh
# bash train.sh [OVERRIDE...]: your overrides come last, so they take precedence.
cd "$(dirname "$0")" || exit
here=$(printf %s "$PWD" | sed "s/'/\\\\\\\\'/g")
set -- data.train_files="'$here/train.parquet'" data.val_files="'$here/test.parquet'" \\
    reward.custom_reward_function.path="'$here/reward.py'" "$@"
while IFS= read -r setting; do set -- "$setting" "$@"; done < settings.txt
exec python3 -m verl.trainer.main_ppo "$@"
"""
_README = """# {name} for verl

Written by `strop export {name} --verl`, for verl 0.9 with Strop installed beside it. `bash train.sh` starts it; it
takes overrides, such as `trainer.n_gpus_per_node=1`.

{tasks} training tasks, {held_out} held out. Answers are judged in Strop's jail. Settings that verl lacks or handles
differently:

{left}
"""


def reward_of(weights: Mapping[str, float]) -> Callable[..., dict[str, float]]:
    """verl's `compute_score(data_source, solution_str, ground_truth, extra_info)`: the weighted sum as `score`, and
    each reward by name. `graded` is 0 for an answer on which the grader failed; its score is then 0.
    """
    scores = scores_of(weights)

    def compute_score(
        data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None, **_: Any
    ) -> dict[str, float]:
        found, told = scores(solution_str, ground_truth)
        return {**told, "score": found or 0.0, "graded": float(found is not None)}

    return compute_score


def settings_of(recipe: Recipe) -> tuple[dict[str, Any], list[str]]:
    """(verl's settings, lines about settings that are not carried over). Raises UserError for settings that verl
    cannot support."""
    grpo, optim, sampling, model = recipe.grpo, recipe.optim, recipe.sampling, recipe.model
    known_form(recipe, "verl", [*_LOSSES], ["group", "leave-one-out"])
    mode, average = _LOSSES[grpo.loss.type]
    scale = getattr(grpo.advantage, "scale", "none")
    found: dict[str, Any] = {
        "algorithm.adv_estimator": "grpo" if grpo.advantage.type == "group" else "rloo",
        "algorithm.norm_adv_by_std_in_grpo": scale != "none",
        "data.train_files": "train.parquet",
        "data.val_files": "test.parquet",
        "data.train_batch_size": grpo.tasks_per_step,
        "data.max_prompt_length": recipe.task_set.max_prompt_tokens,
        "data.max_response_length": sampling.max_tokens,
        "data.seed": recipe.seed,
        "actor_rollout_ref.model.path": model.name,
        "actor_rollout_ref.model.lora_rank": model.lora.rank,
        "actor_rollout_ref.model.enable_gradient_checkpointing": model.gradient_checkpointing,
        "actor_rollout_ref.rollout.name": "vllm",
        "actor_rollout_ref.rollout.n": grpo.group_size,
        "actor_rollout_ref.rollout.temperature": sampling.temperature,
        "actor_rollout_ref.rollout.top_p": sampling.top_p,
        f"{ACTOR}.optim.lr": optim.learning_rate,
        f"{ACTOR}.optim.betas": f"[{optim.betas[0]},{optim.betas[1]}]",
        f"{ACTOR}.optim.weight_decay": optim.weight_decay,
        f"{ACTOR}.optim.lr_warmup_steps": optim.warmup_steps,
        f"{ACTOR}.grad_clip": optim.max_grad_norm,
        f"{ACTOR}.ppo_mini_batch_size": max(1, grpo.tasks_per_step // grpo.minibatches),
        f"{ACTOR}.ppo_epochs": grpo.iterations,
        f"{ACTOR}.policy_loss.loss_mode": mode,
        f"{ACTOR}.loss_agg_mode": average,
        f"{ACTOR}.clip_ratio_c": 10000.0,
        f"{ACTOR}.entropy_coeff": 0,
        f"{ACTOR}.use_kl_loss": grpo.beta > 0,
        f"{ACTOR}.kl_loss_coef": grpo.beta,
        f"{ACTOR}.use_dynamic_bsz": True,
        f"{ACTOR}.ppo_max_token_len_per_gpu": max(
            optim.micro_batch_tokens, recipe.task_set.max_prompt_tokens + sampling.max_tokens
        ),
        "reward.custom_reward_function.path": "reward.py",
        "trainer.total_training_steps": optim.steps,
        "trainer.project_name": "strop",
        "trainer.experiment_name": recipe.run.name,
        "trainer.save_freq": recipe.run.save_every,
        "trainer.logger": "[console]",
    }
    if isinstance(grpo.loss, ClipRange):
        found[f"{ACTOR}.clip_ratio_low"] = grpo.loss.epsilon_low
        found[f"{ACTOR}.clip_ratio_high"] = grpo.loss.epsilon_high
    if grpo.loss.type == "dr-grpo":
        found[f"{ACTOR}.loss_scale_factor"] = sampling.max_tokens
    if model.lora.rank:
        found["actor_rollout_ref.model.lora_alpha"] = model.lora.alpha
    return found, [*_left(recipe, scale)]


def _left(recipe: Recipe, scale: str) -> Iterator[str]:
    grpo = recipe.grpo
    yield "Strop leaves out an answer on which the grader fails; verl scores it 0 (`graded` counts these)."
    if grpo.mask_truncated:
        yield "grpo.mask_truncated: truncated answers count with their reward in verl."
    if grpo.refill:
        yield "grpo.refill: groups without signal are not replaced; `algorithm.filter_groups.enable=true` filters them."
    if scale == "batch":
        yield "grpo.advantage.scale=batch: verl divides by the standard deviation of the group."
    if recipe.sampling.stop:
        yield f"sampling.stop={recipe.sampling.stop}: answers end at the model's own end token."
    if grpo.teacher:
        yield "grpo.teacher: see verl's section `distillation`."
    if grpo.max_staleness:
        yield "grpo.max_staleness: see `trainer.v1.sampler.max_off_policy_threshold`."
    if recipe.sft.warm_start:
        yield "sft.warm_start: train it here, and set `actor_rollout_ref.model.path` to the run's folder `warm`."
    if recipe.optim.schedule != "constant":
        yield f"optim.schedule={recipe.optim.schedule}: the rate is constant."
    yield "evaluation: greedy answers and intervals are Strop's; `strop eval` takes the folder that verl saves."


def write_verl(recipe: Recipe, folder: Path) -> list[str]:
    """Writes the folder. Returns lines about what is not carried over. Raises UserError, also if the folder is not
    empty."""
    settings, left = settings_of(recipe)
    lines = "".join(
        f"{key}={str(value).lower() if isinstance(value, bool) else value}\n"
        for key, value in settings.items()
    )
    files = {
        "settings.txt": lines,
        "reward.py": _REWARD.format(rewards=json.dumps(weights_of(recipe))),
        "train.sh": _START,
        "README.md": _README,
    }
    write_folder(recipe, folder, ("train", "test"), _row, files, left)
    return left


def _row(task: Task, messages: list[dict[str, Any]], split: str) -> dict[str, Any]:
    return {
        "data_source": "strop",
        "prompt": messages,
        "ability": "code",
        "reward_model": {"style": "rule", "ground_truth": task.model_dump_json()},
        "extra_info": {"split": split, "index": task.id},
    }
