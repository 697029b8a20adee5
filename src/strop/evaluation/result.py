"""The result of an evaluation: counts for every task, and the numbers derived from them."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Any

from pydantic import Field

from strop.evaluation.outcome_rates import GREEDY_PREFIX, PAIRS, STAGES
from strop.evaluation.statistics import (
    Difference,
    Estimate,
    mean_interval,
    paired_difference,
    pass_at_k,
    ratio_interval,
)
from strop_verify.core.errors import UserError
from strop_verify.core.records import Record

GREEDY = "greedy"
NO_TOPIC = "(none)"


class Contamination(Record):
    """Known facts about the model's training data and the tasks in it."""

    cutoff: str | None = None
    """Last day of the training data, YYYY-MM-DD; None: unknown."""
    source: str | None = None
    """Training task set; None: unknown."""
    compared: int = 0
    """Number of training tasks in the comparison."""
    similar: list[str] = Field(default_factory=list)
    """Ids of evaluated tasks whose statement is a near-duplicate of one of them."""


class TaskCounts(Record):
    """The counts of one task. Unscored answers (outcome *error*) count in neither number."""

    task_id: str
    topic: str = ""
    date: str = ""
    """Publication day of the task, YYYY-MM-DD; "" if unknown."""
    pair: str = ""
    """The name of its pair; "" if it is in none."""
    n: int = Field(ge=0)
    """Scored answers among the sampled ones."""
    c: int = Field(ge=0)
    """How many of them passed."""
    greedy: bool | None = None
    """Whether the greedy answer passed; None if not requested or not scored."""
    stages: dict[str, int | float] = Field(default_factory=dict)
    """How many of the `n` passed build, lint, base and test, and the sum of their scores. Holds only the task's
    stages; empty if n is 0."""
    greedy_stages: dict[str, bool | float] = Field(default_factory=dict)
    """Whether the greedy answer passed them, and its score; empty if `greedy` is None."""


class ByTurn(Record):
    """Results of plays with several turns, by the verdicts that their environment requested."""

    passed: list[float]
    """Share of the plays that had passed after the first turn, the second, ..."""
    repeated: float | None = None
    """Share of second answers that repeat the first; None if no play had two."""


class Evaluation(Record):
    """One policy on one task set."""

    counts: list[TaskCounts]
    samples: int
    """Sampled answers per task; 0 for greedy ones only."""
    temperature: float
    top_p: float = 1.0
    max_tokens: int
    k: list[int]
    """Which pass@k are reported."""
    greedy: bool
    """Whether every task has a greedy answer."""
    outcomes: dict[str, int]
    """Number of answers by outcome, sampled and greedy together."""
    tokens_mean: float
    """Mean sampled tokens of an answer, over the sampled answers (over the greedy ones if there are no others)."""
    truncated_rate: float
    """Share of the same answers that hit the token limit."""
    seconds: float
    """Wall time of the evaluation."""
    cpu_seconds: float = 0.0
    """CPU time of this process, in which local models sample; 0 if not measured."""
    resamples: int = 10_000
    confidence: float = 0.95
    contamination: Contamination | None = None
    """Tasks that the model may have seen; None if nothing is known about its training data."""
    controls: "dict[str, Evaluation]" = Field(default_factory=dict)
    """Its controls on the same tasks, by name: see `strop.evaluation.evaluate`."""
    by_turn: ByTurn | None = None
    """Results by turn; None if no play had a judged answer before the last."""

    @property
    def keys(self) -> list[str]:
        """Names of the reported numbers: pass@1, ..., greedy."""
        sampled = [f"pass@{k}" for k in sorted(set(self.k))] if self.samples else []
        return [*sampled, GREEDY] if self.greedy else sampled

    @property
    def stage_keys(self) -> list[str]:
        """Names of the rates by stage: build, lint, base, test and score of sampled answers, greedy-build, ... of
        greedy ones. Only stages that some task has (Python answers are not linted); `pairs` comes last, if there are
        pairs.
        """
        sampled = [name for name in STAGES if any(name in t.stages for t in self.counts)]
        greedy = [name for name in STAGES if any(name in t.greedy_stages for t in self.counts)]
        if any(t.pair for t in self.counts):
            sampled += [PAIRS] * bool(self.samples)
            greedy += [PAIRS] * self.greedy
        return [*sampled, *(GREEDY_PREFIX + name for name in greedy)]

    @property
    def first_stage_keys(self) -> dict[str, str]:
        """{stage: key} as tables and charts show them: of the sampled answers, else of the greedy ones."""
        keys = self.stage_keys
        both = {
            name: [key for key in (name, GREEDY_PREFIX + name) if key in keys] for name in (*STAGES, PAIRS)
        }
        return {name: found[0] for name, found in both.items() if found}

    @property
    def error_rate(self) -> float:
        """Share of answers with outcome *error*."""
        return self.outcomes.get("error", 0) / max(1, sum(self.outcomes.values()))

    def values(self, key: str, topic: str | None = None, tasks: Set[str] | None = None) -> dict[str, float]:
        """The key's value for each task that has one, in the tasks' order; only those of a topic, or among `tasks`.

        pass@k needs k scored answers: a task that lost some to grader errors is left out of the larger k. The value of
        a stage is the share of the task's scored answers that passed it; `pairs` is keyed by the pair's name: how often
        both of its independently sampled members are right.
        """
        of_topic = [t for t in self.counts if topic is None or t.topic == topic]
        chosen = [t for t in of_topic if tasks is None or t.task_id in tasks]
        if key in (PAIRS, GREEDY_PREFIX + PAIRS):
            right = self.values("pass@1" if key == PAIRS else GREEDY, topic, tasks)
            members = defaultdict[str, list[float]](list)
            for t in chosen:
                if t.pair and t.task_id in right:
                    members[t.pair].append(right[t.task_id])
            return {pair: math.prod(both) for pair, both in members.items() if len(both) == 2}
        if key == GREEDY:
            return {t.task_id: float(t.greedy) for t in chosen if t.greedy is not None}
        if key in STAGES:
            return {t.task_id: t.stages[key] / t.n for t in chosen if t.n and key in t.stages}
        if (stage := key.removeprefix(GREEDY_PREFIX)) in STAGES:
            return {t.task_id: float(t.greedy_stages[stage]) for t in chosen if stage in t.greedy_stages}
        k = int(key.removeprefix("pass@"))
        return {t.task_id: pass_at_k(t.n, t.c, k) for t in chosen if t.n >= k}

    def estimate(self, key: str, topic: str | None = None, tasks: Set[str] | None = None) -> Estimate | None:
        """Mean over tasks with its interval; None if no task has a value."""
        values = list(self.values(key, topic, tasks).values())
        if not values:
            return None
        return mean_interval(values, resamples=self.resamples, confidence=self.confidence)

    @property
    def accept_rates(self) -> dict[str, Estimate]:
        """For next edits, {name: accepted suggestions / shown ones}, by the user's rule."""
        found: dict[str, Estimate] = {}
        for name, rule in (("accept rate", "accepted"), ("kept", "kept"), ("exact", "exact")):
            keys = self.first_stage_keys
            if "shown" not in keys or rule not in keys:
                continue
            shown, parts = self.values(keys["shown"]), self.values(keys[rule])
            both = [parts.get(task, 0.0) for task in shown], list(shown.values())
            rate = ratio_interval(*both, resamples=self.resamples, confidence=self.confidence)
            if rate is not None:
                found[name if rule == "accepted" else f"accept rate, {name}"] = rate
        return found

    @property
    def topics(self) -> list[str]:
        """Topics of the tasks, sorted; empty if no task names one."""
        found = sorted({t.topic for t in self.counts})
        return [] if found == [""] else found

    def against(self, control: str) -> "dict[str, Difference]":
        """{key: this minus the control}, for every number that both report."""
        other = self.controls[control]
        return compare(other, self, [key for key in self.keys if key in other.keys])

    def as_json(self, *, per_task: bool = True) -> dict[str, Any]:
        """The numbers as JSON values, for summary.json and `strop eval -o`; see docs/formats.md."""
        settings = (
            "samples", "temperature", "top_p", "max_tokens", "tokens_mean", "truncated_rate", "seconds", "outcomes",
            "error_rate",
        )  # fmt: skip
        report: dict[str, Any] = {
            **self._rates(),
            "confidence": self.confidence,
            "tasks": len(self.counts),
            "unscored_tasks": {key: len(self.counts) - len(self.values(key)) for key in self.keys},
            "topics": {topic or NO_TOPIC: self._topic_json(topic) for topic in self.topics},
            **{name: getattr(self, name) for name in settings},
        }
        if rates := self.accept_rates:
            report["accept_rates"] = rates_json(rates)
        if self.controls:
            report["controls"] = {
                name: {
                    **one._rates(),
                    "tokens_mean": one.tokens_mean,
                    "difference": paired_json(self.against(name)),
                }
                for name, one in self.controls.items()
            }
        if self.by_turn is not None:
            report["by_turn"] = self.by_turn.model_dump()
        if self.contamination is not None:
            report["contamination"] = self._contamination_json(self.contamination)
        if per_task:
            report["per_task"] = [t.model_dump() for t in self.counts]
        return report

    def _rates(self, topic: str | None = None, tasks: Set[str] | None = None) -> dict[str, Any]:
        return rates_json({key: self.estimate(key, topic, tasks) for key in [*self.keys, *self.stage_keys]})

    def _topic_json(self, topic: str) -> dict[str, Any]:
        return {"tasks": sum(t.topic == topic for t in self.counts), **self._rates(topic)}

    def _by_cutoff(self, cutoff: str) -> dict[str, Set[str]]:
        """Ids of the tasks dated up to the cutoff, and of those after it; undated ones are in neither."""
        dated = [task for task in self.counts if task.date]
        before = {task.task_id for task in dated if task.date <= cutoff}
        return {"before": before, "after": {task.task_id for task in dated} - before}

    def _contamination_json(self, found: Contamination) -> dict[str, Any]:
        """{"cutoff", "undated", "before": part, "after": part, "source", "compared", "similar", "similar_tasks",
        "note"}; a part is {"tasks", key: rate, "intervals"}. Unknown parts are left out.
        """
        report: dict[str, Any] = {}
        if found.cutoff is not None:
            report |= {"cutoff": found.cutoff, "undated": sum(not task.date for task in self.counts)}
            for name, ids in self._by_cutoff(found.cutoff).items():
                report[name] = {"tasks": len(ids), **self._rates(tasks=ids)}
        if found.source is not None:
            report |= {"source": found.source, "compared": found.compared}
            report |= {"similar": len(found.similar), "similar_tasks": found.similar}
        return {**report, "note": self.seen_note()}

    def seen_note(self) -> str:
        """One line on the tasks that the model may have seen; empty if nothing is known."""
        said, found, total = list[str](), self.contamination or Contamination(), len(self.counts)
        if found.cutoff is not None:
            parts = self._by_cutoff(found.cutoff)
            undated = sum(not task.date for task in self.counts)
            without = f", {undated} without a date" if undated else ""
            key = self.keys[0]
            rates = [
                f"{name} {e.value:.3f} [{e.low:.3f}, {e.high:.3f}] of {len(ids)}"
                for name, ids in parts.items()
                if (e := self.estimate(key, tasks=ids))
            ]
            compared = f": {key} {', '.join(rates)}" if rates else ""
            said.append(
                f"{len(parts['before'])} of {total} tasks are dated up to the model's cutoff {found.cutoff}{without}"
                f"{compared}"
            )
        if found.source is not None:
            said.append(
                f"{len(found.similar)} of {total} statements are near-duplicates of training tasks, {found.compared} "
                f"in all ({found.source})"
            )
        return "; ".join(said)


def rates_json(estimates: Mapping[str, Estimate | None]) -> dict[str, Any]:
    """{key: value, ..., "intervals": {key: [low, high]}}; None if there is no estimate."""
    return {
        **{key: None if e is None else e.value for key, e in estimates.items()},
        "intervals": {key: None if e is None else [e.low, e.high] for key, e in estimates.items()},
    }


def compare(
    before: Evaluation, after: Evaluation, keys: Sequence[str] | None = None, tasks: Set[str] | None = None
) -> dict[str, Difference]:
    """After minus before for every key of both, by paired bootstrap over the tasks with a value in both, limited to
    `tasks` if given.

    Raises UserError if the two were not evaluated on the same tasks.
    """
    ours, theirs = ({t.task_id for t in e.counts} for e in (before, after))
    if ours != theirs:
        alone = f"{len(ours ^ theirs)} tasks are in only one evaluation"
        raise UserError(f"cannot compare: {alone}; use the same --tasks and --limit")
    found: dict[str, Difference] = {}
    shared = {*after.keys, *after.stage_keys}
    for key in keys or [key for key in (*before.keys, *before.stage_keys) if key in shared]:
        first, second = before.values(key, tasks=tasks), after.values(key, tasks=tasks)
        both = [task for task in first if task in second]
        if both:
            found[key] = paired_difference(
                [first[t] for t in both],
                [second[t] for t in both],
                resamples=after.resamples,
                confidence=after.confidence,
            )
    return found


def paired_json(paired: dict[str, Difference]) -> dict[str, dict[str, float]]:
    """{key: {delta, low, high}} as in summary.json."""
    return {key: difference._asdict() for key, difference in paired.items()}
