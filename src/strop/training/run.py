"""One training run from recipe to summary: evaluate, train, evaluate again; or go on where a run stopped."""

import gc
import json
import os
import resource
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from strop.config.load import dump_recipe, load_recipe
from strop.config.revision import revision
from strop.config.schema import Recipe
from strop.core.rollout import Rollout
from strop.core.task import Task
from strop.evaluation.evaluate import evaluate
from strop.evaluation.hack_audit import audit
from strop.evaluation.result import Evaluation, compare, paired_json
from strop.policies import release_memory
from strop.reports.files import write_json
from strop.reports.run_folder import RunFolder
from strop.rollouts.player import Player
from strop.tasks.sources import load_tasks
from strop.training import checkpoints
from strop.training.arguments import grpo_arguments, lora_arguments
from strop.training.feed import StepFeed
from strop.training.setup import Workshop, environments, set_up
from strop.training.sft import examples_of, fit, step_count
from strop.training.task_stream import TaskStream
from strop.training.tasks import tasks_of

Say = Callable[[str], None]
Show = Callable[[dict[str, Any]], None]
FINAL = "final"
"""Folder of a run with the trained model, as transformers loads it."""


def _silent(text: str) -> None:
    """Says nothing."""


def train(recipe: Recipe, *, say: Say, show: Show, status: Say = _silent) -> dict[str, Any]:
    """A new run. Returns its summary. Raises UserError before anything is written where the recipe cannot run.

    say  hears what stays on the screen, `status` what is going on right now; `show` gets each step's metrics
    """
    folder = recipe.run.folder
    RunFolder.check_free(folder, overwrite=recipe.run.overwrite)
    with ExitStack() as stack:
        parts = set_up(recipe, stack)
        run = stack.enter_context(
            RunFolder.create(
                folder, recipe=dump_recipe(recipe), versions=revision(), overwrite=recipe.run.overwrite
            )
        )
        return _Job(recipe, run, parts, say, show, status).go(None)


def resume(folder: Path, *, say: Say, show: Show, status: Say = _silent) -> dict[str, Any]:
    """Goes on with a run from its newest whole checkpoint, or from the start when it has none.

    A run that is finished is left as it is; its summary is returned.
    """
    with ExitStack() as stack:
        run = stack.enter_context(RunFolder.resume(folder))
        recipe = load_recipe([folder / "recipe.yaml"], [f"run.dir={folder}"])
        finished = run.path / "summary.json"
        if finished.is_file():
            say(f"{folder} is finished already")
            summary: dict[str, Any] = json.loads(finished.read_text())
            return summary
        checkpoint = checkpoints.latest(run.checkpoints)
        say(f"resuming {folder} from {checkpoint.name if checkpoint else 'the start'}")
        parts = set_up(recipe, stack)
        return _Job(recipe, run, parts, say, show, status).go(checkpoint)


class _Job:
    """The steps of one run; holds what they share."""

    def __init__(
        self, recipe: Recipe, run: RunFolder, parts: Workshop, say: Say, show: Show, status: Say
    ) -> None:
        self._recipe = recipe
        self._run = run
        self._parts = parts
        self._say = say
        self._show = show
        self._status = status
        self._stream = TaskStream(parts.train, recipe.seed, rank=_rank(), world=_world())
        self._feed = StepFeed(recipe, parts.player, parts.rubric, self._stream, world=_world())
        self._started = time.perf_counter()
        self._step_started = 0.0
        self._spent = {"evaluation": 0.0, "sampling": 0.0, "verifying": 0.0, "update": 0.0}

    def go(self, checkpoint: Path | None) -> dict[str, Any]:
        recipe, parts = self._recipe, self._parts
        before = self._evaluate("before") if recipe.evaluation.before and _rank() == 0 else {}
        warm: dict[str, Evaluation] = {}
        if recipe.sft.warm_start:
            if checkpoint is None:
                self._warm_up()
            if recipe.evaluation.before and _rank() == 0:
                warm = self._evaluate("warm", extra=False)
        self._train(checkpoint)
        _free_update(parts.model)
        after = self._evaluate("after") if recipe.evaluation.after and _rank() == 0 else {}
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

    def _evaluate(self, name: str, *, extra: bool = True) -> dict[str, Evaluation]:
        """{set name: evaluation}; "" is the held-out set. An evaluation that is on disk is not done again."""
        config, parts = self._recipe.evaluation, self._parts
        parts.policy_update(self._recipe.optim.steps if name == "after" else 0)
        done: dict[str, Evaluation] = {}
        shared = {
            "max_tokens": self._recipe.sampling.max_tokens,
            "stop": self._recipe.sampling.stop or (),
            "resamples": config.bootstrap,
            "confidence": config.confidence,
            "max_error_rate": self._recipe.limits.max_error_rate,
        }
        if parts.held_out:
            done[""] = self._one_evaluation(
                name,
                parts.player,
                parts.held_out,
                config.samples,
                config.temperature,
                config.k,
                config.greedy,
                shared,
            )
        for check in config.extra if extra else ():
            tasks = load_tasks(check.source, limit=check.limit)
            player = Player(
                parts.player.policy, parts.player.verifier, environments(self._recipe, check.style)
            )
            limits = shared | {"max_tokens": check.max_tokens or shared["max_tokens"]}
            if check.style:
                limits["stop"] = ()
            done[check.name] = self._one_evaluation(
                f"{name}-{check.name}",
                player,
                tasks,
                check.samples,
                check.temperature,
                check.k,
                check.greedy,
                limits,
            )
        return done

    def _one_evaluation(
        self,
        name: str,
        player: Player,
        tasks: Sequence[Task],
        samples: int,
        temperature: float,
        k: Sequence[int],
        greedy: bool,
        shared: dict[str, Any],
    ) -> Evaluation:
        saved = self._run.path / "evaluation" / f"{name}.record.json"
        if saved.is_file():
            return Evaluation.model_validate_json(saved.read_text())
        release_memory()
        when, _, what = name.partition("-")
        self._say(f"evaluating {when} training on {len(tasks)} {what or 'held-out'} tasks ...")
        rollouts: list[Rollout] = []
        expected = len(tasks) * (samples + greedy)

        def take(rollout: Rollout) -> None:
            rollouts.append(rollout)
            self._status(f"{len(rollouts)} of {expected} answers")

        result = evaluate(
            lambda some, each, params, tag: player.play(
                some, each, params, seed=self._recipe.seed, tag=f"evaluation.{tag}"
            ),
            tasks,
            samples=samples,
            temperature=temperature,
            k=k,
            greedy=greedy,
            on_rollout=take,
            **shared,
        )
        player.clock.take()
        self._spent["evaluation"] += result.seconds
        self._status("")
        # They came as their verdicts did.
        rollouts.sort(key=lambda rollout: (rollout.task_id, rollout.index))
        self._run.write_evaluation(name, result.as_json(), rollouts)
        write_json(saved, result.model_dump(mode="json"))
        stages = [key for name, key in result.first_stage_keys.items() if name != "test"]
        keys = [*result.keys, *stages]
        values = ", ".join(f"{key} {e.value:.3f}" for key in keys if (e := result.estimate(key)))
        self._say(f"{name}: {values} ({result.seconds:.0f} s)")
        return result

    def _train(self, checkpoint: Path | None) -> None:
        from datasets import Dataset

        from strop.training.trainer import StepWatch, StropTrainer

        recipe, parts = self._recipe, self._parts
        os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
        step = 0
        if checkpoint is not None:
            step = int(checkpoint.name.removeprefix("checkpoint-")) // recipe.grpo.iterations
            self._stream.load(checkpoints.read_state(checkpoint)["stream"])
        self._run.truncate_after(step)
        self._resumed_at = step
        arguments = grpo_arguments(recipe, self._run.checkpoints)
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
            shared_prefix=recipe.optim.shared_prefix,
            callbacks=[StepWatch(self._log)],
        )
        _only_our_output(trainer)
        self._step_started = time.perf_counter()
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        if _rank() == 0:
            self._save_final(trainer)

    def _play(self, step: int) -> dict[str, Any]:
        self._step_started = time.perf_counter()
        self._parts.policy_update(step)
        release_memory()
        return self._feed(step)

    def _note_advantages(self, step: int, advantages: list[float]) -> None:
        if _rank() == 0:
            self._run.write_rollouts(step + 1, self._feed.with_advantages(advantages))

    def _log(self, optimiser_step: int, logs: dict[str, Any]) -> None:
        """One line of metrics a training step, after the last of its updates."""
        step, rest = divmod(optimiser_step, self._recipe.grpo.iterations)
        if rest or _rank() != 0:
            return
        mine = self._feed.metrics
        seconds = time.perf_counter() - self._step_started
        update = seconds - mine["seconds_rollouts"]
        kept = ("loss", "grad_norm", "learning_rate", "entropy", "kl", "clip_ratio/region_mean")
        metrics = {
            "step": step,
            **mine,
            **{name.split("/")[0]: float(logs[name]) for name in kept if logs.get(name) is not None},
            "seconds_update": update,
            "seconds": seconds,
        }
        self._spent["sampling"] += mine["seconds_sampling"]
        self._spent["verifying"] += mine["seconds_verifying"]
        self._spent["update"] += update
        self._run.append_metrics(metrics)
        self._show(metrics)

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
            self._say(
                f"hack audit: {found['flagged']} of {found['answers']} answers go round their task{said}"
            )
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
            "time_split": self._spent,
        }
        if _rank() == 0:
            self._run.write_summary(summary)
        return summary


def read_evaluations(folder: Path) -> dict[str, tuple[dict[str, Evaluation], dict[str, Any] | None]]:
    """{set name: ({"before": ..., "after": ...}, paired differences or None)}; "" is the held-out set."""
    found: dict[str, dict[str, Evaluation]] = {}
    for path in sorted((folder / "evaluation").glob("*.record.json"), reverse=True):
        side, _, name = path.name.removesuffix(".record.json").partition("-")
        found.setdefault(name, {})[side] = Evaluation.model_validate_json(path.read_text())
    return {
        name: (
            {side: sides[side] for side in ("before", "warm", "after") if side in sides},
            compare(sides["before"], sides["after"]) if {"before", "after"} <= sides.keys() else None,
        )
        for name, sides in sorted(found.items())
    }


def _only_our_output(trainer: Any) -> None:
    """Takes out the callbacks of transformers that print: the live view shows the run."""
    from transformers.trainer_callback import PrinterCallback, ProgressCallback

    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)


def _free_update(model: Any) -> None:
    """Frees gradients and the optimiser's state, most of the memory, once the trainer is gone."""
    model.zero_grad(set_to_none=True)
    gc.collect()
    release_memory()


def _rank() -> int:
    return int(os.environ.get("RANK", "0"))


def _world() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))
