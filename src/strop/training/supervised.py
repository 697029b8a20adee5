"""Supervised training: a plain torch loop for the warm start and for reward models; and the warm start itself, which is
next-token cross entropy on the answers of reference solutions or demonstrations.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from transformers import get_scheduler

from strop.config.load import dump_recipe
from strop.config.revision import revision
from strop.config.schema import Recipe
from strop.config.training import RewardModelConfig, SftConfig
from strop.policies import release_memory
from strop.policies.open import longest_answers, longest_play, tokenizer_of
from strop.policies.tokenizer import HubTokenizer
from strop.reports.run_folder import RunFolder
from strop.rollouts.encoding import demo_turns, opening_ids
from strop.tasks.demos import read_demos
from strop.tasks.prompts import render, solution
from strop.tasks.sources import load_tasks
from strop.tasks.task_sets import TaskSet
from strop.training.backend import TrainingBackend, computes_in_bfloat16
from strop.training.learner import update_ways
from strop.training.logps import micro_batches, no_dropout, token_logps, update_of
from strop.training.model_card import write_card
from strop.training.ranks import Ranks
from strop_verify.core.errors import UserError
from strop_verify.core.files import open_to_readers
from strop_verify.core.ids import derive_seed
from strop_verify.core.play import Opening
from strop_verify.core.progress import PROGRESS
from strop_verify.core.rollout import Sample, TurnTokens, end_to_end
from strop_verify.core.task import Task

RELEASE_EVERY = 8
"""Number of updates between returns of freed memory to the kernel; each costs about a second of page faults."""
Example = list[TurnTokens]
"""Turns; only their answers' tokens are in the loss."""
Show = Callable[[dict[str, Any]], Any]
T = TypeVar("T")


def step_count(config: SftConfig | RewardModelConfig, examples: int) -> int:
    """Number of updates over that many examples."""
    return config.steps or max(1, round(config.epochs * math.ceil(examples / config.batch_size)))


@contextmanager
def supervised_run(recipe: Recipe, show: Show) -> Iterator[tuple[RunFolder, Show]]:
    """(a new run folder, a function that records and shows an update's metrics)."""
    files: dict[str, Any] = {"recipe": dump_recipe(recipe), "versions": revision()}
    with RunFolder.create(recipe.run.folder, overwrite=recipe.run.overwrite, **files) as run:

        def note(metrics: dict[str, Any]) -> None:
            run.append_metrics(metrics)
            show(metrics)

        yield run, note


def fit_examples(
    recipe: Recipe,
    config: SftConfig | RewardModelConfig,
    model: Any,
    examples: Sequence[T],
    learn: Callable[[list[T]], Mapping[str, float]],
    show: Show,
    *,
    seed: Callable[[int, int], int],
) -> None:
    """Trains the model's weights in place.

    learn  adds the gradient of a batch; returns its loss and whatever else is logged
    show   gets the metrics of each update
    seed   (update, examples left of the last order) -> seed of the next order
    """
    steps = step_count(config, len(examples))
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    options = {"betas": recipe.optim.betas, "weight_decay": recipe.optim.weight_decay}
    optimizer = torch.optim.AdamW(weights, lr=config.learning_rate, fused=True, **options)
    name = "constant_with_warmup" if config.schedule == "constant" else config.schedule
    scheduler = get_scheduler(name, optimizer, num_warmup_steps=config.warmup_steps, num_training_steps=steps)
    order: list[int] = []
    no_dropout(model)
    for step in range(1, steps + 1):
        started = time.perf_counter()
        while len(order) < config.batch_size:
            again = list(range(len(examples)))
            random.Random(seed(step, len(order))).shuffle(again)
            order += again
        batch, order = [examples[i] for i in order[: config.batch_size]], order[config.batch_size :]
        logged = learn(batch)
        norm = float(torch.nn.utils.clip_grad_norm_(weights, recipe.optim.max_grad_norm))
        optimizer.step()
        scheduler.step()
        PROGRESS.beat()
        optimizer.zero_grad(set_to_none=True)
        if step % RELEASE_EVERY == 0:
            release_memory()
        seconds = time.perf_counter() - started
        show({"step": step, "steps": steps, **logged, "grad_norm": norm, "seconds": seconds})
    model.eval()


def overshoot(losses: Sequence[float]) -> str:
    """A warning if the loss rose by its first value or by one nat, and by more than its noise; else ""."""
    worst = max(losses)
    if worst - losses[0] < max(0.2, min(losses[0], 1.0)):
        return ""
    at = f"update {losses.index(worst) + 1}"
    return f"its loss rose from {losses[0]:.3f} to {worst:.3f} ({at}): lower sft.learning_rate, first by a factor of 10"


def sft(recipe: Recipe, sets: Sequence[TaskSet], *, say: Callable[[str], None], show: Show) -> Path:
    """Trains on `examples_of` the sets in a new run; returns the model's folder. Raises UserError without examples."""
    tokenizer = tokenizer_of(recipe)
    examples = examples_of(sets, tokenizer)
    backend = TrainingBackend.load(recipe, Ranks(), ends=tokenizer.eos_ids)
    with supervised_run(recipe, show) as (run, note):
        say(f"{len(examples)} examples, {step_count(recipe.sft, len(examples))} updates")
        losses: list[float] = []

        def kept(metrics: dict[str, Any]) -> None:
            losses.append(metrics["loss"])
            note(metrics)

        fit(recipe, backend.model, examples, kept)
        if warning := overshoot(losses):
            say(f"warning: {warning}")
        target = run.path / "final"
        backend.save_model(target)
        tokenizer.inner.save_pretrained(target)
        write_card(run.path, target)
        open_to_readers(target)
    return target


def as_example(task: Task, recipe: Recipe, tokenizer: HubTokenizer) -> Example | None:
    """The prompt that the policy will see, with the reference as the answer; None without a reference."""
    config = recipe.task_set
    prompt = render(task, config.style, config.template, config.answer)
    text = solution(task, prompt, config.answer)
    if not text and not task.check.empty_is_answer:
        return None
    opening = Opening(prompt.text, tuple(prompt.messages), prompt.prefill, sections=prompt.sections)
    ids, end = opening_ids(opening, tokenizer), tokenizer.turn_end if prompt.messages else tokenizer.text_end
    opens = bool(prompt.messages) and not prompt.prefill
    return [(ids, [*(tokenizer.encode(text, opens=opens) if text else []), *end])]


def examples_of(sets: Sequence[TaskSet], tokenizer: HubTokenizer) -> list[Example]:
    """Examples from sft.demos, from the training side of sft.source, else from the training tasks of all sets.

    Tasks are split by content, so the recipe's held-out tasks are held out in sft.source too. Raises UserError if no
    task has a reference, or every demonstration is of a held-out task.
    """
    if demos := sets[0].recipe.sft.demos:
        held_out = {task.id for one in sets for task in one.held_out}
        shown = [demo for demo in read_demos(Path(demos)) if demo.task_id not in held_out]
        if not shown:
            raise UserError(f"sft.demos={demos!r} has only held-out tasks; make new demonstrations")
        return [demo_turns(demo, tokenizer) for demo in shown]
    examples = [
        example
        for one in sets
        for task in _taught(one)
        if (example := as_example(task, one.recipe, tokenizer)) is not None
    ]
    if not examples:
        fault = "none of the tasks has a reference solution to learn from"
        raise UserError(f"sft: {fault}; set sft.source to tasks that have one")
    return examples


def _taught(one: TaskSet) -> list[Task]:
    recipe = one.recipe
    if not recipe.sft.source:
        return one.train
    found = load_tasks(recipe.sft.source, held_out_fraction=recipe.task_set.held_out_fraction)
    return [task for task in found if task.split != "held-out"]


def fit(recipe: Recipe, model: Any, examples: Sequence[Example], show: Show) -> None:
    """Trains the model in place; calls `show` with the metrics of each update."""
    longest = longest_play(longest_answers(recipe))
    padded = update_of(model, ways=update_ways(recipe), longest=longest).padded

    def learn(batch: list[Example]) -> dict[str, float]:
        samples = [_sample(example) for example in batch]
        tokens = sum(sum(sample.mask) for sample in samples)
        total = 0.0
        for some in micro_batches(samples, recipe.optim.micro_batch_tokens, padded=padded):
            loss = summed_loss(model, some, recipe) / tokens
            loss.backward()
            total += float(loss.detach())
            release_memory()  # differing sizes leave gaps: costs 10 % of the time, saves 10 % of the memory
        return {"loss": total}

    def seed(step: int, left: int) -> int:
        return derive_seed(recipe.seed, "sft", step)

    fit_examples(recipe, recipe.sft, model, examples, learn, show, seed=seed)


def summed_loss(model: Any, samples: Sequence[Sample], recipe: Recipe) -> torch.Tensor:
    """Summed cross entropy of the completions' tokens."""
    device = next(model.parameters()).device.type
    with torch.autocast(device, dtype=torch.bfloat16, enabled=computes_in_bfloat16(recipe)):
        head = model.get_output_embeddings()
        return -token_logps(model, samples, head=head, temperature=1.0)[0].sum()


def _sample(example: Example) -> Sample:
    """An example as a sample without log-probabilities or advantages."""
    ids, mask = end_to_end(example)
    nothing = [0] * len(ids)
    return Sample(ids, mask, nothing, nothing, nothing, len(example[0][0]))
