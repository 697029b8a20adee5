"""The learner: takes a batch and updates the weights.

Micro-batches limit memory and change nothing else: each token has its share of the whole update's loss. Samples without
gradient (advantage 0, no KL term) are counted but not computed. An update's random numbers (dropout) come from (seed,
update, rank) and its learning rate from its number, so a checkpoint needs only weights and optimiser state.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import torch

from strop.algorithms.losses import Tokens, UpdateSize, find_loss, objective
from strop.config.run_stages import RunStage
from strop.config.schema import Recipe
from strop.policies.open import longest_answers, longest_play
from strop.training.backend import TrainingBackend, computes_in_bfloat16
from strop.training.logps import micro_batches, no_dropout, token_logps, update_of, updates_as
from strop.training.ranks import Ranks
from strop_verify.core.ids import derive_seed
from strop_verify.core.progress import PROGRESS
from strop_verify.core.rollout import Batch, Sample


class Learner:
    """Updates the model of a backend."""

    def __init__(self, backend: TrainingBackend, recipe: Recipe) -> None:
        """Prepares the model for training. Collective, as all methods are. Raises UserError for a model whose own
        log-probabilities cannot be reproduced, or a loss that does not exist or refuses its options.
        """
        self._loss = cache(find_loss)  # once per stage, so that editing a file does not change a running run
        self._loss(recipe.grpo.loss)
        self.backend, self._recipe, self._ranks = backend, recipe, backend.ranks
        self._bfloat16 = computes_in_bfloat16(recipe)
        self.not_finite = 0
        """Number of consecutive updates, up to the latest, that were not finite and not applied."""
        longest = longest_play(longest_answers(recipe))
        with backend.plain() as plain:
            self.computes = update_of(plain, ways=update_ways(recipe), longest=longest)
            """How updates are computed, and how close that is to the model's plain forward pass."""
            if plain is not backend.model:
                updates_as(backend.model, plain)
        backend.prepare()
        if backend.start is not None:
            updates_as(backend.start, backend.model)

    def update(self, batch: Batch, stage: RunStage, done: int) -> dict[str, float]:
        """Makes one step's updates, grpo.iterations over each minibatch, after `done` earlier updates of the run.

        An update whose loss or gradient is not finite is not applied. Returns loss, grad_norm, entropy, clip_ratio and,
        with a reference, kl, as means over the updates, and the number of updates not applied if there are any.
        """
        with PROGRESS.at("the update", busy=self.backend.device.type == "cpu"):
            return self._update(batch, stage, done)

    def _update(self, batch: Batch, stage: RunStage, done: int) -> dict[str, float]:
        grpo = stage.recipe.grpo
        backend = self.backend
        no_dropout(backend.wrapped)
        padded = self.computes.padded
        parts = [_Part(list(samples), stage, self._ranks, padded) for samples in batch.minibatches]
        if grpo.updates_per_step > 1:
            for part in parts:
                part.old = self._no_gradient(backend.wrapped, part, stage)
        if self._recipe.grpo.beta:
            with backend.reference() as reference:
                for part in parts:
                    part.reference = self._no_gradient(reference, part, stage)
        found = [
            self._one_update(parts[number % len(parts)], stage, done + number)
            for number in range(grpo.updates_per_step)
        ]
        means = {name: sum(one[name] for one in found) / len(found) for name in found[0]}
        backend.wrapped.eval()
        if left_out := sum(not finite(one) for one in found):
            means["updates_not_finite"] = left_out
        return {**means, "learning_rate": learning_rate(stage, done + len(found) - 1)}

    def _one_update(self, part: "_Part", stage: RunStage, done: int) -> dict[str, float]:
        torch.manual_seed(derive_seed(self._recipe.seed, "update", done, self._ranks.rank))
        sums: dict[str, float] = {}
        for number in range(len(part.mine)):
            with self.backend.micro_batch(last=number == len(part.mine) - 1):
                self._micro_batch(part, number, stage, sums)
        total: dict[str, float] = {"loss": 0.0, "entropy": 0.0, "clip_ratio": 0.0}
        for one in self._ranks.gather(sums):
            for name, value in one.items():
                total[name] = total.get(name, 0.0) + value
        norm = 0.0
        if part.mine:
            rate = learning_rate(stage, done) if math.isfinite(total["loss"]) else None
            norm = self.backend.step(rate, stage.recipe.optim.max_grad_norm)
        computed = max(1.0, total.pop("tokens", 0.0))
        means = {name: value if name == "loss" else value / computed for name, value in total.items()}
        found = {**means, "grad_norm": norm}
        self.not_finite = 0 if finite(found) else self.not_finite + 1
        return found

    def _micro_batch(self, part: "_Part", number: int, stage: RunStage, sums: dict[str, float]) -> None:
        """Adds one micro-batch's gradient, and its logged numbers to `sums`."""
        logps, entropies = self._logps(self.backend.wrapped, part.mine[number], stage)
        grpo = stage.recipe.grpo
        loss, logged = objective(grpo, self._loss(grpo.loss), _tokens(part, number, logps), part.size)
        if number >= part.real:  # padding: all processes make the same number of passes
            loss = loss * 0.0
        self.backend.backward(loss)
        if number < part.real:
            logged |= {"loss": loss.detach(), "entropy": entropies.sum()}
            for name, value in logged.items():
                sums[name] = sums.get(name, 0.0) + float(value)
            sums["tokens"] = sums.get("tokens", 0.0) + len(logps)

    def _logps(
        self, model: Any, samples: Sequence[Sample], stage: RunStage
    ) -> tuple[torch.Tensor, torch.Tensor]:
        temperature = stage.recipe.sampling.temperature
        with torch.autocast(self.backend.device.type, dtype=torch.bfloat16, enabled=self._bfloat16):
            PROGRESS.beat()
            return token_logps(model, samples, head=self.backend.head(model), temperature=temperature)

    @torch.no_grad()
    def _no_gradient(self, model: Any, part: "_Part", stage: RunStage) -> list[torch.Tensor]:
        return [self._logps(model, samples, stage)[0] for samples in part.mine]


def update_ways(recipe: Recipe) -> list[str]:
    """Keys of `WAYS` that a recipe allows. With shards, all processes must make the same number of passes."""
    together = recipe.launch.engine == "ddp"
    ways = ["tree"] if recipe.optim.shared_prefix else []
    ways += ["cache"] if ways and together and not recipe.model.gradient_checkpointing else []
    return [*ways, "rows", *(["one"] if together else [])]


class _Part:
    """A minibatch as this process computes it.

    mine  its micro-batches, the same number in every process; only the first `real` count
    old, reference  log-probabilities by micro-batch, if needed
    """

    def __init__(self, samples: list[Sample], stage: RunStage, ranks: Ranks, padded: bool) -> None:
        recipe = stage.recipe
        computed = [sample for sample in samples if sample.tokens and (recipe.grpo.beta or sample.moves)]
        everything = list(micro_batches(computed, recipe.optim.micro_batch_tokens, padded=padded))
        self.mine = everything[ranks.rank :: ranks.world]
        self.real = len(self.mine)
        if everything and len(everything) % ranks.world and self.real <= len(everything) // ranks.world:
            self.mine.append([min(computed, key=lambda sample: len(sample.ids))])
        self.size = UpdateSize(
            rows=round(sum(sample.weight for sample in samples)),
            tokens=sum(sample.tokens for sample in samples),
            longest=recipe.sampling.max_tokens,
        )
        self.old: list[torch.Tensor] | None = None
        self.reference: list[torch.Tensor] | None = None


def _tokens(part: _Part, number: int, logps: torch.Tensor) -> Tokens:
    """The input of the loss for a micro-batch."""
    samples = part.mine[number]

    def kept(values: Iterator[float]) -> torch.Tensor:
        return torch.tensor(list(values), device=logps.device, dtype=logps.dtype)

    places = [(s, at) for s in samples for at, keep in enumerate(s.mask) if keep]
    rows = [row for row, sample in enumerate(samples) for _ in range(sample.tokens)]
    return Tokens(
        logps=logps,
        old=logps.detach() if part.old is None else part.old[number],
        sampled=kept(s.logprobs[at] for s, at in places),
        advantages=kept(s.advantages[at] * s.weight for s, at in places),
        rows=torch.tensor(rows, device=logps.device),
        count=len(samples),
        reference=None if part.reference is None else part.reference[number],
    )


def finite(update: dict[str, float]) -> bool:
    """Whether an update's loss and gradient norm are finite."""
    return math.isfinite(update["loss"]) and math.isfinite(update["grad_norm"])


def learning_rate(stage: RunStage, done: int) -> float:
    """The learning rate of the next update after `done` updates of the whole run, with the stage's peak.

    It rises linearly from 0 for `warmup_updates`, then follows optim.schedule to the end of the run, as transformers'
    schedules of the same names do.
    """
    optim, warmup = stage.recipe.optim, stage.warmup_updates
    if done < warmup:
        return optim.learning_rate * done / max(1, warmup)
    part = (done - warmup) / max(1, stage.all_updates - warmup)
    shape = {
        "constant": 1.0,
        "linear": max(0.0, 1 - part),
        "cosine": max(0.0, 0.5 * (1 + math.cos(math.pi * part))),
    }
    return optim.learning_rate * shape[optim.schedule]
