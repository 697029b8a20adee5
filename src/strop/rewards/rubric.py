"""The built-in rewards, and the rubric: named, weighted rewards whose scores stay separate until the sum is needed.

A built-in reward is a pure function of (task, rollout, verdict), in [0, 1] except `keys_saved`, `published_swe_rl`,
`rlef` and `coderl` (from -1). None means "not scored". An *error* verdict never reaches them: the rubric returns
None for it.
"""

import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from strop.rewards.citation import cites_fix
from strop.rewards.edits import EDITS
from strop.rewards.rust import RUST
from strop_verify.core import ranges
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.progress import PROGRESS
from strop_verify.core.protocols import BatchReward, JudgedRollout, Reward, is_batched
from strop_verify.core.registry import Registry
from strop_verify.core.rollout import Rollout, Score
from strop_verify.core.task import Task
from strop_verify.core.user_code import at_line, file_of, place_of
from strop_verify.core.verdict import Verdict


def passed(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if every test passed, else 0: the sparse reward of DeepCoder and most of the field."""
    return float(verdict.passed)


def tests(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """Share of tests passed."""
    return verdict.fraction


def build(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if the answer compiles (for Python: parses and runs to the end of its module), else 0."""
    stage = verdict.stage("build")
    return float(stage is not None and stage.passed)


def lint(task: Task, rollout: Rollout, verdict: Verdict) -> float | None:
    """1 if the linter found nothing, else 0; None if no linter ran."""
    stage = verdict.stage("lint")
    return None if stage is None else float(stage.passed)


def finished(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if the policy ended its answer by itself, 0 if the token limit cut it off."""
    return float(not rollout.truncated)


def answered(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if there was an answer to verify, else 0: the simplest format reward."""
    return float(bool(rollout.answer.strip()))


def brevity(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 for an answer no longer than the reference, falling to 0 at three times its characters; 0 if it failed."""
    if not verdict.passed or not task.reference:
        return 0.0
    excess = len(rollout.answer) / max(1, len(task.signature) + len(task.reference)) - 1
    return float(min(1.0, max(0.0, 1 - excess / 2)))


def score(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """The check's own score of the answer, if it has one: for a search the mean of F0.5 over files and over lines."""
    return verdict.score or 0.0


def score_files(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """For a search, F0.5 over files."""
    return _agreed(task, rollout).files


def score_lines(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """For a search, F0.5 over lines."""
    return _agreed(task, rollout).lines


def _agreed(task: Task, rollout: Rollout) -> ranges.RangeScore:
    check = task.check.maybe(RetrievalCheck)
    try:
        return ranges.score(ranges.read_ranges(rollout.answer), check.truth if check else {})
    except ValueError:
        return ranges.RangeScore(0.0, 0.0)


def _number(name: str, says: str) -> Reward:
    """Makes a reward from a number of the verdict; 0 if the verdict lacks it."""

    def reward(task: Task, rollout: Rollout, verdict: Verdict) -> float:
        return verdict.numbers.get(name, 0.0)

    reward.__doc__ = f"{says} 0 for silence."
    return reward


NEXT_EDIT: dict[str, Reward] = {
    "accepted": _number("accepted", "1 if the simulated user accepts: more keys saved than reading costs."),
    "accepted_kept": _number("kept", "1 if at least .8 of the changed characters agree with the final text."),
    "accepted_exact": _number("exact", "1 if the suggestion is what the person did next."),
    "shown": _number("shown", "1 if an edit is suggested. Its weight is minus the threshold."),
    "keys_saved": _number("saved", "Keys saved, minus the cost of reading; below 0 if not accepted."),
}
"""Rewards of next edits: what the simulated user did; 0 for silence. With weights 1 for `accepted` and -.25 for
`shown`, showing an edit pays if it is accepted more than one time in four."""

BUILTIN: dict[str, Reward] = (
    {f.__name__: f for f in (passed, tests, build, lint, finished, answered, brevity, cites_fix)}
    | {f.__name__: f for f in (score, score_files, score_lines)}
    | RUST
    | EDITS
    | NEXT_EDIT
)
"""{name in a recipe: built-in reward}."""

REWARDS: Registry[Reward | BatchReward] = Registry(
    "rewards",
    {
        **BUILTIN,
        "openenv": "strop.neighbours.openenv:score",
        "verifiers": "strop.neighbours.verifiers_tasks:score",
    },
)
"""All rewards: built-in, for neighbours' tasks, and from packages (`strop-tasks` adds those of published systems)."""


class WeightedRubric:
    """Scores a rollout with every reward; the weighted sum is its reward."""

    def __init__(self, rewards: Sequence[tuple[str, Reward | BatchReward, float]]) -> None:
        self._rewards = list(rewards)
        self.failure: BaseException | None = None
        """The most recent error raised by a reward."""

    @property
    def weights(self) -> dict[str, float]:
        """{reward: weight}."""
        return {name: weight for name, _, weight in self._rewards}

    def apart(self) -> list["WeightedRubric"]:
        """One rubric per reward."""
        return [WeightedRubric([one]) for one in self._rewards]

    @classmethod
    def joined(cls, rubrics: Sequence["WeightedRubric"]) -> "WeightedRubric":
        """One rubric with the rewards of all rubrics."""
        return cls([one for rubric in rubrics for one in rubric._rewards])

    def check_arguments(self) -> None:
        """Raises UserError, with the line, for a reward with a wrong signature."""
        for name, reward, _ in self._rewards:
            given = ("rollouts",) if is_batched(reward) else ("task", "rollout", "verdict")
            with suppress(ValueError):  # a function in C does not expose its arguments
                try:
                    inspect.signature(reward, follow_wrapped=False).bind(*given)
                except TypeError as error:
                    wants = "(rollouts), a list" if is_batched(reward) else "(task, rollout, verdict)"
                    how = "" if is_batched(reward) else ", or (rollouts) under @strop.batched"
                    raise UserError(
                        f"reward {name!r} must take {wants}{how}: {error}{place_of(reward)}"
                    ) from None

    @classmethod
    def from_names(cls, weights: Sequence[tuple[str, float]]) -> "WeightedRubric":
        """(name, weight) pairs; a name is one of `REWARDS`, `file.py:function` or `model:PATH`. Raises UserError."""
        return cls([(score_name(name), find_reward(name), weight) for name, weight in weights])

    def score(self, task: Task, rollout: Rollout, verdict: Verdict) -> list[Score]:
        """One score per reward, unsummed; every value is None if the verdict is an *error*.

        Raises UserError, with the line, if a user's reward raises or returns anything but a finite number or None.
        """
        (scores,) = self.score_all([JudgedRollout(task, rollout, verdict)])
        return scores

    def score_all(self, judged: Sequence[JudgedRollout], *, patient: bool = False) -> list[list[Score]]:
        """`score` for many rollouts, in order; a batch-wise reward is called once for all whose verdict is scored.

        patient  a reward that raises, or returns a number that is not finite, is tried again after a pause (`WAITS`);
                 if it still fails, its score is None and holds the error, so the rollout is not scored
        """
        asked = [number for number, one in enumerate(judged) if one.verdict.scored]
        found: list[list[Score]] = [[] for _ in judged]
        for name, reward, weight in self._rewards:
            caller = _Caller(name, reward, WAITS if patient else ())
            values = dict(zip(asked, caller.values([judged[n] for n in asked]), strict=True))
            for number, scores in enumerate(found):
                value = values.get(number)
                if isinstance(value, _Failed):
                    if not patient:
                        raise UserError(str(value)) from value.__cause__
                    self.failure = value.__cause__ or self.failure
                    scores.append(Score(name=name, value=None, weight=weight, error=str(value)))
                else:
                    scores.append(Score(name=name, value=value, weight=weight))
        return found


class RubricBySet:
    """The rubrics of several task sets: each task's rollouts are scored by its own."""

    def __init__(self, rubrics: Mapping[str, WeightedRubric], set_of: Mapping[str, str]) -> None:
        self._rubrics = rubrics
        self.set_of = set_of
        """{task id: task set}."""

    @property
    def failure(self) -> BaseException | None:
        """The most recent error raised by a reward of any set."""
        return next((one.failure for one in self._rubrics.values() if one.failure), None)

    def score_all(self, judged: Sequence[JudgedRollout], *, patient: bool = False) -> list[list[Score]]:
        """One list of scores per rollout, in order."""
        found: list[list[Score]] = [[] for _ in judged]
        for name, rubric in self._rubrics.items():
            mine = [number for number, one in enumerate(judged) if self.set_of[one.task.id] == name]
            own = rubric.score_all([judged[n] for n in mine], patient=patient)
            for number, scores in zip(mine, own, strict=True):
                found[number] = scores
        return found


def total(scores: Sequence[Score]) -> float | None:
    """The weighted sum of the scores; None if no score is known, or if a reward failed."""
    if any(s.error for s in scores):
        return None
    values = [s.value * s.weight for s in scores if s.value is not None]
    return math.fsum(values) if values else None


MODEL = "model:"
"""Prefix of learned rewards; a folder or a Hub model follows (`judges`)."""


def score_name(name: str) -> str:
    """The name of a reward's scores: the function's name, or the run of a model."""
    if name.startswith(MODEL):
        parts = [part for part in Path(name.removeprefix(MODEL)).parts if part != "final"]
        return parts[-1] if parts else name
    return name.rpartition(":")[2]


def find_reward(name: str) -> Reward | BatchReward:
    """A reward of `REWARDS`, of a user's file, or a learned one. Raises UserError with a remedy."""
    if name.startswith(MODEL):
        judges = import_module("strop.judges")  # a layer above; imports torch when it scores
        folder = judges.model_folder(name.removeprefix(MODEL))
        return judges.LearnedReward(folder)  # type: ignore[no-any-return]
    return REWARDS.find(name, "rewards", "reward", "file.py:function")


WAITS = (0.5, 1.0, 2.0)
"""Pauses in seconds before a failed reward is tried again. In one call for many rollouts, a reward that keeps
failing waits only once, so a broken reward costs no more; the pauses are restored when it recovers."""


class _Failed(Exception):
    """A reward has no value for a rollout; the message says why."""


class _Caller:
    """Calls one reward, with retries."""

    def __init__(self, name: str, reward: Reward | BatchReward, waits: Sequence[float]) -> None:
        self._name, self._reward, self._waits, self._left = name, reward, waits, list(waits)

    def values(self, judged: Sequence[JudgedRollout]) -> list[float | _Failed | None]:
        """One value per rollout, or the error that prevented it. Raises UserError for values that are not numbers."""
        reward = self._reward
        if not judged:
            return []
        if not is_batched(reward):
            return [self._tried(partial(self._single, reward, one), one.task) for one in judged]
        found = self._tried(lambda: self._numbers(judged, reward(judged)), None)
        return [found] * len(judged) if isinstance(found, _Failed) else found

    def _single(self, reward: Callable[..., Any], one: JudgedRollout) -> float | None:
        return self._number(one.task, reward(*one))

    def _tried(self, call: Callable[[], Any], task: Task | None) -> Any:
        first = len(self._left)
        while True:
            try:
                value = call()
                PROGRESS.beat()
            except UserError:
                raise
            except SystemExit as error:  # otherwise the run would end without a message
                return self._failed(error, task)
            except Exception as error:
                if self._left:
                    time.sleep(self._left.pop(0))
                    continue
                return self._failed(error, task)
            if first and len(self._left) < first:
                self._left = list(self._waits)
            return value

    def _failed(self, error: BaseException, task: Task | None) -> _Failed:
        where = f", task {task.id}" if task else ""
        if isinstance(error, _Failed):
            return _Failed(f"reward {self._name!r} {error}{where}")
        what = " ".join(f"{type(error).__name__}: {error}".split())
        found = _Failed(f"reward {self._name!r} raised {what}{at_line(error, file_of(self._reward))}{where}")
        found.__cause__ = error
        return found

    def _numbers(self, judged: Sequence[JudgedRollout], values: Any) -> list[float | None]:
        try:
            listed = list(values)
        except TypeError:
            fault = f"returned {values!r:.60} for {len(judged)} rollouts"
            raise UserError(
                f"reward {self._name!r} is @batched and {fault}; it must return a list with one value each"
            ) from None
        if len(listed) != len(judged):
            fault = f"returned {len(listed)} values for {len(judged)} rollouts"
            raise UserError(f"reward {self._name!r} {fault}, not one each")
        return [self._number(one.task, value) for one, value in zip(judged, listed, strict=True)]

    def _number(self, task: Task, value: Any) -> float | None:
        """Accepts None, numbers of Python, numpy or torch, and arrays or tensors without dimensions."""
        if value is None:
            return None
        item = getattr(value, "item", None)
        number = item() if callable(item) and getattr(value, "shape", None) == () else value
        if not isinstance(number, int | float):
            what = f"returned {value!r:.60} for task {task.id}"
            raise UserError(f"reward {self._name!r} {what}; it must be a finite number or None")
        if not math.isfinite(number):
            raise _Failed(f"returned {number}, which is not a finite number")
        return float(number)
