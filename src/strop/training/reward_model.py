"""A reward model from preferences: a transformers model with a scalar head, trained on pairs within a task.

Bradley-Terry (Christiano et al., arXiv 1706.03741): -log sigmoid(r_passed - r_failed) + c (r_passed + r_failed)^2, the
second term as in arXiv 2312.09244. Each answer of a task is computed once and compared with all of the other kind
(InstructGPT, arXiv 2203.02155, section 3.5); every task has equal weight. A micro-batch holds whole tasks.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from transformers import set_seed

from strop.config.schema import Recipe
from strop.config.training import RewardModelConfig
from strop.evaluation.reward_card import reward_card
from strop.judges.reward_model import RewardModel, Row
from strop.policies.loading import resolve_dtype
from strop.policies.open import tokenizer_of
from strop.reports.run_folder import CARD
from strop.tasks.preferences import ComparedAnswer, ComparedAnswers, on_side
from strop.training.backend import computes_in_bfloat16
from strop.training.supervised import Show, fit_examples, step_count, supervised_run
from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.ids import derive_seed, rng

Compared = tuple[list[Row], list[Row]]
"""(answers that passed, answers that failed) of one task."""


def train_reward(
    recipe: Recipe,
    compared: Sequence[ComparedAnswers],
    *,
    say: Callable[[str], None],
    show: Show,
    status: Callable[[str, int, int], None] = lambda text, done, total: None,
) -> dict[str, Any]:
    """Trains on the training side; saves and returns the report card of the held-out side. Raises UserError."""
    sides = {
        side: [one for one in on_side(compared, side) if one.pair_count] for side in ("train", "held-out")
    }
    for side, some in sides.items():
        if not some:
            remedy = "add runs with such tasks, or build the file with --held-out .2"
            raise UserError(f"{recipe.reward_model.pairs}: no pair on the {side} side; {remedy}")
    if recipe.model.lora.rank:
        raise UserError("strop train-reward trains all weights; set model.lora.rank=0")
    set_seed(recipe.seed % 2**32)
    config = recipe.reward_model
    judge = RewardModel.load(
        recipe.model.name,
        dtype=resolve_dtype(recipe.model.dtype),
        revision=recipe.model.revision,
        tokenizer=tokenizer_of(recipe),
        max_tokens=config.max_tokens,
    )
    if recipe.optim.shared_prefix:
        judge.share()
    examples = [_drawn(one, judge, config, recipe.seed) for one in sides["train"]]
    pairs = sum(len(passed) * len(failed) for passed, failed in examples)
    with supervised_run(recipe, show) as (run, note):
        say(f"{pairs} pairs of {len(examples)} tasks, {step_count(config, len(examples))} updates")
        fit(recipe, judge, examples, note)
        judge.save(run.path / "final")
        files.open_to_readers(run.path / "final")
        say("scoring held-out answers ...")
        card = reward_card(
            on_side(compared, "held-out"),
            judge.score,
            seed=recipe.seed,
            resamples=recipe.evaluation.bootstrap,
            confidence=recipe.evaluation.confidence,
            status=status,
        )
        files.write_json(run.path / CARD, card)
    return card


def _drawn(one: ComparedAnswers, judge: RewardModel, config: RewardModelConfig, seed: int) -> Compared:
    """At most `config.each` passed and failed answers of a task."""
    draw = rng(seed, "preferences", one.task_id)

    def rows(answers: Sequence[ComparedAnswer]) -> list[Row]:
        some = draw.sample(answers, min(config.each, len(answers)))
        return [judge.row(one.prompt, answer.text) for answer in some]

    return rows(one.passed), rows(one.failed)


def fit(recipe: Recipe, judge: RewardModel, examples: Sequence[Compared], show: Show) -> None:
    """Trains the model in place; calls `show` with the metrics of each update."""
    config, model = recipe.reward_model, judge.model
    if not recipe.model.train_embeddings:
        model.get_input_embeddings().requires_grad_(False)
    if recipe.model.gradient_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    bfloat16 = computes_in_bfloat16(recipe)

    def learn(batch: list[Compared]) -> dict[str, float]:
        total = right = 0.0
        for tasks in _micro_batches(judge, batch, recipe.optim.micro_batch_tokens):
            with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=bfloat16):
                scores = judge.scores(_rows(tasks))
            loss, ranked = _loss(scores, tasks, config)
            (loss / len(batch)).backward()
            total, right = total + float(loss.detach()) / len(batch), right + ranked / len(batch)
        return {"loss": total, "accuracy": right}

    seed = partial(derive_seed, recipe.seed, "reward")
    fit_examples(recipe, config, model, examples, learn, show, seed=seed)


def _rows(tasks: Sequence[Compared]) -> list[Row]:
    return [row for task in tasks for rows in task for row in rows]


def _micro_batches(judge: RewardModel, batch: Sequence[Compared], most: int) -> list[list[Compared]]:
    """Micro-batches of whole tasks of similar size: at most `most` tokens each, or one task."""
    found: list[list[Compared]] = []
    for task in sorted(batch, key=lambda task: judge.cost(_rows([task]))):
        if found and judge.cost(_rows([*found[-1], task])) <= most:
            found[-1].append(task)
        else:
            found.append([task])
    return found


def _loss(
    scores: torch.Tensor, tasks: Sequence[Compared], config: RewardModelConfig
) -> tuple[torch.Tensor, float]:
    """(sum over tasks of their mean losses, sum of their shares of correctly ordered pairs)."""
    losses: list[torch.Tensor] = []
    right, start = 0.0, 0
    for passed, failed in tasks:
        good = scores[start : start + len(passed)]
        bad = scores[start + len(passed) : start + len(passed) + len(failed)]
        start += len(passed) + len(failed)
        losses.append(
            pair_loss(good, bad, centering=config.centering)
            if config.loss == "bradley-terry"
            else each_loss(good, bad)
        )
        right += float((good[:, None] > bad[None, :]).float().mean())
    return torch.stack(losses).sum(), right


def pair_loss(passed: torch.Tensor, failed: torch.Tensor, *, centering: float) -> torch.Tensor:
    """Mean over all pairs of -log sigmoid(r_passed - r_failed) + centering (r_passed + r_failed)^2."""
    good, bad = passed[:, None], failed[None, :]
    return (-F.logsigmoid(good - bad) + centering * (good + bad) ** 2).mean()


def each_loss(passed: torch.Tensor, failed: torch.Tensor) -> torch.Tensor:
    """Cross entropy of sigmoid(r) with passing; both kinds have equal weight."""
    return (-F.logsigmoid(passed).mean() - F.logsigmoid(-failed).mean()) / 2
