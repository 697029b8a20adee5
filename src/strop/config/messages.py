"""Turns pydantic's errors into lines that name the place, the value, the cause and the remedy."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic_core import ErrorDetails

from strop.config.layers import shorten
from strop.config.schema import Recipe
from strop.config.tasks import TasksConfig, TaskSetConfig
from strop.config.unions import UNIONS, Kinds, without_tags
from strop.config.yaml12 import Origin
from strop_verify.core.section import Path, Section

ALIASES = {
    "adam_betas": "optim.betas",
    "base_model": "model.name",
    "batch_size": "optim.micro_batch_tokens",
    "bf16": "model.compute_dtype",
    "clip": "grpo.loss.epsilon_low",
    "clip_high": "grpo.loss.epsilon_high",
    "clip_low": "grpo.loss.epsilon_low",
    "clip_ratio_high": "grpo.loss.epsilon_high",
    "clip_ratio_low": "grpo.loss.epsilon_low",
    "dataset": "tasks.source",
    "dataset_name": "tasks.source",
    "epsilon": "grpo.loss.epsilon_low",
    "eval_steps": "evaluation.every",
    "gradient_accumulation_steps": "optim.micro_batch_tokens",
    "importance_level": "grpo.loss.type",
    "importance_sampling_level": "grpo.loss.type",
    "kl_coef": "grpo.beta",
    "kl_weight": "grpo.beta",
    "load_in_4bit": "model.quantization",
    "lora_alpha": "model.lora.alpha",
    "lora_r": "model.lora.rank",
    "lora_rank": "model.lora.rank",
    "lora_target_modules": "model.lora.target_modules",
    "loss_type": "grpo.loss.type",
    "lr": "optim.learning_rate",
    "lr_scheduler_type": "optim.schedule",
    "max_completion_length": "sampling.max_tokens",
    "max_new_tokens": "sampling.max_tokens",
    "max_prompt_length": "tasks.max_prompt_tokens",
    "max_response_length": "sampling.max_tokens",
    "max_seq_length": "tasks.max_prompt_tokens",
    "max_steps": "optim.steps",
    "micro_batch": "optim.micro_batch_tokens",
    "model_name": "model.name",
    "model_name_or_path": "model.name",
    "n_gpus_per_node": "launch.processes",
    "n_samples_per_prompt": "grpo.group_size",
    "nnodes": "launch.nodes",
    "num_epochs": "optim.steps",
    "num_generations": "grpo.group_size",
    "num_iterations": "grpo.iterations",
    "num_train_epochs": "optim.steps",
    "output_dir": "run.dir",
    "per_device_eval_batch_size": "policy.batch_rows",
    "per_device_train_batch_size": "optim.micro_batch_tokens",
    "ppo_epochs": "grpo.iterations",
    "ppo_micro_batch_size_per_gpu": "optim.micro_batch_tokens",
    "ppo_mini_batch_size": "grpo.minibatches",
    "reward_funcs": "rewards",
    "reward_weights": "rewards",
    "rollout_batch_size": "grpo.tasks_per_step",
    "save_steps": "run.save_every",
    "scale_rewards": "grpo.advantage.scale",
    "timeout": "sandbox.wall_seconds",
    "total_epochs": "optim.steps",
    "train_batch_size": "grpo.tasks_per_step",
    "use_vllm": "policy.engine",
    "vllm_gpu_memory_utilization": "policy.engine",
    "vllm_mode": "policy.engine",
    "vllm_server_base_url": "policy.engine",
    "vllm_tensor_parallel_size": "policy.engine",
    "warmup_ratio": "optim.warmup_steps",
}
"""{key in another project: our key}."""

_WANTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "union_tag_not_found": "a mapping",
}


def fault_lines(error: ErrorDetails, origins: dict[Path, Origin], kinds: Kinds) -> Iterator[str]:
    """The lines for one pydantic error; the recipe's `kinds` determine the known keys."""
    path = without_tags(error["loc"])
    if error["type"] == "union_tag_invalid":
        path = (*path, UNIONS[path].key)
    if error["type"] == "complaints":
        for field, what in error["ctx"]["complaints"]:
            parts = (int(part) if part.isdecimal() else part for part in field.split("."))
            yield line((*path, *parts), what, origins)
    else:
        yield line(path, cause(error, path, kinds), origins)


def line(path: Path, what: str, origins: dict[Path, Origin]) -> str:
    """One line: place, key, cause."""
    name = shorten(".".join(map(str, path)))
    above = [path[:depth] for depth in range(len(path), 0, -1) if path[:depth] in origins]
    below = [known for known in origins if path and known[: len(path)] == path]
    nearest = above[0] if above else below[-1] if below else None
    place = "recipe" if nearest is None else origins[nearest].place
    if place.startswith(f"command line: {name}="):
        return f"{place}: {what}"
    return f"{place} {name}: {what}" if name else f"{place}: {what}"


def suggest(path: Path, kinds: Kinds) -> str | None:
    """The dotted key that an unknown one probably means."""
    key, parent = str(path[-1]), path[:-1]
    prefix = "".join(f"{part}." for part in parent)
    section = section_at(parent, kinds)
    siblings = _names(section) if section else []
    close = get_close_matches(key, siblings, 1, cutoff=0.7)
    if close:
        return prefix + close[0]
    if key in ALIASES and f"{prefix}{key}" != ALIASES[key]:
        return ALIASES[key]
    elsewhere = list(_all_keys(kinds))
    leaves = {name.rpartition(".")[2]: name for name in reversed(elsewhere)}
    close = get_close_matches(key, leaves, 1, cutoff=0.8)
    if close:
        return leaves[close[0]]
    close = get_close_matches(key, siblings, 1, cutoff=0.5)
    return prefix + close[0] if close else None


def section_at(path: Path, kinds: Kinds) -> type[Section] | None:
    """The section class at a path, or None."""
    section: type[Section] | None = Recipe
    for depth, part in enumerate(path, 1):
        if isinstance(part, int):
            continue
        if section is None or part not in section.model_fields:
            return None
        if (union := UNIONS.get(path[:depth])) is not None:
            section = union.classes.get(kinds[path[:depth]])
            continue
        if section is Recipe and part == "tasks":
            section = TaskSetConfig if len(path) > 1 and isinstance(path[1], int) else TasksConfig
            continue
        annotation: Any = section.model_fields[part].annotation
        candidates = [annotation, *get_args(annotation)]
        section = next((c for c in candidates if isinstance(c, type) and issubclass(c, Section)), None)
    return section


def _all_keys(kinds: Kinds) -> Iterator[str]:
    for name in Recipe.model_fields:
        section = section_at((name,), kinds)
        yield from [f"{name}.{key}" for key in _names(section)] if section else [name]
    for path in UNIONS:
        section = section_at(path, kinds)
        if len(path) > 1 and section:
            yield from (".".join(map(str, (*path, key))) for key in _names(section))


def _names(section: type[Section]) -> list[str]:
    """Its keys as a recipe writes them."""
    return [field.alias or name for name, field in section.model_fields.items()]


def cause(error: ErrorDetails, path: Path, kinds: Kinds) -> str:
    """One pydantic error in words: what is wrong with the value, and what to do."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    shown = shorten(_show(value))
    if kind == "extra_forbidden":
        guess = suggest(path, kinds)
        union = UNIONS.get(path[:-1])
        extra = f" for {union.key} {kinds[path[:-1]]}" if union else ""
        if path[0] == "stages" and (guess or "").rpartition(".")[0] != ".".join(map(str, path[:-1])):
            return f"cannot change between stages; {_known(path, kinds)}"
        return f"unknown key{extra}" + (f"; did you mean {guess}?" if guess else f"; {_known(path, kinds)}")
    if kind in _WANTED:
        remedy = _form(path, value) if path in UNIONS else _remedy(kind, value)
        return f"expected {_WANTED[kind]}, got {shown}{remedy}"
    if kind in ("literal_error", "union_tag_invalid"):
        own = ""
        if kind == "union_tag_invalid":
            union = UNIONS.get(path[:-1]) or UNIONS["policy",]  # the policy of a curation step
            value, allowed = context["tag"], list(union.classes)
            own = "; one of your own is file.py:Name" if "file.py:Name" in union.classes else ""
        else:
            allowed = str(context["expected"]).replace("' or '", "', '").strip("'").split("', '")
        close = get_close_matches(str(value), allowed, 1)
        hint = f"; did you mean {close[0]}?" if close else own
        return f"{shorten(_show(value))} is none of {', '.join(allowed)}{hint}"
    if kind == "missing":
        return "needs a value; give one"
    if kind == "string_pattern_mismatch":
        return f"{shown} does not match {context['pattern']}"
    return f"{error['msg'].replace('Input should', 'must').replace('String should', 'must')}, got {shown}"


def _form(path: Path, value: Any) -> str:
    """How to write a section of several forms that was given as a bare word."""
    union = UNIONS[path]
    close = get_close_matches(str(value).replace("_", "-"), union.classes, 1)
    return f"; write {{{union.key}: {close[0] if close else union.default}}}"


def _known(path: Path, kinds: Kinds) -> str:
    section = section_at(path[:-1], kinds)
    return f"there are {', '.join(_names(section))}" if section else "remove it"


def _show(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and (value[:1].isdigit() or value.lower() in ("true", "false", "null")):
        return f"{value!r} (text)"
    return repr(value)


def _remedy(kind: str, value: Any) -> str:
    if kind.startswith("bool") and isinstance(value, str):
        meant = {"yes": "true", "on": "true", "y": "true", "true": "true"}
        meant |= {"no": "false", "off": "false", "n": "false", "false": "false"}
        word = meant.get(value.lower())
        return f"; write {word}" if word else ""
    if kind.startswith("int") and isinstance(value, float) and value.is_integer():
        return f"; write {int(value)}"
    if kind.startswith(("int", "float")) and isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return ""
        return f"; write {value.replace('_', '')} without quotes"
    if kind == "string_type" and isinstance(value, bool):
        return f'; put it in quotes: "{str(value).lower()}"'
    if kind in ("list_type", "tuple_type") and isinstance(value, str | int | float):
        return f"; write [{value}]"
    by_index = kind == "list_type" and isinstance(value, dict)
    return "; a list is replaced as a whole, not by index" if by_index else ""
