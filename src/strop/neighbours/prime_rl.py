"""Export to prime-rl: `strop export RECIPE --prime-rl DIR` writes tasks and the recipe's settings.

tasks/    a package for verifiers (`verifiers_package`), whose reward is a passed verdict
rl.toml   prime-rl's settings (its `RLConfig`)
README.md how to start it, and which settings have no counterpart in prime-rl
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from strop.config.schema import Recipe
from strop.neighbours.trainer_folder import checked_folder, single_turn
from strop.neighbours.verifiers_package import write_package
from strop.tasks.task_sets import split_tasks
from strop_verify.core.errors import UserError
from strop_verify.core.files import writing

_README = """# {name} for prime-rl

Written by `strop export {name} --prime-rl`, for prime-rl's configurations of August 2026. In prime-rl's environment,
with Strop installed too:

```
pip install -e tasks
uv run rl @ rl.toml
```

{count} training tasks. Answers are judged in Strop's jail. Settings that prime-rl lacks or handles differently:

{left}
"""


def settings_of(recipe: Recipe, package: str) -> tuple[dict[str, Any], list[str]]:
    """(prime-rl's settings as nested tables, lines about settings that are not carried over). Raises UserError for
    settings that prime-rl cannot support.
    """
    single_turn(recipe, "prime-rl")
    grpo, optim, sampling, model = recipe.grpo, recipe.optim, recipe.sampling, recipe.model
    if grpo.advantage.type != "group":
        raise UserError(f"grpo.advantage={grpo.advantage.type} has no counterpart in prime-rl; group has")
    longest = recipe.task_set.max_prompt_tokens + sampling.max_tokens
    extra: dict[str, Any] = {"top_p": sampling.top_p} if sampling.top_p < 1 else {}
    extra |= {"stop": sampling.stop} if sampling.stop else {}
    trainer: dict[str, Any] = {
        "optim": {
            "type": "adamw", "lr": optim.learning_rate, "weight_decay": optim.weight_decay, "betas1": optim.betas[0],
            "betas2": optim.betas[1], "max_norm": optim.max_grad_norm,
        },
        "loss": {"type": "default", "kl_tau": grpo.beta},
        "model": {"ac": {"freq": 1}} if model.gradient_checkpointing else {},
    }  # fmt: skip
    if model.lora.rank:
        trainer["model"]["lora"] = {"rank": model.lora.rank, "alpha": model.lora.alpha}
    agent = {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}}
    found = {
        "max_steps": optim.steps,
        "seq_len": longest,
        "model": {"name": model.name},
        "trainer": trainer,
        "orchestrator": {
            "algo": {"type": "grpo"},
            "batch_size": grpo.tasks_per_step * grpo.group_size,
            "group_size": grpo.group_size,
            "max_off_policy_steps": grpo.max_staleness,
            "renderer": {"name": "default"},
            "train": {
                "filter_zero_advantages": True,
                "sampling": {
                    "temperature": sampling.temperature, "max_completion_tokens": sampling.max_tokens,
                    "extra_body": extra,
                },
                "source": [{"name": package, "env": {"taskset": {"id": package}, "agent": agent}}],
            },
        },
        "ckpt": {"interval": recipe.run.save_every},
        "inference": {"vllm": {"max_model_len": longest}},
    }  # fmt: skip
    return found, [*_left(recipe)]


def _left(recipe: Recipe) -> Iterator[str]:
    grpo = recipe.grpo
    yield (
        f"grpo.loss={grpo.loss.type}: prime-rl's own loss masks tokens by `trainer.loss.dppo_mask_low` and `_high` "
        "instead of clipping the ratio."
    )
    if getattr(grpo.advantage, "scale", "none") != "none":
        yield "grpo.advantage.scale: advantages are not divided by a standard deviation."
    if names := [one.name for one in recipe.rewards if one.name != "passed" and one.weight]:
        yield f"rewards {', '.join(names)}: the taskset's reward is 1 for an answer that passes, else 0."
    if grpo.mask_truncated:
        yield "grpo.mask_truncated: truncated answers count with their reward."
    if grpo.iterations * grpo.minibatches > 1:
        yield "grpo.iterations, grpo.minibatches: one update per step."
    if grpo.teacher:
        yield "grpo.teacher: see prime-rl's `algo.type` opd and opsd."
    if recipe.sft.warm_start:
        yield "sft.warm_start: train it here, and set `model.name` to the run's folder `warm`."
    if recipe.optim.schedule != "constant" or recipe.optim.warmup_steps:
        yield "optim.schedule, optim.warmup_steps: see `trainer.scheduler`."
    yield "evaluation on held-out tasks: `strop eval` takes the weights that prime-rl saves."


def write_prime_rl(recipe: Recipe, folder: Path) -> list[str]:
    """Writes the folder. Returns lines about what is not carried over. Raises UserError, also if the folder is not
    empty."""
    package = f"{re.sub('[^a-z0-9]+', '-', recipe.run.name.lower()).strip('-') or 'strop'}-tasks"
    settings, left = settings_of(recipe, package)
    checked_folder(folder)
    train, _ = split_tasks(recipe)
    count = write_package(
        train, package, folder / "tasks", source=recipe.task_set.source, style=recipe.task_set.style
    )
    told = "\n".join(f"- {line}" for line in left)
    with writing(folder):
        (folder / "rl.toml").write_text("\n".join(_toml(settings)) + "\n")
        (folder / "README.md").write_text(_README.format(name=recipe.run.name, count=count, left=told))
    return left


def _toml(table: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The table's lines: its values, then its tables. Texts, numbers and lists are the same in JSON and TOML."""
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    lists = {
        key: value
        for key, value in table.items()
        if value and isinstance(value, list) and isinstance(value[0], dict)
    }
    for key, value in table.items():
        if key not in tables and key not in lists:
            yield f"{key} = {json.dumps(value)}"
    for key, value in tables.items():
        if value:
            yield f"\n[{path}{key}]"
            yield from _toml(value, f"{path}{key}.")
    for key, rows in lists.items():
        for row in rows:
            yield f"\n[[{path}{key}]]"
            yield from _toml(row, f"{path}{key}.")
