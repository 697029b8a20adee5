"""What GRPO must beat: controls trained from the same start, on the same tasks, with the same compute.

    ssd   supervised training on the model's own answers, one per task, verified or not (arXiv 2604.01193)
    rft   on its own answers that passed, each text once (rejection fine-tuning, arXiv 2308.01825)
    warm  on the references, as a longer warm start

The budget is the time of the run's steps without evaluations: CPU seconds of this process, or wall time on a GPU; jails
are not counted. Answers are sampled for half of it; the number of updates follows from the rest and the time of one.
Both numbers are recorded, so that a resumed run repeats them. Learning rate, schedule and batch are those of the
section sft; grpo.mask_truncated leaves out truncated answers, as in the run.
"""

import gc
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import torch

from strop.config.schema import Recipe
from strop.evaluation.result import Evaluation, compare, paired_json
from strop.policies import release_memory
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

WORDS = {"seconds_cpu": "CPU seconds", "seconds": "seconds"}
ROUND = 128
"""Number of answers sampled at a time."""
Say = Callable[[str], None]


def trained_controls(
    recipe: Recipe,
    run: RunFolder,
    parts: RunParts,
    evaluations: Evaluations,
    say: Say,
    after: Mapping[str, Evaluation],
) -> dict[str, Any]:
    """{control: its rates, its costs, and how much better the trained model (`after`) is}, for evaluation.controls;
    `extra` has the same for each set of evaluation.extra. Finished controls are read from the run's folder. Collective.
    """
    found: dict[str, Any] = {}
    if "" not in after:
        return found
    _, counted = _clock()
    budget = sum(float(line.get(counted, line["seconds"])) for line in run.iter_metrics())
    for name in recipe.evaluation.controls:
        done = run.path / "controls" / f"{name}.done.json"
        took: dict[str, Any] = parts.ranks.from_main(partial(_read, done))
        with ExitStack() as stack:
            own = parts
            if not took:
                try:
                    with PROGRESS.at(f"control {name}", busy=True):
                        own, took = trained_control(name, recipe, run, parts, budget, stack, say)
                except UserError as error:  # nothing to learn from; the run itself is complete
                    say(f"control {name} is left out: {error}")
                    continue
            results = evaluations.all(f"{CONTROL}{name}", parts=own)
        if parts.ranks.main:
            write_json(done, took)
        against = {one: _against(name, one, result, after[one], say) for one, result in results.items()}
        found[name] = {**against.pop(""), "took": took, **({"extra": against} if against else {})}
    return found


def _against(name: str, on: str, result: Evaluation, after: Evaluation, say: Say) -> dict[str, Any]:
    better = compare(result, after)
    told = [f"{key} {one.delta:+.3f} [{one.low:+.3f}, {one.high:+.3f}]" for key, one in better.items()]
    say(f"the trained model against control {name}{on and f' on {on}'}: {', '.join(told)}")
    return {**result.as_json(per_task=False), "difference": paired_json(better)}


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def trained_control(
    name: str,
    recipe: Recipe,
    run: RunFolder,
    parts: RunParts,
    budget: float,
    stack: ExitStack,
    say: Say,
) -> tuple[RunParts, dict[str, Any]]:
    """(parts with the trained control, its costs), for a budget in seconds. Raises UserError if there is nothing to
    learn from. Collective.

    Costs: seconds of the budget, of sampling and of training; rounds of answers, examples and updates; the last loss.
    """
    clock, counted = _clock()
    start = run.path / WARM if recipe.sft.warm_start else None
    plan = run.path / "controls" / f"{name}.json"
    known: dict[str, Any] = parts.ranks.from_main(partial(_read, plan))
    found, examples = _planned(name, recipe, parts, start, known, budget)
    gc.collect()  # models contain reference cycles
    release_memory()
    if parts.ranks.main:
        plan.parent.mkdir(exist_ok=True)
        write_json(plan, found)
    say(
        f"control {name}: {found['updates']} updates on {len(examples)} examples, in {budget:.0f} {WORDS[counted]}, "
        "like the run's steps"
    )
    own, began = untrained_parts(recipe, parts, stack, start), clock()
    losses: list[float] = []
    steps = recipe.having({"sft.steps": found["updates"]})
    fit(steps, own.backend.model, examples, lambda metrics: losses.append(metrics["loss"]))
    return own, {**found, "seconds_training": clock() - began, "loss": losses[-1]}


def _planned(
    name: str, recipe: Recipe, parts: RunParts, start: Path | None, known: dict[str, Any], budget: float
) -> tuple[dict[str, Any], list[Example]]:
    """(costs so far, what to learn from), using its own model, which is freed before the one to train is loaded."""
    clock, _ = _clock()
    with ExitStack() as stack:
        own, began = untrained_parts(recipe, parts, stack, start), clock()
        rounds, examples = _examples(name, recipe, own, known.get("rounds"), budget / 2)
        sampling = clock() - began
        if not examples:
            raise UserError("there is no answer to learn from")
        found = known or {
            "rounds": rounds,
            "examples": len(examples),
            "updates": _updates(recipe, own, examples, budget - sampling),
            "seconds_budget": budget,
            "seconds_sampling": sampling,
        }
        found = parts.ranks.from_main(lambda: found)
    return found, examples


def _clock() -> tuple[Callable[[], float], str]:
    """(the clock of the budget, its name in metrics)."""
    return (time.perf_counter, "seconds") if torch.cuda.is_available() else (time.process_time, "seconds_cpu")


def _updates(recipe: Recipe, parts: RunParts, examples: Sequence[Example], seconds: float) -> int:
    """Number of updates that fit into `seconds`, at least one. The first one includes the proof of its computation."""
    clock, _ = _clock()
    times = [clock()]
    two = recipe.having({"sft.steps": 2})
    fit(two, parts.backend.model, examples, lambda metrics: times.append(clock()))
    first, other = times[1] - times[0], times[2] - times[1]
    return 1 + max(0, int((seconds - first) / other))


def _examples(
    name: str, recipe: Recipe, parts: RunParts, rounds: int | None, seconds: float
) -> tuple[int, list[Example]]:
    """(rounds of sampling, examples). Without `rounds`, samples for `seconds`, or once through all tasks."""
    if name == "warm":
        return 0, examples_of(parts.sets, parts.tokenizer)
    each = 1 if name == "ssd" else recipe.grpo.group_size
    tasks = sorted(parts.train, key=lambda task: rng(recipe.seed, "control", task.id).random())
    size, answers, done = max(1, ROUND // each), list[Rollout](), 0
    parts.publish(0)
    clock, _ = _clock()
    began = clock()
    while done * size < len(tasks) and (done < rounds if rounds is not None else True):
        some, tag = tasks[done * size : (done + 1) * size], f"control {name} {done}"
        played = parts.play.rollouts(some, each, recipe.sampling.params(), seed=recipe.seed, tag=tag)
        answers += sorted(played, key=lambda rollout: (rollout.task_id, rollout.index))
        done += 1
        late = parts.ranks.from_main(lambda: clock() - began > seconds)
        if rounds is None and late:
            break
    found = _learnt(answers, passed=name == "rft", whole=recipe.grpo.mask_truncated)
    most = longest_play(recipe)
    return done, [one for one in found if sum(len(part) for turn in one for part in turn) <= most]


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
