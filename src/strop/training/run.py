"""One training run from recipe to summary: evaluate, train, evaluate again; or resume a stopped run."""

import gc
import json
import os
import resource
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strop.config.load import dump_recipe, load_recipe
from strop.config.revision import revision
from strop.config.run_stages import RunStage, stage_at, stages_of, update_of
from strop.config.schema import Recipe
from strop.core.rollout import Group
from strop.evaluation.hack_audit import audit, flagged
from strop.evaluation.result import Evaluation, compare, paired_json
from strop.policies import release_memory
from strop.reports.alarms import Alarm, AlarmWatch
from strop.reports.run_folder import RunFolder
from strop.rollouts.groups import TaskStream
from strop.tasks.recipe import tasks_of
from strop.training import checkpoints
from strop.training.evaluations import Evaluations
from strop.training.feed import StepFeed
from strop.training.setup import RunParts, grpo_arguments, lora_arguments, set_up
from strop.training.sft import examples_of, fit, step_count
from strop.training.sinks import Sinks, check_sinks, open_sinks

Say = Callable[[str], None]
Show = Callable[[dict[str, Any]], None]
FINAL = "final"
"""Folder of a run with the trained model, as transformers loads it."""


def _silent(text: str) -> None:
    """Says nothing."""


def train(recipe: Recipe, *, say: Say, show: Show, status: Say = _silent) -> dict[str, Any]:
    """A new run; returns its summary. Raises UserError before anything is written where the recipe cannot run.

    `say` gets lines that stay on the screen, `status` what is happening now, `show` each step's metrics.
    """
    folder = recipe.run.folder
    RunFolder.check_free(folder, overwrite=recipe.run.overwrite)
    check_sinks(recipe)
    with ExitStack() as stack:
        parts = set_up(recipe, stack)
        run = stack.enter_context(
            RunFolder.create(
                folder, recipe=dump_recipe(recipe), versions=revision(), overwrite=recipe.run.overwrite
            )
        )
        run.write_vocabulary(parts.tokenizer.vocabulary())
        sinks = stack.enter_context(open_sinks(recipe, run, say, step=0, writing=_rank() == 0))
        return _Job(recipe, run, parts, sinks, say, show, status).go(None)


def resume(folder: Path, *, say: Say, show: Show, status: Say = _silent) -> dict[str, Any]:
    """Continues a run from its newest complete checkpoint, or from the start; a finished one gives its summary."""
    with ExitStack() as stack:
        run = stack.enter_context(RunFolder.resume(folder))
        recipe = load_recipe([folder / "recipe.yaml"], [f"run.dir={folder}"])
        finished = run.path / "summary.json"
        if finished.is_file():
            say(f"{folder} is already finished")
            summary: dict[str, Any] = json.loads(finished.read_text())
            return summary
        checkpoint = checkpoints.latest(run.checkpoints)
        say(f"resuming {folder} from {checkpoint.name if checkpoint else 'the start'}")
        check_sinks(recipe)
        parts = set_up(recipe, stack)
        update = update_of(checkpoint)
        step = stage_at(stages_of(recipe), update).step_of(update)[0]
        sinks = stack.enter_context(open_sinks(recipe, run, say, step=step, writing=_rank() == 0))
        return _Job(recipe, run, parts, sinks, say, show, status).go(checkpoint)


@dataclass(eq=False)
class _Job:
    """The steps of one run; holds what they share."""

    _recipe: Recipe
    _run: RunFolder
    _parts: RunParts
    _sinks: Sinks
    _say: Say
    _show: Show
    _status: Say

    def __post_init__(self) -> None:
        recipe, parts = self._recipe, self._parts
        self._tasks = {task.id: task for task in parts.train}
        self._stream = TaskStream(parts.train, recipe.seed, rank=_rank(), world=_world())
        self._stages = stages_of(recipe)
        self._stage = self._stages[0]
        self._feed = self._feed_of(self._stage)
        self._evaluations = Evaluations(recipe, self._run, parts, self._sinks, self._say, self._status)
        self._watch = AlarmWatch()
        self._started = time.perf_counter()
        self._step_started = 0.0
        self._spent = {"sampling": 0.0, "verifying": 0.0, "update": 0.0}

    def go(self, checkpoint: Path | None) -> dict[str, Any]:
        recipe, parts = self._recipe, self._parts
        before = self._evaluations.all("before") if recipe.evaluation.before and _rank() == 0 else {}
        warm: dict[str, Evaluation] = {}
        if recipe.sft.warm_start:
            if checkpoint is None:
                self._warm_up()
            if recipe.evaluation.before and _rank() == 0:
                warm = self._evaluations.all("warm", extra=False)
        for start in filter(None, (before.get(""), warm.get(""))):
            self._watch.begin(start.as_json(per_task=False))
        self._train(checkpoint)
        _free_update(parts.model)
        known = (self._run.path / "evaluation" / "after.record.json").is_file()
        after = self._evaluations.all("after") if recipe.evaluation.after and _rank() == 0 else {}
        if "" in after and not known:
            self._ring(self._watch.evaluated(recipe.optim.steps, after[""].as_json(per_task=False)))
        return self._summarise(before, warm, after)

    def _warm_up(self) -> None:
        """The supervised warm start: the same in every process, so that no weights need be sent."""
        parts, started = self._parts, time.perf_counter()
        examples = examples_of(self._recipe, parts.train, parts.tokenizer)
        updates = step_count(self._recipe, len(examples))
        self._say(f"warm start on {len(examples)} reference solutions, {updates} updates ...")
        losses: list[float] = []

        def note(metrics: dict[str, Any]) -> None:
            losses.append(metrics["loss"])
            step, said = metrics["step"], f"update {metrics['step']} of {updates}, loss {metrics['loss']:.3f}"
            self._status(said)
            if step < updates and step % max(1, updates // 4) == 0:
                self._say(f"warm start: {said}")

        fit(self._recipe, parts.model, examples, note)
        self._status("")
        self._spent["warm_start"] = time.perf_counter() - started
        self._say(f"warm start: loss {losses[0]:.3f} to {losses[-1]:.3f} ({self._spent['warm_start']:.0f} s)")

    def _feed_of(self, stage: RunStage) -> StepFeed:
        return StepFeed(stage.recipe, self._parts.player, self._parts.rubric, self._stream, world=_world())

    def _train(self, checkpoint: Path | None) -> None:
        """Stage after stage, from the one in which the checkpoint lies."""
        os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
        update = update_of(checkpoint)
        if checkpoint is not None:
            self._stream.load(checkpoints.read_state(checkpoint)["stream"])
        current = stage_at(self._stages, update)
        self._resumed_at = current.step_of(update)[0]
        self._run.truncate_after(self._resumed_at)
        for line in self._run.iter_metrics():
            self._watch.see(line)  # what rang then was said then
        for stage in self._stages[current.number - 1 :]:
            if self._recipe.stages:
                self._say(str(stage))
            last = stage is self._stages[-1]
            self._train_stage(stage, checkpoint, last)
            checkpoint = self._run.checkpoints / stage.checkpoint

    def _train_stage(self, stage: RunStage, checkpoint: Path | None, last: bool) -> None:
        """Trains one stage with a new trainer, from a checkpoint as a resumed run would."""
        from datasets import Dataset
        from transformers.trainer_callback import PrinterCallback, ProgressCallback

        from strop.training.trainer import StepWatch, StropTrainer

        self._stage, self._feed = stage, self._feed_of(stage)
        recipe, parts = stage.recipe, self._parts
        arguments = grpo_arguments(stage, self._run.checkpoints)
        # TRL asks for prompts by this data set; the feed answers with rollouts of the stream's tasks.
        asked = Dataset.from_list([{"prompt": ""}] * recipe.grpo.tasks_per_step * 2)
        trainer = StropTrainer(
            model=parts.model,
            args=arguments,
            train_dataset=asked,
            processing_class=parts.tokenizer.inner,
            peft_config=lora_arguments(recipe.model.lora),
            feed=self._play,
            on_advantages=self._note_advantages,
            state=lambda: {"stream": self._stream.state()},
            stage=stage,
            shared_prefix=recipe.optim.shared_prefix,
            callbacks=[StepWatch(self._log, stage.saves)],
        )
        for printing in (PrinterCallback, ProgressCallback):  # the live view shows the run
            trainer.remove_callback(printing)
        self._step_started = time.perf_counter()
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        trainer.accelerator.wait_for_everyone()
        if not last:
            take_apart(trainer)
        elif _rank() == 0:
            self._save_final(trainer)

    def _play(self, step: int) -> dict[str, Any]:
        self._step_started = time.perf_counter()
        self._sinks.playing(step + 1)
        self._parts.policy_update(step)
        release_memory()
        return self._feed(step)

    def _note_advantages(self, step: int, advantages: list[float]) -> None:
        if _rank() == 0:
            self._run.write_rollouts(step + 1, map(self._flagged, self._feed.with_advantages(advantages)))

    def _flagged(self, group: Group) -> Group:
        rollouts = [flagged(rollout, self._tasks) for rollout in group.rollouts]
        return group.model_copy(update={"rollouts": rollouts})

    def _log(self, optimiser_step: int, logs: dict[str, Any]) -> None:
        """One line of metrics a training step, after the last of its updates."""
        step, rest = self._stage.step_of(optimiser_step)
        if rest or _rank() != 0:
            return
        mine = self._feed.metrics
        seconds = time.perf_counter() - self._step_started
        update = seconds - mine["seconds_rollouts"]
        kept = ("loss", "grad_norm", "learning_rate", "entropy", "kl", "clip_ratio/region_mean")
        metrics = {
            "step": step,
            **({"recipe_stage": self._stage.number} if self._recipe.stages else {}),
            **mine,
            **{name.split("/")[0]: float(logs[name]) for name in kept if logs.get(name) is not None},
            "seconds_update": update,
            "seconds": seconds,
        }
        self._spent["sampling"] += mine["seconds_sampling"]
        self._spent["verifying"] += mine["seconds_verifying"]
        self._spent["update"] += update
        if numbers := self._evaluations.during(step):
            metrics["held_out"] = numbers
        self._run.append_metrics(metrics)
        self._sinks.measured(metrics)
        self._show(metrics)
        self._ring(self._watch.see(metrics))

    def _ring(self, alarms: Sequence[Alarm]) -> None:
        for alarm in alarms:
            self._say(f"alarm at step {alarm.step}: {alarm.name}: {alarm.text}")

    def _save_final(self, trainer: Any) -> None:
        target = self._run.path / FINAL
        part = target.with_name(f"{FINAL}.part")
        shutil.rmtree(part, ignore_errors=True)
        trainer.save_model(str(part))
        self._parts.tokenizer.inner.save_pretrained(part)
        shutil.rmtree(target, ignore_errors=True)
        part.rename(target)

    def _audit(self) -> dict[str, Any]:
        """How many of the trained model's answers go round their task, for tasks that can be looked at."""
        if not self._parts.held_out:
            return {}
        tasks = {task.id: task for task in tasks_of(self._recipe, judge="trusted")}
        found = audit(list(self._run.iter_evaluation_rollouts("after")), tasks)
        if found:
            kinds = ", ".join(f"{kind} {count}" for kind, count in found["kinds"].items())
            said = f" ({kinds})" if kinds else ""
            share = f"{found['flagged']} of {found['answers']}"
            self._say(f"hack audit: {share} answers go round their task{said}")
        return found

    def _summarise(
        self, before: dict[str, Evaluation], warm: dict[str, Evaluation], after: dict[str, Evaluation]
    ) -> dict[str, Any]:
        def block(name: str) -> dict[str, Any]:
            sides = {"before": before.get(name), "warm": warm.get(name), "after": after.get(name)}
            found: dict[str, Any] = {side: e.as_json(per_task=False) for side, e in sides.items() if e}
            if sides["before"] and sides["after"]:
                found["paired"] = paired_json(compare(sides["before"], sides["after"]))
            if sides["warm"] and sides["after"]:
                found["paired_after_warm_start"] = paired_json(compare(sides["warm"], sides["after"]))
            return found

        extra = {name: block(name) for name in {**before, **after} if name}
        hacks = self._audit() if after else {}
        summary = {
            "name": self._recipe.run.name,
            "steps": self._recipe.optim.steps,
            "resumed_at": self._resumed_at,
            "evaluation": {**block(""), **({"extra": extra} if extra else {})},
            **({"hack_audit": hacks} if hacks else {}),
            "wall_seconds": time.perf_counter() - self._started,
            "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "time_split": {"evaluation": self._evaluations.seconds, **self._spent},
        }
        if _rank() == 0:
            self._run.write_summary(summary)
        return summary


def take_apart(trainer: Any) -> None:
    """Gives the model back as it was before the trainer: without adapters and wrappers, which the next one adds."""
    model = trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
    if hasattr(model, "unload"):
        model.unload()
    trainer.optimizer = trainer.lr_scheduler = None
    _free_update(model)


def _free_update(model: Any) -> None:
    """Frees gradients and, once the trainer is gone, the optimiser's state: most of the memory."""
    model.zero_grad(set_to_none=True)
    gc.collect()
    release_memory()


def _rank() -> int:
    return int(os.environ.get("RANK", "0"))


def _world() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))
