"""The feed of `strop online`: learns from the outcomes of suggested edits, round by round, while a model is served.

A round is a step of the training loop (`training.loop`) whose groups come from an event log:

    take    online.batch new labelled suggestions of the served model, and those of rounds rolled back since it has been
            served: it made them too, and no weights have learnt from them. Their ids are saved before the update, so
            that a killed round is repeated with the same suggestions
    update  REINFORCE, -(r - b) log pi of the whole answer (Williams 1992). Silence is an answer too: its end token has
            a log-probability, and its reward is 0. b is the running mean of the rewards of earlier rounds by client and
            language, 0 before the first, so it is independent of the answers that it is subtracted from, except for
            reused suggestions, where the last one has a tenth of its weight and the others less
    wait    compares the candidate with the served and the first model, paired on the held-out tasks. Unless it shows a
            gain (online.margin), it is rolled back: weights and optimiser state are loaded from the newest checkpoint

Each round ends with a checkpoint; the newest one is served, and the link `served` points to it. A killed round is
repeated from the same weights and suggestions, on a CPU with the same bits. Only suggestions with the served model's
digest are read, so staleness is 0.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from strop.config.run_stages import RunStage
from strop.config.schema import Recipe
from strop.evaluation.evaluate import evaluate_with
from strop.evaluation.result import Evaluation
from strop.evaluation.statistics import Difference, paired_difference
from strop.policies.model_files import weights_digest
from strop.reports.run_folder import CHECKPOINTS, record_file
from strop.training import checkpoints
from strop.training.feed import Feed, StepGroups
from strop.training.setup import RunParts
from strop.training.simulated_users import play_round
from strop.training.watch import longest_wait
from strop_verify.core import files
from strop_verify.core.edit_events import SuggestedEdit, read_events, read_suggestions
from strop_verify.core.errors import UserError
from strop_verify.core.progress import PROGRESS
from strop_verify.core.rollout import Group, Rollout, Score, Turn
from strop_verify.core.verdict import Outcome, Verdict

SERVED, ROUNDS, EVENTS = "served", "online", "events"
"""In the run folder: link to the served checkpoint, folder of what each round used, default folder of the log."""
_NUMBERS = {"accepted": "accepted", "accepted_kept": "kept", "accepted_exact": "exact", "shown": "shown"}
"""{reward that a round can use: its name in an evaluation}."""
KEPT = 0.8
"""Share of an accepted suggestion that must remain for `accepted_kept`."""
_PATIENT = 366 * 86_400.0
"""Seconds to wait for people's suggestions."""


class EditEventFeed(Feed):
    """Gives each step suggestions of the served model with known outcomes, and decides which model is served next."""

    keeps_start = True

    def __init__(self, recipe: Recipe, parts: RunParts, say: Callable[[str], None]) -> None:
        """`say` gets a line per event. Raises UserError for a recipe that cannot be trained online."""
        unknown = [one.name for one in recipe.rewards if one.weight and one.name not in _NUMBERS]
        if unknown:
            raise UserError(f"rewards: edit events carry no {unknown[0]!r}; there are {', '.join(_NUMBERS)}")
        if not parts.held_out:
            raise UserError("no task is held out, so no model can be compared; set tasks.held_out_fraction")
        if parts.ranks.world > 1:
            raise UserError("feed: edit-events trains in one process; launch it without others")
        self._recipe, self._parts, self._say = recipe, parts, say
        self._folder = recipe.run.folder
        self._log = Path(recipe.online.events) if recipe.online.events else self._folder / EVENTS
        self._params = recipe.sampling.params(recipe.sampling.stop)
        self._weights = {one.name: one.weight for one in recipe.rewards if one.weight}
        self._told_of_others = False
        self._served = 0
        """The round whose weights are served."""
        self._used: list[str] = []
        """Ids of the suggestions that deployed rounds have used."""
        self._again: list[str] = []
        """Ids of the suggestions used by rounds rolled back since then; the next round uses them too."""
        self._round = 0
        self._measured: dict[str, Any] = {}

    def start(self) -> None:
        """Removes what an earlier run left in the folder."""
        (self._folder / SERVED).unlink(missing_ok=True)
        for name in (ROUNDS, EVENTS):
            shutil.rmtree(self._folder / name, ignore_errors=True)

    def take(self, stage: RunStage, number: int) -> StepGroups:
        """Serves the newest checkpoint and waits for a round's suggestions; see `Feed`."""
        started, self._round = time.perf_counter(), number
        self._serve()
        self._evaluated(self._served)  # in round 1: the model before any update
        chosen = self._chosen(number)
        shown = fmean(one.why != "silent" for one in chosen)
        self._say(f"round {number}: {len(chosen)} suggestions, {shown:.0%} of them shown")
        self._watch("people got", shown)
        self._again = [one.served.id for one in chosen]
        self._measured = {"shown": shown}
        groups = [self._group(one, number) for one in chosen]
        return StepGroups(groups, [*range(len(groups))], rollouts=time.perf_counter() - started)

    def wait(self) -> None:
        """Compares the updated model with earlier ones and deploys it or rolls it back."""
        self._say(f"round {self._round}: updated")
        against, deployed = self._compared(self._round)
        learnt = what_changed(self._evaluated(self._served), self._evaluated(self._round))
        if deployed:
            self._served = self._round
            self._used, self._again = [*self._used, *self._again], []
        else:
            newest = checkpoints.latest(self._folder / CHECKPOINTS)
            assert newest, "a round begins at a checkpoint"
            self._parts.backend.load_checkpoint(newest)
        self._measured["deployed"] = deployed
        done = "deployed" if deployed else "rolled back"
        self._say(f"round {self._round}: {done}; {against}; {learnt}")

    def measured(self) -> dict[str, Any]:
        """The share of shown suggestions, and whether the round was deployed."""
        return self._measured

    def save(self, checkpoint: Path) -> dict[str, Any]:
        """Returns the served round and the ids of the suggestions used."""
        return {"served": self._served, "used": self._used, "again": self._again}

    def load(self, checkpoint: Path, state: dict[str, Any]) -> None:
        """Restores what `save` returned."""
        self._served, self._used, self._again = state["served"], state["used"], state.get("again", [])

    def end(self) -> None:
        """Serves the checkpoint of the last step."""
        self._serve()

    def _serve(self) -> None:
        """Points the link to the newest checkpoint; a server loads it at its next start."""
        if newest := checkpoints.latest(self._folder / CHECKPOINTS):
            new = self._folder / f"{SERVED}.new"
            new.unlink(missing_ok=True)
            new.symlink_to(Path(CHECKPOINTS) / newest.name)
            os.replace(new, self._folder / SERVED)

    def _chosen(self, number: int) -> list[SuggestedEdit]:
        """The suggestions of a round: those chosen before a kill, else the oldest ones. Waits for enough of them."""
        note, online = self._folder / ROUNDS / f"round-{number}.json", self._recipe.online
        for folder in (note.parent, self._folder / EVENTS):
            folder.mkdir(exist_ok=True)
        digest = weights_digest(str((self._folder / SERVED).resolve()))  # cached by path
        if note.is_file():
            wanted: list[str] = json.loads(note.read_bytes())
            known = {one.served.id: one for one in self._labelled(digest)}
            if missing := [one for one in wanted if one not in known]:
                raise UserError(f"{self._log} lacks suggestion {missing[0]}, which round {number} used")
            return [known[one] for one in wanted]
        if online.user != "log":
            log = self._folder / EVENTS / f"round-{number}.jsonl"
            play_round(self._recipe, self._parts, number, digest, log)
        used, most, waiting = set(self._used), len(self._again) + online.batch, False
        with PROGRESS.at("waiting for suggestions", most=_PATIENT):
            while True:
                there = [one for one in self._labelled(digest) if one.served.id not in used]
                enough = most if online.user == "log" else min(most, max(1, len(there)))
                if len(there) >= enough:
                    there.sort(key=lambda one: (one.served.time, one.served.id))
                    files.write_json(note, [one.served.id for one in there[:enough]])
                    return there[:enough]
                if not waiting:
                    self._say(
                        f"round {number}: waiting for {enough} closed suggestions of {digest} in {self._log}; serve it "
                        f"with: strop serve-edits --model {self._folder / SERVED} --log {self._log}"
                    )
                waiting = True
                time.sleep(online.poll_seconds)

    def _labelled(self, digest: str) -> list[SuggestedEdit]:
        """Labelled suggestions that were sampled with the run's own temperature and top_p."""
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
                f"{len(found) - len(alike)} suggestions are left out, since they were not sampled with this run's "
                f"sampling.temperature={used.temperature:g} sampling.top_p={used.top_p:g}"
            )
        return alike

    def _group(self, one: SuggestedEdit, number: int) -> Group:
        """One suggestion as a group whose id, and so its baseline, is its client and language."""
        served = one.served
        assert served.prompt_ids is not None and served.completion is not None  # since it is labelled
        numbers = {
            "shown": float(one.why != "silent"),
            "accepted": float(one.why == "accepted"),
            "accepted_exact": float(one.why == "accepted"),
            "accepted_kept": float(one.accepted > 0 and (one.kept or 0) >= KEPT * one.accepted),
        }
        completion = served.completion.model_copy(update={"policy_version": number - 1})
        rollout = Rollout(
            task_id=served.id,
            index=0,
            seed=served.seed,
            prompt=self._parts.tokenizer.decode(served.prompt_ids),
            turns=[Turn(prompt_ids=served.prompt_ids, completion=completion)],
            answer=completion.text,
            verdict=Verdict(outcome=Outcome.UNJUDGED),
            scores=[Score(name=n, weight=w, value=numbers[n]) for n, w in self._weights.items()],
            reward=sum(weight * numbers[name] for name, weight in self._weights.items()),
        )
        return Group(task_id=f"{served.client}/{served.language}", step=number, rollouts=[rollout])

    def _compared(self, number: int) -> tuple[str, bool]:
        """(comparison of the candidate with the served and the first model, whether it may be served)."""
        candidate, online = self._evaluated(number), self._recipe.online
        self._watch("on held-out tasks there are", fmean(candidate.values(_key(candidate, "shown")).values()))
        said, deploys = [], True
        for round in dict.fromkeys((self._served, 0)):
            base = self._evaluated(round)
            reward = _difference(self._rewards(base), self._rewards(candidate))
            wrong = _change(base, candidate, "wrong")
            deploys &= reward.low > -online.margin and wrong.high <= online.wrong_margin
            said.append(
                f"against round {round}: reward {reward.delta:+.3f} [{reward.low:+.3f}, {reward.high:+.3f}], wrong "
                f"{wrong.delta:+.3f} [{wrong.low:+.3f}, {wrong.high:+.3f}]"
            )
        return "; ".join(said), deploys

    def _rewards(self, evaluation: Evaluation) -> Mapping[str, float]:
        """{task: mean reward}."""
        parts = {n: evaluation.values(_key(evaluation, _NUMBERS[n])) for n in self._weights}
        return {
            task: sum(weight * parts[name].get(task, 0.0) for name, weight in self._weights.items())
            for task in evaluation.values(_key(evaluation, "shown"))
        }

    def _evaluated(self, number: int) -> Evaluation:
        """The evaluation of a round's model on the held-out tasks, from disk or else with the current weights."""
        path = record_file(self._folder, f"round-{number}" if number else "before")
        if path.is_file():
            return Evaluation.model_validate_json(path.read_bytes())
        self._parts.publish(number)
        with PROGRESS.at(f"evaluation of round {number}", most=longest_wait(self._recipe)):
            found = evaluate_with(
                self._recipe,
                self._parts.play.rollouts,
                self._parts.held_out,
                contamination=None,
                on_rollout=lambda rollout: None,
            )
        files.write_json(path, found.model_dump(mode="json"))
        return found

    def _watch(self, who: str, shown: float) -> None:
        if shown < self._recipe.online.quiet:
            self._say(
                f"alarm at round {self._round}: silence: {who} {shown:.1%} suggestions, less than "
                f"online.quiet={self._recipe.online.quiet:g}; nothing is learnt if nothing is shown: raise "
                "sampling.temperature, or return to an earlier checkpoint"
            )


def _key(evaluation: Evaluation, name: str) -> str:
    """The key of `name`, for sampled answers, else for greedy ones. Raises UserError if tasks are not next edits."""
    if name not in evaluation.first_stage_keys:
        raise UserError("the held-out tasks are not next edits; make some with strop build next-edit")
    return evaluation.first_stage_keys[name]


def what_changed(before: Evaluation, after: Evaluation) -> str:
    """The effect of learning on held-out tasks: each number that changed, with its 95 % interval, or that none did."""
    names = [name for name in ("shown", "accepted", "wrong", "exact") if name in after.first_stage_keys]
    changes = {name: _change(before, after, name) for name in names}
    clear = {name: one for name, one in changes.items() if one.low > 0 or one.high < 0}
    if not clear:
        return f"learnt nothing measurable on {len(after.counts)} held-out tasks"
    each = (f"{name} {one.delta:+.3f} [{one.low:+.3f}, {one.high:+.3f}]" for name, one in clear.items())
    return f"learnt: {', '.join(each)}"


def _change(before: Evaluation, after: Evaluation, name: str) -> Difference:
    return _difference(*(one.values(_key(one, name)) for one in (before, after)))


def _difference(before: Mapping[str, float], after: Mapping[str, float]) -> Difference:
    both: Sequence[str] = [task for task in before if task in after]
    return paired_difference([before[t] for t in both], [after[t] for t in both])
