"""The optimiser loop of what learns from fixed examples, the warm start and reward models: one plain torch loop.

Examples are short, and it needs only one optimiser and one schedule. Its run folder holds the metrics of each update.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from transformers import get_scheduler

from strop.config.load import dump_recipe
from strop.config.revision import revision
from strop.config.schema import Recipe
from strop.config.training import RewardModelConfig, SftConfig
from strop.core.progress import PROGRESS
from strop.policies import release_memory
from strop.reports.run_folder import RunFolder
from strop.training.logps import no_dropout

Show = Callable[[dict[str, Any]], Any]
T = TypeVar("T")


def step_count(config: SftConfig | RewardModelConfig, examples: int) -> int:
    """Updates over that many examples."""
    return config.steps or max(1, round(config.epochs * math.ceil(examples / config.batch_size)))


@contextmanager
def supervised_run(recipe: Recipe, show: Show) -> Iterator[tuple[RunFolder, Show]]:
    """A new run folder, and what notes an update's metrics in it and shows them."""
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
    release_every: int,
) -> None:
    """Trains the model's weights in place.

    learn          adds the gradient of a batch, by micro-batches; returns its loss and what else is logged
    show           is called with the metrics of each update
    seed           of the next order of the examples, by the update and how many of the last order are left
    release_every  updates after which freed memory goes back to the kernel
    """
    steps = step_count(config, len(examples))
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(
        weights, lr=config.learning_rate, betas=recipe.optim.betas, weight_decay=recipe.optim.weight_decay
    )
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
        if step % release_every == 0:
            release_memory()
        seconds = time.perf_counter() - started
        show({"step": step, "steps": steps, **logged, "grad_norm": norm, "seconds": seconds})
    model.eval()
