"""A run's evaluations: before and after training, between warm start and training, and during training.

They use their own random numbers, so evaluations do not change the trained weights. Each is written to the run folder
when it is done, and not repeated if it is already there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from strop.config.schema import EvaluationConfig, ExtraEvaluation, Recipe
from strop.config.tasks import TasksConfig
from strop.environments.registry import played_by
from strop.evaluation.contamination import contamination
from strop.evaluation.evaluate import evaluate_with
from strop.evaluation.hack_audit import flagged
from strop.evaluation.result import Contamination, Evaluation, compare, paired_json, rates_json
from strop.policies import release_memory
from strop.reports.run_folder import RunFolder, step_name
from strop.tasks.task_sets import TaskSet, extra_tasks, tasks_source
from strop.training.feed import DistributedRollouts
from strop.training.setup import RunParts
from strop.training.sinks import Sinks
from strop.training.watch import longest_wait
from strop_verify.core.files import write_json
from strop_verify.core.ids import derive_seed
from strop_verify.core.play import PlayLimits
from strop_verify.core.progress import PROGRESS
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task

Say = Callable[[str], None]
Status = Callable[[str, int, int], None]
"""Receives the current activity, how many are done, and of how many; ("", 0, 0) when idle."""
Sides = dict[str, Evaluation]
"""{"before", "warm" or "after": evaluation} of one task set."""
SIDES = ("before", "warm", "after")
CONTROL = "control_"
"""Prefix of the name of a trained control's evaluation (`training.controls`)."""
ROOM = "room"
"""Name of the control with more tokens: see `EvaluationConfig.room`."""


class Evaluations:
    """Evaluates a run's model in its current state and records the results. `seconds`: wall time spent so far."""

    def __init__(
        self, recipe: Recipe, run: RunFolder, parts: RunParts, sinks: Sinks, say: Say, status: Status
    ) -> None:
        self._recipe, self._run, self._parts = recipe, run, parts
        self._sinks, self._say, self._status = sinks, say, status
        self.seconds = 0.0
        self._answers = 0
        """Number of answers sampled in these seconds."""
        self._whole = 0.0
        """Seconds of the last full evaluation."""
        self._known: dict[frozenset[str], Contamination | None] = {}

    def all(self, name: str, *, extra: bool = True, parts: RunParts | None = None) -> dict[str, Evaluation]:
        """{set name: evaluation} of the side `name`; "" is the held-out set. `parts`: evaluates another model."""
        config, parts = self._recipe.evaluation, parts or self._parts
        parts.publish(self._recipe.optim.steps if name == "after" else 0)
        done: dict[str, Evaluation] = {}
        started = self.seconds
        if parts.held_out:
            done[""] = self._one(name, "held-out", parts.play, parts.held_out, self._recipe)
            if name == "before" and config.room > 1:
                most = self._recipe.sampling.max_tokens * config.room
                roomy = self._recipe.having({"evaluation.samples": 0, "sampling.max_tokens": most})
                self._one(ROOM, "held-out", parts.play, parts.held_out, roomy)
        for check in config.extra if extra else ():
            done[check.name] = self._extra(name, check, parts)
        if extra:
            self._whole = self.seconds - started
        return done

    def during(self, step: int) -> dict[str, Any]:
        """The numbers for the metrics of a step (from 1) if an evaluation follows it, else {}."""
        config, parts = self._recipe.evaluation, self._parts
        if not config.every or step % config.every or not parts.held_out:
            return {}
        parts.publish(step)
        changes = {"samples": config.every_samples, "k": [1], "greedy": config.every_samples == 0}
        recipe = self._recipe.having({"evaluation": config.having(changes)})
        result = self._one(step_name(step), "", parts.play, some(parts.held_out, config), recipe)
        return {
            **rates_json({key: e for key in result.keys if (e := result.estimate(key)) is not None}),
            "tasks": len(result.counts),
            "samples": result.samples,
            "seconds": result.seconds,
        }

    def to_come(self, metrics: Mapping[str, Any]) -> float:
        """Seconds that the remaining evaluations will take at the pace of earlier ones, or of the step's rollouts."""
        config, total, step = self._recipe.evaluation, self._recipe.optim.steps, int(metrics["step"])
        held_out = self._parts.held_out
        answers = 0
        if config.every and held_out:
            times = total // config.every - step // config.every
            answers += times * len(some(held_out, config)) * max(1, config.every_samples)
        last = config.after + (config.before == "last")
        whole = last * self._whole
        if not whole:
            answers += last * len(held_out) * (config.samples + config.greedy)
            answers += last * sum((one.limit or 0) * (one.samples + one.greedy) for one in config.extra)
        if config.before == "last" and config.room > 1 and not whole:
            answers += len(held_out) * config.room
        if self._answers:
            return whole + answers * self.seconds / self._answers
        parts = ("sampling", "starting", "tools", "verifying")
        sampled = sum(float(metrics.get(f"seconds_{part}") or 0) for part in parts)
        return answers * sampled / max(1, metrics.get("rollouts") or 0)

    def _extra(self, name: str, check: ExtraEvaluation, parts: RunParts) -> Evaluation:
        recipe = self._recipe
        own = parts.play.player
        if isinstance(recipe.tasks, list):
            recipe = recipe.having({"tasks": TasksConfig()})
        unbounded = replace(own.limits, prompt=PlayLimits.prompt)
        environment = played_by(recipe, check.style, kind=parts.given.environment)
        play = replace(parts.play, player=own.copy_with(own.policy, environment, unbounded))
        settings = check.model_dump(include={"samples", "temperature", "k", "greedy"})
        most = check.max_tokens or recipe.sampling.max_tokens
        recipe = recipe.having(
            {"evaluation": recipe.evaluation.having(settings), "sampling.max_tokens": most}
        )
        tasks = extra_tasks(self._recipe, check)
        return self._one(f"{name}-{check.name}", check.name, play, tasks, recipe)

    def _one(
        self, name: str, what: str, play: DistributedRollouts, tasks: Sequence[Task], recipe: Recipe
    ) -> Evaluation:
        """One evaluation with the settings of `recipe`, or the one on disk; reported if `what` names the set."""
        ranks, saved = self._parts.ranks, self._saved(name)
        if (text := ranks.from_main(lambda: saved.read_text() if saved.is_file() else None)) is not None:
            return Evaluation.model_validate_json(text)
        release_memory()
        if what:
            when = "before training" if name == ROOM else f"{name.partition('-')[0]} training"
            when = name.replace("_", " ") if name.startswith(CONTROL) else when
            more = f", {recipe.sampling.max_tokens} tokens" if name == ROOM else ""
            self._say(f"evaluating {when} on {len(tasks)} {what} tasks{more} ...")
        with PROGRESS.at(f"evaluation {name}", most=longest_wait(recipe)):
            control = None if name.startswith(CONTROL) else play.control()  # a control needs no control
            result, rollouts = self._play(play, control, tasks, recipe)
        if name == "after" and self._saved(ROOM).is_file():
            room = Evaluation.model_validate_json(self._saved(ROOM).read_text())
            result = result.model_copy(update={"controls": {**result.controls, ROOM: room}})
        result = ranks.from_main(lambda: result)
        self.seconds += result.seconds
        self._answers += len(rollouts)
        if ranks.main:
            self._write(name, result, rollouts, tasks)
        if what:
            stages = [key for stage, key in result.first_stage_keys.items() if stage != "test"]
            keys = [*result.keys, *stages]
            values = ", ".join(f"{key} {e.value:.3f}" for key in keys if (e := result.estimate(key)))
            key = result.keys[0]
            others = "".join(
                f", {other} {e.value:.3f}"
                for other, one in result.controls.items()
                if (e := one.estimate(key))
            )
            self._say(f"{name}: {values}{others} ({result.seconds:.0f} s)")
        return result

    def _write(
        self, name: str, result: Evaluation, rollouts: Sequence[Rollout], tasks: Sequence[Task]
    ) -> None:
        known = {task.id: task for task in tasks}
        self._run.write_evaluation(name, result.as_json(), (flagged(rollout, known) for rollout in rollouts))
        write_json(self._saved(name), result.model_dump(mode="json"))
        self._sinks.evaluated(name, result.as_json(per_task=False))

    def _saved(self, name: str) -> Path:
        return self._run.path / "evaluation" / f"{name}.record.json"

    def _play(
        self,
        play: DistributedRollouts,
        control: DistributedRollouts | None,
        tasks: Sequence[Task],
        recipe: Recipe,
    ) -> tuple[Evaluation, list[Rollout]]:
        """The result, and the rollouts ordered by task id and index. `control` resamples."""
        rollouts: list[Rollout] = []
        expected = len(tasks) * (recipe.evaluation.samples + recipe.evaluation.greedy)

        def take(rollout: Rollout) -> None:
            rollouts.append(rollout)
            self._status("evaluating: answers", len(rollouts), expected)

        seen = self._contamination(tasks)
        result = evaluate_with(
            recipe,
            play.rollouts,
            tasks,
            contamination=seen,
            on_rollout=take,
            control=control.rollouts if control else None,
            on_control=partial(self._status, "resampling: tokens"),
        )
        play.player.clock.take()
        self._status("", 0, 0)
        return result, sorted(rollouts, key=lambda rollout: (rollout.task_id, rollout.index))

    def _contamination(self, tasks: Sequence[Task]) -> Contamination | None:
        """What the model may already have seen of a set; computed once per set."""
        key = frozenset(task.id for task in tasks)
        if key not in self._known:
            with PROGRESS.at("looking for contamination", busy=True):
                self._known[key] = contamination(
                    tasks,
                    cutoff=self._recipe.model.cutoff,
                    training=self._parts.train,
                    source=", ".join(dict.fromkeys(tasks_source(one.recipe) for one in self._parts.sets)),
                )
        return self._known[key]


def some(tasks: Sequence[Task], config: EvaluationConfig) -> list[Task]:
    """The tasks evaluated during training: at most `every_limit`, always the same, chosen by a hash of their ids."""
    order = sorted(tasks, key=lambda task: derive_seed("evaluation during training", task.id))
    return sorted(order[: config.every_limit], key=lambda task: task.id)


def read_evaluations(folder: Path) -> dict[str, tuple[dict[str, Evaluation], dict[str, Any] | None]]:
    """{set name: ({"before": ..., "after": ...}, paired differences or None)}; "" is the held-out set. Trained controls
    come before "after"; evaluations during training, which use some of the tasks, are left out.
    """
    found: dict[str, dict[str, Evaluation]] = {}
    for path in (folder / "evaluation").glob("*.record.json"):
        side, _, name = path.name.removesuffix(".record.json").partition("-")
        if side in SIDES or side.startswith(CONTROL):
            found.setdefault(name, {})[side] = Evaluation.model_validate_json(path.read_text())
    order = ("before", "warm", CONTROL, "after")

    def place(side: str) -> int:
        return order.index(CONTROL if side.startswith(CONTROL) else side)

    return {
        name: (
            {side: sides[side] for side in sorted(sides, key=place)},
            compare(sides["before"], sides["after"]) if {"before", "after"} <= sides.keys() else None,
        )
        for name, sides in sorted(found.items())
    }


def evaluation_summary(
    before: Mapping[str, Evaluation],
    warm: Mapping[str, Evaluation],
    after: Mapping[str, Evaluation],
    sets: Sequence[TaskSet],
) -> dict[str, Any]:
    """The summary of the held-out tasks, also by task set if there are several, and of each set of evaluation.extra.

    `before`, `warm` and `after` are {set of evaluation.extra: evaluation}; "" is the held-out tasks.
    """
    by_time = {"before": before, "warm": warm, "after": after}

    def sides(name: str) -> Sides:
        return {side: found[name] for side, found in by_time.items() if name in found}

    summary = _whole(sides(""))
    if len(sets) > 1:
        held_out = {one.name: {task.id for task in one.held_out} for one in sets if one.held_out}
        summary["task_sets"] = {name: _part(sides(""), tasks) for name, tasks in held_out.items()}
    extra = {name: _whole(sides(name)) for name in {**before, **after} if name}
    return {**summary, **({"extra": extra} if extra else {})}


def _whole(sides: Sides) -> dict[str, Any]:
    found: dict[str, Any] = {side: one.as_json(per_task=False) for side, one in sides.items()}
    return found | _paired(sides, None)


def _part(sides: Sides, tasks: set[str]) -> dict[str, Any]:
    """The rates on these tasks."""
    found: dict[str, Any] = {
        side: rates_json({key: one.estimate(key, tasks=tasks) for key in one.keys})
        for side, one in sides.items()
    }
    return {"tasks": len(tasks), **found, **_paired(sides, tasks)}


def _paired(sides: Sides, tasks: set[str] | None) -> dict[str, Any]:
    starts = {"paired": "before", "paired_after_warm_start": "warm"}
    return {
        name: paired_json(compare(sides[start], sides["after"], tasks=tasks))
        for name, start in starts.items()
        if start in sides and "after" in sides
    }
