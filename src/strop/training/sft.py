"""The supervised warm start: next-token cross entropy on reference solutions or demonstrations, completion tokens only.

A plain torch loop: examples are short, and it needs only one optimiser and one schedule.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import get_scheduler

from strop.config.load import dump_recipe
from strop.config.revision import revision
from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.files import open_to_readers
from strop.core.ids import derive_seed
from strop.core.play import Opening
from strop.core.sample import Sample
from strop.core.task import Task
from strop.policies import release_memory
from strop.policies.attention import attend_in_groups, common
from strop.policies.open import tokenizer_of
from strop.policies.tokenizer import HubTokenizer
from strop.reports.run_folder import RunFolder
from strop.rollouts.encoding import demo_turns, opening_ids
from strop.tasks.demos import read_demos
from strop.tasks.prompts import render, solution
from strop.tasks.sources import load_tasks
from strop.tasks.task_sets import TaskSet
from strop.training.backend import TrainingBackend, computes_in_bfloat16
from strop.training.logps import check_head, head_selects, token_logps
from strop.training.model_card import write_card
from strop.training.ranks import Ranks

MICRO_BATCH = 8
"""Examples, of like length, in one forward pass."""

SHORT = 256
"""Tokens of a row."""

SHARED = 64
"""Tokens of a beginning that the rows of a forward pass have in common, from which on it is computed once, under
optim.shared_prefix: the rules and tools at the top of a play."""

RELEASE_EVERY = 2
"""Updates after which freed memory goes back to the kernel; each time costs about a second of page faults."""

Example = list[tuple[list[int], list[int]]]
"""Turns: (new prompt tokens, completion tokens). Only the latter are learnt."""


def sft(
    recipe: Recipe,
    sets: Sequence[TaskSet],
    *,
    say: Callable[[str], None],
    show: Callable[[dict[str, Any]], None],
) -> Path:
    """Trains on the reference solutions of the training tasks (or of sft.source); returns the model's folder.

    Raises UserError when there is no task with a reference.
    """
    folder, overwrite = recipe.run.folder, recipe.run.overwrite
    tokenizer = tokenizer_of(recipe)
    examples = examples_of(sets, tokenizer)
    with ExitStack() as stack:
        backend = TrainingBackend.load(recipe, Ranks(), ends=tokenizer.eos_ids)
        files: dict[str, Any] = {"recipe": dump_recipe(recipe), "versions": revision()}
        run = stack.enter_context(RunFolder.create(folder, overwrite=overwrite, **files))

        def note(metrics: dict[str, Any]) -> None:
            run.append_metrics(metrics)
            show(metrics)

        say(f"{len(examples)} examples, {step_count(recipe, len(examples))} updates")
        fit(recipe, backend.model, examples, note)
        target = run.path / "final"
        backend.save_model(target)
        tokenizer.inner.save_pretrained(target)
        write_card(run.path, target)
        open_to_readers(target)
    return target


def as_example(task: Task, recipe: Recipe, tokenizer: HubTokenizer) -> Example | None:
    """The prompt as the policy will see it, and the reference as it should have answered; None without a reference."""
    config = recipe.task_set
    prompt = render(task, config.style, config.template, config.answer)
    text = solution(task, prompt, config.answer)
    if not text and not task.check.empty_is_answer:
        return None
    opening = Opening(prompt.text, tuple(prompt.messages), prompt.prefill, sections=prompt.sections)
    ids, end = opening_ids(opening, tokenizer), tokenizer.turn_end if prompt.messages else tokenizer.text_end
    opens = bool(prompt.messages) and not prompt.prefill
    return [(ids, [*(tokenizer.encode(text, opens=opens) if text else []), *end])]


def step_count(recipe: Recipe, examples: int) -> int:
    """Updates of a warm start over that many examples."""
    each = math.ceil(examples / recipe.sft.batch_size)
    return recipe.sft.steps or max(1, round(recipe.sft.epochs * each))


def examples_of(sets: Sequence[TaskSet], tokenizer: HubTokenizer) -> list[Example]:
    """Examples from sft.demos, from the training side of sft.source, else from the training tasks of all sets.

    The split is by content, so a set that holds the recipe's own tasks keeps those that are held out on that side.
    Raises UserError when no task has a reference, and where every demonstration is of a held-out task.
    """
    if demos := sets[0].recipe.sft.demos:
        held_out = {task.id for one in sets for task in one.held_out}
        shown = [demo for demo in read_demos(Path(demos)) if demo.task_id not in held_out]
        if not shown:
            raise UserError(f"sft.demos={demos!r} shows held-out tasks only; make demonstrations anew")
        return [demo_turns(demo, tokenizer) for demo in shown]
    examples = [
        example
        for one in sets
        for task in _taught(one)
        if (example := as_example(task, one.recipe, tokenizer)) is not None
    ]
    if not examples:
        fault = "none of the tasks has a reference solution to learn from"
        raise UserError(f"sft: {fault}; set sft.source to tasks that do")
    return examples


def _taught(one: TaskSet) -> list[Task]:
    recipe = one.recipe
    if not recipe.sft.source:
        return one.train
    found = load_tasks(recipe.sft.source, held_out_fraction=recipe.task_set.held_out_fraction)
    return [task for task in found if task.split != "held-out"]


def fit(recipe: Recipe, model: Any, examples: list[Example], show: Callable[[dict[str, Any]], Any]) -> None:
    """Trains the model in place; calls `show` with the metrics of each update."""
    config = recipe.sft
    steps = step_count(recipe, len(examples))
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        weights, lr=config.learning_rate, betas=recipe.optim.betas, weight_decay=recipe.optim.weight_decay
    )
    name = "constant_with_warmup" if config.schedule == "constant" else config.schedule
    scheduler = get_scheduler(name, optimizer, num_warmup_steps=config.warmup_steps, num_training_steps=steps)
    order: list[int] = []
    check_head(model)
    if recipe.optim.shared_prefix:
        attend_in_groups(model)
    model.train()
    for step in range(1, steps + 1):
        started = time.perf_counter()
        while len(order) < config.batch_size:
            again = list(range(len(examples)))
            random.Random(derive_seed(recipe.seed, "sft", step)).shuffle(again)
            order += again
        batch, order = [examples[i] for i in order[: config.batch_size]], order[config.batch_size :]
        tokens = sum(len(completion) for example in batch for _, completion in example)
        total = 0.0
        batch.sort(key=_length, reverse=True)
        for start in range(0, len(batch), MICRO_BATCH):
            loss = _loss(model, batch[start : start + MICRO_BATCH], recipe) / tokens
            loss.backward()
            total += float(loss.detach())
        norm = float(torch.nn.utils.clip_grad_norm_(weights, recipe.optim.max_grad_norm))
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
        if step % RELEASE_EVERY == 0:
            release_memory()
        seconds = time.perf_counter() - started
        show({"step": step, "steps": steps, "loss": total, "grad_norm": norm, "seconds": seconds})


def _length(example: Example) -> int:
    return sum(len(part) for turn in example for part in turn)


def _loss(model: Any, batch: list[Example], recipe: Recipe) -> torch.Tensor:
    """Summed cross entropy of the completions' tokens."""
    device, bfloat16 = next(model.parameters()).device, computes_in_bfloat16(recipe)
    rows = [[token for turn in example for part in turn for token in part] for example in batch]
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=bfloat16):
        if recipe.optim.shared_prefix and all(common(rows[0], row) >= SHARED for row in rows[1:]):
            samples = [_sample(example) for example in batch]
            head = model.get_output_embeddings()
            return -token_logps(model, samples, head=head, temperature=1.0)[0].sum()
        return _padded_loss(model, batch, rows, device)


def _sample(example: Example) -> Sample:
    """An example to compute with, not to weigh."""
    ids = [token for turn in example for part in turn for token in part]
    mask = [kind for turn in example for kind, part in enumerate(turn) for _ in part]
    nothing = [0] * len(ids)
    return Sample(ids, mask, nothing, nothing, nothing, len(example[0][0]))


def _padded_loss(
    model: Any, batch: list[Example], rows: list[list[int]], device: torch.device
) -> torch.Tensor:
    """The same by rows padded on the right, where causal attention never looks, so they need no mask."""
    width = max(map(len, rows))
    width = math.ceil(width / 16) * 16  # few different sizes, so that freed memory fits again
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    predictors: list[int] = []
    for row, (example, whole) in enumerate(zip(batch, rows, strict=True)):
        ids[row, : len(whole)] = torch.tensor(whole)
        end = 0
        for prompt, completion in example:
            end += len(prompt) + len(completion)
            predictors += range(row * width + end - len(completion) - 1, row * width + end - 1)
    learnt = [token for example in batch for _, completion in example for token in completion]
    targets = torch.tensor(learnt, device=device)
    head = model.get_output_embeddings()
    with (
        # On a CPU plain products beat the fused kernel on short rows, and take up to twice its time on long ones.
        sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" and width <= SHORT else nullcontext(),
        head_selects(head, targets, 1.0),
    ):
        hidden = model.get_decoder()(input_ids=ids.to(device), use_cache=False).last_hidden_state
        chosen = hidden.flatten(0, 1)[torch.tensor(predictors, device=device)]
        return -head(chosen)[:, 0].sum()
