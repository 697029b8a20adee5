"""Learning from what became of suggested edits, round by round, while a model is served: `strop online`.

    collect   labelled suggestions of the served model that no round has used, online.batch of them. Which they are is
              written down before anything is learnt from them, so that a round that was killed is done with the same
    update    REINFORCE, -(r - b) log pi of the whole answer (Williams 1992). Silence is an answer like any other: its
              end token has a log-probability, and its reward is 0. b is the running mean of the rewards of earlier
              rounds by client and language, 0 before the first: it knows nothing of the answers that it is held against
    compare   with the served model and with the first one, on the held-out tasks, paired
    deploy    the link `served` names the new checkpoint; or roll back: the next round starts from the served one

A round is done when `online.json` says so, which is replaced as a whole; what comes before is done again after a kill,
from the same weights and the same suggestions, and so with the same bits on a CPU. Suggestions of any other digest than
the served model's are not read: staleness is 0, and those that a round has used are noted.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import Field

from strop.config.algorithms import RunningBaselineAdvantage
from strop.config.load import dump_recipe
from strop.config.revision import revision
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.evaluation.evaluate import evaluate_with
from strop.evaluation.result import Evaluation
from strop.evaluation.statistics import Difference, paired_difference
from strop.policies.model_files import weights_digest
from strop.reports.run_folder import RunFolder, record_file
from strop.training import checkpoints
from strop.training.batch import Advantages, batch_of
from strop.training.learner import Learner
from strop.training.ranks import Ranks
from strop.training.setup import RunParts, set_up
from strop_verify.core import files
from strop_verify.core.edit_events import (
    EditAccepted,
    EditDismissed,
    EditEvent,
    EditServed,
    EditSettled,
    EditShown,
    SuggestedEdit,
    read_events,
    read_suggestions,
)
from strop_verify.core.errors import UserError
from strop_verify.core.ids import content_hash, rng, unit_interval
from strop_verify.core.records import Record
from strop_verify.core.rollout import Group, Rollout, Turn
from strop_verify.core.task import Task

STATE, SERVED, ROUNDS, EVENTS = "online.json", "served", "online", "events"
"""In the run folder: the state, the link to the served checkpoint, what each round used, the log's default folder."""
_NUMBERS = {"accepted": "accepted", "accepted_kept": "kept", "accepted_exact": "exact", "shown": "shown"}
"""Rewards that a round can use, and their names in an evaluation."""
_RULES = {"nearer": "accepted", "kept": "kept", "exact": "exact"}
"""Numbers of a verdict by which simulated users decide."""
_READING = 2.0
"""Seconds until one decides."""
KEPT = 0.8
"""Share of an accepted suggestion that has to be left for `accepted_kept`."""


class OnlineState(Record):
    """What is known when a round is over."""

    round: int = 0
    served: str = "checkpoint-0"
    """The checkpoint that is served, by its name."""
    used: list[str] = Field(default_factory=list)
    """Ids of the suggestions that rounds have used."""
    baseline: dict[str, Any] = Field(default_factory=lambda: {"of_task": {}, "overall": 0.0})


def online(
    recipe: Recipe,
    *,
    resume: bool = False,
    say: Callable[[str], None],
    show: Callable[[dict[str, Any]], None],
) -> OnlineState:
    """Rounds up to optim.steps, in a new run folder or one to go on with. Raises UserError.

    `say` gets a line for everything that was done, `show` each round's metrics.
    """
    unknown = [one.name for one in recipe.rewards if one.weight and one.name not in _NUMBERS]
    if unknown:
        raise UserError(f"rewards: events say nothing of {unknown[0]!r}; there are {', '.join(_NUMBERS)}")
    folder, overwrite = recipe.run.folder, recipe.run.overwrite
    if not resume:
        RunFolder.check_free(folder, overwrite=overwrite)
    with ExitStack() as stack:
        parts = set_up(recipe, Ranks(), stack, say)
        if not parts.held_out:
            raise UserError("no task is held out, so no model can be compared; set tasks.held_out_fraction")
        if resume:
            run = stack.enter_context(RunFolder.resume(folder))
        else:
            texts: dict[str, Any] = {"recipe": dump_recipe(recipe), "versions": revision()}
            run = stack.enter_context(RunFolder.create(folder, overwrite=overwrite, **texts))
            for name in (STATE, SERVED):
                (folder / name).unlink(missing_ok=True)
            for name in (ROUNDS, EVENTS):
                shutil.rmtree(folder / name, ignore_errors=True)
        loop = OnlineLoop(recipe, parts, run, say)
        for metrics in loop.rounds():
            show(metrics)
        return loop.state


class OnlineLoop:
    """The rounds of one run folder."""

    def __init__(self, recipe: Recipe, parts: RunParts, run: RunFolder, say: Callable[[str], None]) -> None:
        self._recipe, self._parts, self._run, self._say = recipe, parts, run, say
        self._stage = stages_of(recipe)[0]
        self._log = Path(recipe.online.events) if recipe.online.events else run.path / EVENTS
        self._learner = Learner(parts.backend, recipe)
        self._params = recipe.sampling.params(recipe.sampling.stop)
        self._weights = {one.name: one.weight for one in recipe.rewards if one.weight}
        self._told_of_others = False
        for name in (ROUNDS, EVENTS):
            (run.path / name).mkdir(exist_ok=True)
        self.state = self._begun()

    def rounds(self) -> Iterator[dict[str, Any]]:
        """Does round after round; yields the metrics of each when it is over."""
        self._run.truncate_after(self.state.round)
        if lost := self._run.lost_metrics(self.state.round):
            self._say(f"metrics.jsonl lacks the rounds {lost}, which were done")
        for number in range(self.state.round + 1, self._recipe.optim.steps + 1):
            yield self._round(number)

    def _begun(self) -> OnlineState:
        """The state on disk, whose served weights are loaded; else that of a run that begins."""
        path = self._run.path / STATE
        if path.is_file():
            state = OnlineState.model_validate_json(path.read_bytes())
            if fault := checkpoints.damage(self._folder(state.served)):
                raise UserError(f"{fault}; put it back from a copy, or begin anew with run.overwrite=true")
            self._parts.backend.load_checkpoint(self._folder(state.served))
        else:
            state = OnlineState()
            self._save(0)
            self._evaluated(0)
            files.write_json(path, state.model_dump())
        self._serve(state.served)
        return state

    def _round(self, number: int) -> dict[str, Any]:
        state, recipe = self.state, self._recipe
        chosen = self._chosen(number)
        shown = fmean(one.why != "silent" for one in chosen)
        self._say(f"round {number}: {len(chosen)} suggestions, {shown:.0%} of them shown")
        self._watch(number, "people got", shown)
        advantages = Advantages(RunningBaselineAdvantage())
        advantages.load(state.baseline)
        groups = advantages.of([self._group(one, number) for one in chosen])
        done = (number - 1) * recipe.grpo.updates_per_step
        updated = self._learner.update(batch_of(groups, recipe.grpo), self._stage, done)
        self._save(number)
        self._say(f"round {number}: updated")
        against, deployed = self._compared(number)
        after = OnlineState(
            round=number,
            served=f"checkpoint-{number}" if deployed else state.served,
            used=[*state.used, *(one.served.id for one in chosen)],
            baseline=advantages.state(),
        )
        reward = fmean(group.rollouts[0].reward or 0.0 for group in groups)
        metrics = {"step": number, "shown": shown, "reward": reward, "deployed": deployed, **updated}
        self._run.append_metrics(metrics)
        files.write_json(self._run.path / STATE, after.model_dump())
        self.state = after
        self._serve(after.served)
        if not deployed:
            self._parts.backend.load_checkpoint(self._folder(state.served))
        self._prune(number)
        self._say(f"round {number}: {'deployed' if deployed else 'rolled back'}; {against}")
        return metrics

    def _chosen(self, number: int) -> list[SuggestedEdit]:
        """The suggestions of a round: those that were chosen before, else the first that are there, waited for."""
        note, online = self._run.path / ROUNDS / f"round-{number}.json", self._recipe.online
        digest = weights_digest(str(self._folder(self.state.served)))
        if note.is_file():
            wanted: list[str] = json.loads(note.read_bytes())
            known = {one.served.id: one for one in self._labelled(digest)}
            if missing := [one for one in wanted if one not in known]:
                raise UserError(f"{self._log} has suggestion {missing[0]} no more, which round {number} used")
            return [known[one] for one in wanted]
        if online.user != "log":
            played = self._run.path / EVENTS / f"round-{number}.jsonl"
            self._parts.publish(number - 1)
            self._play_users(number, digest, played)
        used, waiting = set(self.state.used), False
        while True:
            there = [one for one in self._labelled(digest) if one.served.id not in used]
            enough = online.batch if online.user == "log" else min(online.batch, max(1, len(there)))
            if len(there) >= enough:
                there.sort(key=lambda one: (one.served.time, one.served.id))
                files.write_json(note, [one.served.id for one in there[:enough]])
                return there[:enough]
            if not waiting:
                self._say(
                    f"round {number}: waiting for {enough} closed suggestions of {digest} in {self._log}; serve it "
                    f"with: strop serve-edits --model {self._run.path / SERVED} --log {self._log}"
                )
            waiting = True
            time.sleep(online.poll_seconds)

    def _play_users(self, number: int, digest: str, log: Path) -> None:
        """Plays a round's tasks with the weights that are published, and writes what simulated users decide as a log.

        Ids, times and decisions come from (seed, round, task) alone, so a log that is written again is the same.
        """
        seed, tasks = self._recipe.seed, list(self._parts.train)
        rng("online", seed, number).shuffle(tasks)
        known = {task.id: task for task in tasks[: self._recipe.online.batch]}
        played = self._parts.play.rollouts(
            [*known.values()], 1, self._params, seed=seed, tag=f"online.{number}"
        )
        found = {rollout.task_id: rollout for rollout in played}
        with files.atomic(log) as file:
            for at, task in enumerate(known.values()):
                for event in self._simulated(task, found[task.id], digest, number, 1000.0 * at):
                    file.write(files.json_line(event.model_dump(mode="json")))

    def _simulated(
        self, task: Task, rollout: Rollout, digest: str, number: int, at: float
    ) -> Iterator[EditEvent]:
        """What becomes of one suggestion."""
        seed, user, turn = self._recipe.seed, self._recipe.online.user, rollout.turns[0]
        id = content_hash([seed, number, task.id])
        numbers = rollout.verdict.numbers if rollout.verdict else {}
        shown, length = bool(numbers.get("shown")), len(rollout.answer)

        def ids(kind: str, seconds: float) -> dict[str, object]:
            return {"event": content_hash([id, kind]), "id": id, "time": number * 1e8 + at + seconds}

        yield EditServed(
            **ids("served", 0),
            session=f"simulated-{number}",
            client=f"simulated {user}",
            dialect="lsp",
            file=content_hash(task.topic),
            language=task.language,
            checkpoint=digest,
            sampling=self._params,
            seed=rollout.seed,
            characters=length if shown else 0,
            prompt_ids=list(turn.prompt_ids),
            completion=turn.completion,
        )
        if not shown:
            return
        yield EditShown(**ids("shown", 0.1), by="client")
        blind = {"always": True, "never": False, "coin": unit_interval("coin", seed, id) < 0.5}
        if not (blind[user] if user in blind else numbers.get(_RULES.get(user, ""))):
            yield EditDismissed(**ids("dismissed", _READING))
            return
        kept = length if numbers.get("kept") else 0
        yield EditAccepted(**ids("accepted", _READING), characters=length)
        yield EditSettled(**ids("settled", 20), kept=kept, discarded=length - kept)

    def _labelled(self, digest: str) -> list[SuggestedEdit]:
        """What people decided about suggestions that the policy itself would make: sampled as it is trained."""
        events = [event for path in sorted(self._log.glob("*.jsonl")) for event in read_events(path)]
        now = time.time() if self._recipe.online.user == "log" else None
        found, used = read_suggestions(events, now=now).labelled(digest), self._params
        alike = [
            one
            for one in found
            if (one.served.sampling.temperature, one.served.sampling.top_p) == (used.temperature, used.top_p)
        ]
        if len(alike) < len(found) and not self._told_of_others:
            self._told_of_others = True
            self._say(
                f"{len(found) - len(alike)} suggestions are left out, as they were not sampled with "
                f"sampling.temperature={used.temperature:g} sampling.top_p={used.top_p:g}, as this run is"
            )
        return alike

    def _group(self, one: SuggestedEdit, number: int) -> Group:
        """One suggestion, as a group whose baseline is that of its client and language."""
        served = one.served
        assert served.prompt_ids is not None and served.completion is not None  # it is labelled
        numbers = {
            "shown": float(one.why != "silent"),
            "accepted": float(one.why == "accepted"),
            "accepted_exact": float(one.why == "accepted"),
            "accepted_kept": float(one.accepted > 0 and (one.kept or 0) >= KEPT * one.accepted),
        }
        rollout = Rollout(
            task_id=served.id,
            index=0,
            seed=served.seed,
            prompt="",
            turns=[Turn(prompt_ids=served.prompt_ids, completion=served.completion)],
            answer=served.completion.text,
            reward=sum(weight * numbers[name] for name, weight in self._weights.items()),
        )
        return Group(task_id=f"{served.client}/{served.language}", step=number, rollouts=[rollout])

    def _compared(self, number: int) -> tuple[str, bool]:
        """What is to be said of the candidate against the served and the first model, and whether it may be served."""
        candidate, margin = self._evaluated(number), self._recipe.online.margin
        self._watch(
            number, "on held-out tasks there are", fmean(candidate.values(_key(candidate, "shown")).values())
        )
        said, deploys = [], True
        for name in dict.fromkeys((self.state.served, "checkpoint-0")):
            base = self._evaluated(int(name.removeprefix("checkpoint-")))
            reward = _difference(self._rewards(base), self._rewards(candidate))
            wrong = _difference(*(one.values(_key(one, "wrong")) for one in (base, candidate)))
            deploys &= reward.low >= -margin and wrong.high <= margin
            said.append(
                f"against {name}: reward {reward.delta:+.3f} [{reward.low:+.3f}, {reward.high:+.3f}], wrong "
                f"{wrong.delta:+.3f} [{wrong.low:+.3f}, {wrong.high:+.3f}]"
            )
        return "; ".join(said), deploys

    def _rewards(self, evaluation: Evaluation) -> Mapping[str, float]:
        """The mean reward by task."""
        parts = {n: evaluation.values(_key(evaluation, _NUMBERS[n])) for n in self._weights}
        return {
            task: sum(weight * parts[name].get(task, 0.0) for name, weight in self._weights.items())
            for task in evaluation.values(_key(evaluation, "shown"))
        }

    def _evaluated(self, number: int) -> Evaluation:
        """The model of a round on the held-out tasks: from disk, else of the weights as they are now."""
        path = record_file(self._run.path, f"round-{number}")
        if path.is_file():
            return Evaluation.model_validate_json(path.read_bytes())
        self._parts.publish(number)
        found = evaluate_with(
            self._recipe,
            self._parts.play.rollouts,
            self._parts.held_out,
            contamination=None,
            on_rollout=lambda rollout: None,
        )
        files.write_json(path, found.model_dump(mode="json"))
        return found

    def _watch(self, number: int, who: str, shown: float) -> None:
        if shown < self._recipe.online.quiet:
            self._say(
                f"alarm at round {number}: silence: {who} {shown:.1%} suggestions, less than "
                f"online.quiet={self._recipe.online.quiet:g}; where nothing is shown nothing is learnt: raise "
                "sampling.temperature, or go back to an earlier checkpoint"
            )

    def _folder(self, name: str) -> Path:
        return self._run.checkpoints / name

    def _save(self, number: int) -> None:
        """The weights as they are, as a whole checkpoint. What a killed round left of it is replaced."""
        folder = self._folder(f"checkpoint-{number}")
        shutil.rmtree(folder, ignore_errors=True)
        self._parts.save(folder, dict)

    def _serve(self, name: str) -> None:
        """Points the link to a checkpoint; a server takes it when it is started next."""
        new = self._run.path / f"{SERVED}.new"
        new.unlink(missing_ok=True)
        new.symlink_to(Path(self._run.checkpoints.name) / name)
        os.replace(new, self._run.path / SERVED)

    def _prune(self, number: int) -> None:
        """Only the first checkpoint and the served one are needed any more."""
        for past in range(1, number + 1):
            if (name := f"checkpoint-{past}") != self.state.served:
                shutil.rmtree(self._folder(name), ignore_errors=True)


def _key(evaluation: Evaluation, name: str) -> str:
    """Of the sampled answers, else of the greedy ones. Raises UserError where tasks are no next edits."""
    try:
        return evaluation.first_stage_keys[name]
    except KeyError:
        raise UserError(
            "the held-out tasks are no next edits; make some with strop build next-edit"
        ) from None


def _difference(before: Mapping[str, float], after: Mapping[str, float]) -> Difference:
    both: Sequence[str] = [task for task in before if task in after]
    return paired_difference([before[t] for t in both], [after[t] for t in both])
