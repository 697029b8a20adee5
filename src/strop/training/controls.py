"""What GRPO must beat: controls that train from the same start, on the same tasks, for as long as the run's steps took.

    ssd   supervised training on the model's own answers, one a task, verified or not (arXiv 2604.01193)
    rft   on those of its own answers that passed, each text once (rejection fine-tuning, arXiv 2308.01825)
    warm  on the references, as in a warm start that goes on

The budget is the wall time of the run's steps, without evaluations. Own answers are at most half as many as the run
sampled; updates fill what is left of the budget, by the time that one takes. Their number is written down before they
begin, so that a run that goes on after a kill repeats the same ones. Learning rate, schedule and batch are those of the
section sft; answers that were cut off teach nothing where grpo.mask_truncated says so for the run.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from strop.config.schema import Recipe
from strop.evaluation.result import Evaluation, compare, paired_json
from strop.policies.open import longest_play
from strop.reports.run_folder import RunFolder
from strop.training.backend import WARM
from strop.training.evaluations import CONTROL, Evaluations
from strop.training.setup import RunParts, untrained_parts
from strop.training.supervised import Example, examples_of, fit
from strop_verify.core.errors import UserError
from strop_verify.core.files import write_json
from strop_verify.core.ids import rng
from strop_verify.core.progress import PROGRESS
from strop_verify.core.rollout import Rollout

Say = Callable[[str], None]


class NoControl(UserError):
    """A control that has nothing to learn from; says why."""


def trained_controls(
    recipe: Recipe,
    run: RunFolder,
    parts: RunParts,
    evaluations: Evaluations,
    say: Say,
    after: Evaluation | None,
) -> dict[str, Any]:
    """{control: its rates, what it took, and by how much the trained model, evaluated as `after`, is better}, for each
    of evaluation.controls. What is done is read from the run's folder. Collective.
    """
    found: dict[str, Any] = {}
    for name in recipe.evaluation.controls if after else ():
        assert after is not None
        done = run.path / "controls" / f"{name}.done.json"
        took: dict[str, Any] = parts.ranks.from_main(partial(_read, done))
        with ExitStack() as stack:
            own = parts
            if not took:
                try:
                    with PROGRESS.at(f"control {name}", busy=True):
                        own, took = _trained(name, recipe, run, parts, stack, say)
                except NoControl as error:
                    say(f"{error}; it is left out")
                    continue
            result = evaluations.all(f"{CONTROL}{name}", extra=False, parts=own)[""]
        if parts.ranks.main:
            write_json(done, took)
        better = compare(result, after)
        said = ", ".join(
            f"{key} {one.delta:+.3f} [{one.low:+.3f}, {one.high:+.3f}]" for key, one in better.items()
        )
        say(f"the trained model against control {name}: {said}")
        found[name] = {**result.as_json(per_task=False), "took": took, "difference": paired_json(better)}
    return found


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def _trained(
    name: str, recipe: Recipe, run: RunFolder, parts: RunParts, stack: ExitStack, say: Say
) -> tuple[RunParts, dict[str, Any]]:
    """(parts with the trained control, what it took). Raises NoControl. Collective.

    What it took: seconds of the budget, of sampling and of training; answers, examples and updates.
    """
    budget = sum(float(line["seconds"]) for line in run.iter_metrics())
    start = run.path / WARM if recipe.sft.warm_start else None
    with ExitStack() as first:
        own, began = untrained_parts(recipe, parts, first, start), time.perf_counter()
        answers, examples = _examples(name, recipe, own)
        sampling = time.perf_counter() - began
        if not examples:
            raise NoControl(f"control {name}: none of {answers} answers can be learnt from")
        plan = run.path / "controls" / f"{name}.json"

        def planned() -> dict[str, Any]:
            if known := _read(plan):
                return known
            began = time.perf_counter()
            fit(_with_steps(recipe, 1), own.backend.model, examples, lambda metrics: None)
            updates = max(1, int((budget - sampling) / (time.perf_counter() - began)))
            found: dict[str, Any] = {"answers": answers, "examples": len(examples), "updates": updates}
            found |= {"seconds_budget": budget, "seconds_sampling": sampling}
            plan.parent.mkdir(exist_ok=True)
            write_json(plan, found)
            return found

        took: dict[str, Any] = parts.ranks.from_main(planned)
    say(
        f"control {name}: {took['updates']} updates on {len(examples)} examples, in {budget:.0f} s as the run had"
    )
    own, began = untrained_parts(recipe, parts, stack, start), time.perf_counter()
    fit(_with_steps(recipe, took["updates"]), own.backend.model, examples, lambda metrics: None)
    return own, {**took, "seconds_training": time.perf_counter() - began}


def _with_steps(recipe: Recipe, steps: int) -> Recipe:
    return recipe.model_copy(update={"sft": recipe.sft.model_copy(update={"steps": steps})})


def _examples(name: str, recipe: Recipe, parts: RunParts) -> tuple[int, list[Example]]:
    """(answers that were sampled, what is learnt)."""
    if name == "warm":
        return 0, examples_of(parts.sets, parts.tokenizer)
    grpo = recipe.grpo
    each = 1 if name == "ssd" else grpo.group_size
    most = recipe.optim.steps * grpo.tasks_per_step * grpo.group_size // 2
    tasks = sorted(parts.train, key=lambda task: rng(recipe.seed, "control", task.id).random())
    parts.publish(0)
    params = recipe.sampling.params()
    chosen = tasks[: max(1, most // each)]
    played = parts.play.rollouts(chosen, each, params, seed=recipe.seed, tag=f"control {name}")
    answers = sorted(played, key=lambda rollout: (rollout.task_id, rollout.index))
    examples = list(_learnt(answers, passed=name == "rft", whole=grpo.mask_truncated))
    most_tokens = longest_play(recipe)
    return len(answers), [
        one for one in examples if sum(len(part) for turn in one for part in turn) <= most_tokens
    ]


def _learnt(answers: Sequence[Rollout], *, passed: bool, whole: bool) -> Iterator[Example]:
    seen = set[tuple[str, str]]()
    for rollout in answers:
        right = rollout.verdict is not None and rollout.verdict.passed
        key = rollout.task_id, rollout.answer
        if rollout.left_out or (whole and rollout.truncated) or not rollout.answer.strip():
            continue
        if passed and (key in seen or not right):
            continue
        seen.add(key)
        yield from ([turn.tokens for turn in turns] for turns in rollout.rows())
