"""One training run from recipe to summary: evaluate, train, evaluate again; or resume a stopped run."""

import gc
import json
import resource
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strop.config.load import dump_recipe, load_recipe
from strop.config.revision import revision
from strop.config.run_stages import RunStage, stage_at, stages_of, update_of
from strop.config.schema import Recipe
from strop.evaluation.hack_audit import audit, flagged_groups
from strop.evaluation.hacking import hacking_curve, write_hacking
from strop.evaluation.result import Evaluation
from strop.policies import release_memory
from strop.reports.alarms import Alarm, AlarmWatch
from strop.reports.run_folder import ERROR, HACKING, RunFolder
from strop.tasks.task_sets import each, tasks_of
from strop.training import checkpoints
from strop.training.backend import WARM, keeps_warm
from strop.training.caller_overrides import GIVEN, NOTHING, Overrides
from strop.training.controls import trained_controls
from strop.training.evaluations import Evaluations, Status, evaluation_summary
from strop.training.failures import error_kept
from strop.training.loop import Loop, NotFinite, TrainedStep
from strop.training.model_card import write_card
from strop.training.online import EditEventFeed
from strop.training.ranks import Ranks, join, leave
from strop.training.resume_changes import changed_recipe, find_code, keep_code, note_changes
from strop.training.setup import RunParts, set_up, untrained_parts
from strop.training.sinks import Sinks, check_sinks, open_sinks
from strop.training.supervised import examples_of, fit, overshoot, step_count
from strop.training.watch import watched
from strop_verify.core.errors import UserError
from strop_verify.core.files import write_json
from strop_verify.core.progress import PROGRESS

Say = Callable[[str], None]
Named = dict[str, Evaluation]
"""{task set: its evaluation}; "" stands for the held-out tasks."""
Show = Callable[[dict[str, Any]], None]
FINAL = "final"
"""Folder in a run with the trained model, as transformers loads it."""
MOST_SAID = 5
"""Maximum number of tasks set aside in a step that are named on the screen."""


def train(
    recipe: Recipe, *, given: Overrides = NOTHING, say: Say, show: Show,
    status: Status = lambda text, done, total: None,
) -> dict[str, Any]:  # fmt: skip
    """Trains a new run; returns its summary. `say` gets lines that stay on the screen, `status` the current activity,
    `show` each step's metrics.

    Raises UserError before anything is written if the recipe cannot run, RunStopped if the run's `stop` file ended it.
    """
    ranks, folder, overwrite = join(), recipe.run.folder, recipe.run.overwrite
    ranks.from_main(lambda: RunFolder.check_free(folder, overwrite=overwrite))
    ranks.from_main(lambda: check_sinks(recipe))
    with ExitStack() as stack:
        stack.callback(leave)
        stack.enter_context(_on_signal())
        stack.enter_context(watched(recipe, ranks))
        parts = set_up(recipe, ranks, stack, say, given)
        files: dict[str, Any] = {"recipe": dump_recipe(recipe), "versions": revision()}
        run = _opened(ranks, stack, lambda: RunFolder.create(folder, overwrite=overwrite, **files), folder)
        if ranks.main:
            for name in (GIVEN, ERROR):  # of an earlier run in this folder
                (folder / name).unlink(missing_ok=True)
            for name in (FINAL, WARM):
                shutil.rmtree(folder / name, ignore_errors=True)
            if given.names():
                write_json(folder / GIVEN, given.names())
        stack.enter_context(error_kept(recipe, run.path, ranks))
        if ranks.main:
            keep_code(run.path, recipe)
            run.write_vocabulary(parts.tokenizer.vocabulary())
        return _go(recipe, run, parts, stack, None, say, show, status)


def resume(
    folder: Path, changes: Sequence[str] = (), *, given: Overrides = NOTHING, say: Say, show: Show,
    status: Status = lambda text, done, total: None,
) -> dict[str, Any]:  # fmt: skip
    """Continues a run from its newest complete checkpoint, or from the start; `changes` are KEY=VALUE words. For a
    finished run without further steps, returns its summary. Raises UserError if `given` is not what the run started
    with, or if a setting cannot change.
    """
    ranks = join()
    with ExitStack() as stack:
        stack.callback(leave)
        stack.enter_context(_on_signal())
        run = _opened(ranks, stack, lambda: RunFolder.resume(folder), folder)
        checkpoint = ranks.from_main(lambda: checkpoints.latest(run.checkpoints))
        update = update_of(checkpoint)
        old = load_recipe([folder / "recipe.yaml"], [f"run.dir={folder}"])
        step = stage_at(stages_of(old), update).step_of(update)[0]
        recipe, changed = changed_recipe(folder, changes, step)
        finished = run.path / "summary.json"
        if ranks.from_main(finished.is_file) and recipe.optim.steps <= old.optim.steps:
            say(f"{folder} is already finished; give it more steps with optim.steps={2 * old.optim.steps}")
            summary: dict[str, Any] = json.loads(finished.read_text())
            return summary
        stack.enter_context(watched(recipe, ranks))
        ranks.from_main(lambda: checkpoints.check(checkpoint))
        ranks.from_main(lambda: given.check(folder))
        ranks.from_main(lambda: check_sinks(recipe))
        warm = folder / WARM if checkpoint and keeps_warm(recipe) else None
        if warm is not None and (fault := ranks.from_main(lambda: checkpoints.damage(warm))):
            raise UserError(
                f"{fault}; without the model after the warm start there is nothing to resume from"
            )
        ranks.barrier()  # all have read the recipe
        stack.enter_context(error_kept(recipe, run.path, ranks))
        say(f"resuming {folder} from {checkpoint.name if checkpoint else 'the start'}")
        located = find_code(folder, recipe, step, say, main=ranks.main)
        parts = set_up(located, ranks, stack, say, given, warm)
        if changed and ranks.main:
            note_changes(folder, recipe, changed, step, say)
        return _go(located, run, parts, stack, checkpoint, say, show, status)


def _go(
    recipe: Recipe, run: RunFolder, parts: RunParts, stack: ExitStack, checkpoint: Path | None,
    say: Say, show: Show, status: Status,
) -> dict[str, Any]:  # fmt: skip
    """Runs from a checkpoint, or from the start; returns the summary."""
    update = update_of(checkpoint)
    step = stage_at(stages_of(recipe), update).step_of(update)[0]
    sinks = stack.enter_context(open_sinks(recipe, run, say, step=step, writing=parts.ranks.main))
    job = _Job(recipe, run, parts, sinks, say, show, status)
    stack.enter_context(_on_signal(job.request_checkpoint))
    return job.go(checkpoint)


@contextmanager
def _on_signal(request: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Makes SIGUSR2 call `request`; does nothing outside the main thread, since only that may handle signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGUSR2, lambda *_: request())
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR2, before or signal.SIG_DFL)


def _opened(ranks: Ranks, stack: ExitStack, make: Callable[[], RunFolder], folder: Path) -> RunFolder:
    """The run's folder: rank 0 creates or locks it, the others read it."""
    made: list[RunFolder] = []
    ranks.from_main(lambda: made.append(stack.enter_context(make())))
    return made[0] if made else RunFolder.read(folder)


@dataclass(eq=False)
class _Job:
    """The phases of one run and the state that they share."""

    _recipe: Recipe
    _run: RunFolder
    _parts: RunParts
    _sinks: Sinks
    _say: Say
    _show: Show
    _status: Status

    def __post_init__(self) -> None:
        recipe, parts = self._recipe, self._parts
        self._main = parts.ranks.main
        self._tasks = {task.id: task for one in parts.sets for task in one.train}
        self._evaluations = Evaluations(recipe, self._run, parts, self._sinks, self._say, self._status)
        self._watch = AlarmWatch()
        self._started = time.perf_counter()
        self._loop: Loop | None = None
        self._spent = dict.fromkeys(("sampling", "starting", "tools", "verifying", "rewards", "update"), 0.0)

    def go(self, checkpoint: Path | None) -> dict[str, Any]:
        recipe = self._recipe
        before = self._evaluations.all("before") if recipe.evaluation.before is True else {}
        warm: Named = {}
        if recipe.sft.warm_start:
            if checkpoint is None:
                self._warm_up()
            if recipe.evaluation.before in (True, "warm"):
                warm = self._evaluations.all("warm", extra=False)
        for start in filter(None, (before.get(""), warm.get(""))):
            self._watch.begin(start.as_json(per_task=False))
        self._train(checkpoint)
        if recipe.evaluation.before == "last":
            before = self._before_last()
        known = self._parts.ranks.from_main((self._run.path / "evaluation" / "after.record.json").is_file)
        after = self._evaluations.all("after") if recipe.evaluation.after else {}
        if "" in after and not known:
            self._ring(self._watch.evaluated(recipe.optim.steps, after[""].as_json(per_task=False)))
        against = (recipe, self._run, self._parts, self._evaluations, self._say)
        return self._summarise(before, warm, after, trained_controls(*against, after))

    def request_checkpoint(self) -> None:
        """Makes the loop save a checkpoint after the current step; does nothing outside training."""
        if self._loop is not None:
            self._loop.request_checkpoint()

    def _before_last(self) -> Named:
        with ExitStack() as stack:
            with PROGRESS.at("loading the untrained model", busy=True):
                parts = untrained_parts(self._recipe, self._parts, stack)
            before = self._evaluations.all("before", parts=parts)
        if "" in before:
            self._watch.begin(before[""].as_json(per_task=False))
        return before

    @PROGRESS.at("the warm start", busy=True)
    def _warm_up(self) -> None:
        """The supervised warm start, identical in every process, so that no weights need to be sent."""
        parts, started = self._parts, time.perf_counter()
        examples = examples_of(parts.sets, parts.tokenizer)
        updates = step_count(self._recipe.sft, len(examples))
        what = "demonstrations" if self._recipe.sft.demos else "reference solutions"
        self._say(f"warm start on {len(examples)} {what}, {updates} updates ...")
        losses: list[float] = []

        def note(metrics: dict[str, Any]) -> None:
            losses.append(metrics["loss"])
            step = metrics["step"]
            self._status(f"warm start, loss {metrics['loss']:.3f}", step, updates)
            if step < updates and step % max(1, updates // 4) == 0:
                self._say(f"warm start: update {step} of {updates}, loss {metrics['loss']:.3f}")

        fit(self._recipe, parts.backend.model, examples, note)
        self._status("", 0, 0)
        if keeps_warm(self._recipe):
            self._save_model(WARM)
            parts.ranks.barrier()
            parts.backend.folder = self._run.path / WARM
        self._spent["warm_start"] = time.perf_counter() - started
        self._say(f"warm start: loss {losses[0]:.3f} to {losses[-1]:.3f} ({self._spent['warm_start']:.0f} s)")
        if warning := overshoot(losses):
            self._say(f"warning: warm start: {warning}")

    def _train(self, checkpoint: Path | None) -> None:
        """Runs and records every step after the checkpoint, then saves the final model."""
        with PROGRESS.at("preparing the update", busy=True):
            recipe, parts = self._recipe, self._parts
            feed = EditEventFeed(recipe, parts, self._say) if recipe.feed == "edit-events" else None
            loop = self._loop = Loop(recipe, parts, self._run, checkpoint, feed)
        loop.feed.progress = self._status
        if proof := getattr(self._parts.policy, "proof", None):
            self._say(f"sampling {proof}")
        self._say(f"update {loop.learner.computes.proof}")
        self._resumed_at = loop.begins_after
        if self._main:
            self._run.truncate_after(loop.begins_after)
            if lost := self._run.lost_metrics(loop.begins_after):
                self._say(f"metrics.jsonl lacks the finished steps {lost}: curves leave them out")
        for line in self._run.iter_metrics():
            self._watch.see(line)  # its alarms have already been printed
        if not loop.has_optimiser:
            self._say(f"{checkpoint} has no optimiser state (run.keep_optimizer=false): AdamW starts afresh")
        self._set_aside = loop.feed.set_aside
        try:
            for step in loop.steps(self._sinks.playing, self._begin):
                self._write_down(step)
                self._note_set_aside(loop.feed.set_aside)
        except NotFinite as error:
            raise NotFinite(f"{error}; {self._last_finite()}") from error
        self._save_model(FINAL)
        self._parts.backend.close()
        gc.collect()
        release_memory()

    def _last_finite(self) -> str:
        """Makes the newest checkpoint, whose weights are finite, the run's model; returns what to tell the user."""
        newest = self._parts.ranks.from_main(lambda: checkpoints.latest(self._run.checkpoints))
        if newest is None:
            return "there is no checkpoint yet"
        self._parts.backend.load_checkpoint(newest)
        self._save_model(FINAL)
        return (
            f"{newest.name} and {FINAL} hold the model after the last finite update; continue with: strop train "
            f"--resume {self._run.path} optim.learning_rate={self._recipe.optim.learning_rate / 2:g}"
        )

    @PROGRESS.at("saving the model", busy=True)
    def _save_model(self, name: str) -> None:
        """Writes model and tokenizer to a folder of the run, completely or not at all."""
        with self._whole(name) as part:
            self._parts.backend.save_model(part)
            if self._main:
                self._parts.tokenizer.inner.save_pretrained(part)

    @contextmanager
    def _whole(self, name: str) -> Iterator[Path]:
        """A folder to write to, renamed to `name` in the run folder when the block succeeds."""
        target, part = self._run.path / name, self._run.path / f"{name}.part"
        if self._main:
            shutil.rmtree(part, ignore_errors=True)
        try:
            yield part
            if self._main:
                checkpoints.seal(part)
                shutil.rmtree(target, ignore_errors=True)
                part.rename(target)
        except BaseException:
            if self._main:
                shutil.rmtree(part, ignore_errors=True)
            raise

    def _note_set_aside(self, now: Mapping[str, str]) -> None:
        new = sorted(now.keys() - self._set_aside.keys())
        for task_id in new[:MOST_SAID]:
            self._say(f"task {task_id} is set aside: {now[task_id]}")
        if len(new) > MOST_SAID:
            self._say(
                f"{len(new) - MOST_SAID} more tasks are set aside; `strop audit` says what is wrong with tasks"
            )
        self._set_aside = now

    def _begin(self, stage: RunStage) -> None:
        if self._recipe.stages:
            self._say(str(stage))

    def _write_down(self, step: TrainedStep) -> None:
        if self._main:
            self._run.write_rollouts(step.number, flagged_groups(step.played, self._tasks))
        for part in self._spent.keys() - {"warm_start"}:
            self._spent[part] += step.metrics[f"seconds_{part}"]
        metrics = {
            "step": step.number,
            **({"recipe_stage": step.stage.number} if self._recipe.stages else {}),
            **step.metrics,
        }
        if numbers := self._evaluations.during(step.number):
            metrics["held_out"] = numbers
        if self._main:
            self._run.append_metrics(metrics)
        self._sinks.measured(metrics)
        self._show({**metrics, "seconds_to_come": self._evaluations.to_come(metrics)})
        self._ring(self._watch.see(metrics))
        for note in step.notes:
            self._say(f"step {step.number}: {note}")

    def _ring(self, alarms: Sequence[Alarm]) -> None:
        for alarm in alarms:
            self._say(f"alarm {alarm.when}: {alarm.name}: {alarm.text}")

    def _audit(self) -> dict[str, Any]:
        """Counts the trained model's answers that bypass their task, for tasks that can be inspected."""
        if not self._parts.held_out:
            return {}
        sets = each(self._recipe).values()
        tasks = self._parts.given.tasks or [task for one in sets for task in tasks_of(one, judge="trusted")]
        answers = list(self._run.iter_evaluation_rollouts("after"))
        found = audit(answers, {task.id: task for task in tasks})
        if found:
            kinds = ", ".join(f"{kind} {count}" for kind, count in found["kinds"].items())
            share = f"{found['flagged']} of {found['answers']} answers"
            self._say(f"hack audit: {share} bypass their task" + (f" ({kinds})" if kinds else ""))
        return found

    @PROGRESS.at("the summary", busy=True)
    def _summarise(
        self, before: Named, warm: Named, after: Named, controls: dict[str, Any]
    ) -> dict[str, Any]:
        hacks = self._parts.ranks.from_main(self._audit) if after else {}
        curve = hacking_curve(self._run.iter_metrics())
        if curve and self._main:
            write_hacking(self._run.path / HACKING, curve, title=self._recipe.run.name)
        summary = {
            "name": self._recipe.run.name,
            "steps": self._recipe.optim.steps,
            "resumed_at": self._resumed_at,
            "evaluation": evaluation_summary(before, warm, after, self._parts.sets),
            **({"controls": controls} if controls else {}),
            **({"hack_audit": hacks} if hacks else {}),
            **({"hacking_curve": curve} if curve else {}),
            **({"tasks_set_aside": list(self._set_aside)} if self._set_aside else {}),
            "wall_seconds": time.perf_counter() - self._started,
            "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "time_split": {"evaluation": self._evaluations.seconds, **self._spent},
        }
        if self._main:
            write_card(self._run.path, self._run.path / FINAL)
            self._run.write_summary(summary)
            if not self._recipe.run.keep_optimizer:
                checkpoints.drop_optimisers(self._run.checkpoints)
        return summary
