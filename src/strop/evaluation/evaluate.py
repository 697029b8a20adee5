"""Evaluates one policy on one task set: n sampled answers per task for pass@k, and a greedy one; rates by stage.

Controls on the same tasks:

resampled  the same model without its environment's feedback: for each play, answers in one turn until they have at
           least as many sampled tokens as the play. It is solved if any of them passes all tests; knowing which one
           needs those tests, so this favours the control.
room       the model before training, with more tokens for an answer (`strop.training.evaluations`)
ceiling    the best possible in one turn, on tasks that state it: 1 of `metadata["options"]` (`needs-feedback`)
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, groupby
from operator import itemgetter

from strop.config.schema import Recipe
from strop.evaluation.outcome_rates import (
    SHARES,
    STAGES,
    base_tests,
    came_through,
    kind_of,
    pair_of,
    stages_of,
)
from strop.evaluation.result import ByTurn, Contamination, Evaluation, TaskCounts
from strop.tasks.task_sets import date_of, judged_tasks
from strop_verify.core.errors import TooManyErrors, UserError
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

Play = Callable[[Sequence[Task], int, SamplingParams, str], Iterable[Rollout]]
"""(tasks, answers per task, sampling, tag) -> rollouts in any order, each with its verdict. The tag distinguishes the
plays of one evaluation and enters the seeds: "sampled" and "greedy", "resampled.0", ..."""

SeededPlay = Callable[..., Iterable[Rollout]]
"""(tasks, answers per task, sampling, *, seed, tag) -> the same, as in `rollouts.dispatcher.Dispatcher.play`. A
rollout's randomness comes from (seed, tag, task id, index)."""

Spent = Mapping[tuple[str, int], int]
"""Sampled tokens of plays by (task id, index)."""

Tell = Callable[[int, int], None]
"""Shows progress: (done, total)."""


def resampled(
    result: Evaluation,
    play: Play,
    tasks: Sequence[Task],
    sampled: Spent,
    greedy: Spent,
    params: SamplingParams,
    see: Callable[[tuple[str, int], Rollout], None] = lambda key, rollout: None,
    show: Tell = lambda done, total: None,
) -> Evaluation:
    """The control of an evaluation, given the sampled tokens of its plays.

    Greedy plays are also resampled at `params`: a greedy answer would only repeat itself. Solved plays are not sampled
    further. `see` gets each answer with the (task, index) of its play, index -1 for a greedy one; `show` gets the
    number of tokens done and in total. Raises no errors of its own.
    """
    left = {(task, index): tokens for (task, index), tokens in sampled.items()}
    left |= {(task, -1): tokens for (task, _), tokens in greedy.items()}
    left = dict(sorted(left.items(), key=lambda item: (item[0][0], item[0][1] < 0, item[0][1])))
    spent: Counter[tuple[str, int]] = Counter()
    scored: set[tuple[str, int]] = set()
    passed: set[tuple[str, int]] = set()
    outcomes: Counter[str] = Counter()
    round, done, total = 0, 0, sum(left.values())
    while still := [key for key, most in left.items() if spent[key] < most and key not in passed]:
        open_ = {task: list(keys) for task, keys in groupby(still, key=itemgetter(0))}
        for count in sorted({len(keys) for keys in open_.values()}):
            chosen = [task for task in tasks if len(open_.get(task.id, ())) == count]
            for rollout in play(chosen, count, params, f"resampled.{round}"):
                key, verdict = open_[rollout.task_id][rollout.index], rollout.verdict
                see(key, rollout)
                before = min(spent[key], left[key])
                spent[key] += max(1, tokens_of(rollout))
                if verdict is not None:
                    outcomes[verdict.outcome.value] += 1
                    scored |= {key} if verdict.scored else set()
                    passed |= {key} if verdict.passed else set()
                done += (left[key] if key in passed else min(spent[key], left[key])) - before
                show(done, total)
        round += 1
    counts = [
        one.model_copy(
            update={
                "n": sum(task == one.task_id and index >= 0 for task, index in scored),
                "c": sum(task == one.task_id and index >= 0 for task, index in passed),
                "greedy": (one.task_id, -1) in passed if (one.task_id, -1) in scored else None,
                "stages": {},
                "greedy_stages": {},
            }
        )
        for one in result.counts
    ]
    changes = {"counts": counts, "outcomes": dict(sorted(outcomes.items())), "by_turn": None}
    return result.model_copy(update={**changes, "tokens_mean": sum(spent.values()) / max(1, len(left))})


def tokens_of(rollout: Rollout) -> int:
    """The sampled tokens of a play."""
    return sum(len(turn.completion.token_ids) for turn in rollout.turns)


def ceiling(result: Evaluation, tasks: Sequence[Task]) -> Evaluation | None:
    """The best possible result in one turn; None if a task does not state it."""
    options = {task.id: task.metadata.get("options") for task in tasks}
    if not all(isinstance(count, int) and count > 0 for count in options.values()):
        return None
    counts = [
        TaskCounts(task_id=one.task_id, topic=one.topic, date=one.date, n=options[one.task_id], c=1)
        for one in result.counts
    ]
    changes = {"counts": counts, "samples": 1, "k": [1], "greedy": False, "outcomes": {}, "by_turn": None}
    return result.model_copy(update={**changes, "tokens_mean": 0.0})


def evaluate(
    play: Play,
    tasks: Sequence[Task],
    *,
    samples: int,
    temperature: float = 1.0,
    top_p: float = 1.0,
    k: Sequence[int] = (1,),
    greedy: bool = True,
    max_tokens: int,
    stop: Sequence[str] = (),
    resamples: int = 10_000,
    confidence: float = 0.95,
    max_error_rate: float = 1.0,
    contamination: Contamination | None = None,
    on_rollout: Callable[[Rollout], None] | None = None,
    control: Play | None = None,
    on_control: Tell = lambda done, total: None,
) -> Evaluation:
    """Plays every judged task `samples` times at `temperature`, and once greedily if requested.

    `contamination` goes into the result. `on_rollout` gets every rollout as it finishes, to record it or show
    progress. `control` plays the control at equal sampled tokens; `on_control` shows how many of them are done. Raises
    UserError for settings that leave nothing to report and TooManyErrors when a larger share than `max_error_rate`
    could not be verified.
    """
    check(tasks, samples, k, greedy)
    tasks = judged_tasks(tasks)
    started, cpu = time.perf_counter(), time.process_time()
    params = SamplingParams(temperature=temperature, top_p=top_p, max_tokens=max_tokens, stop=tuple(stop))
    see = on_rollout or (lambda rollout: None)
    sampled = _PlayTally(tasks, samples)
    if samples:
        sampled.take(play(tasks, samples, params, "sampled"), see)
    best = _PlayTally(tasks, 1)
    if greedy:
        best.take(play(tasks, 1, params.model_copy(update={"temperature": 0.0, "top_p": 1.0}), "greedy"), see)
    shown = sampled if samples else best
    result = Evaluation(
        counts=_counts(tasks, sampled, best),
        samples=samples,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        k=list(k),
        greedy=greedy,
        outcomes=dict(sorted((sampled.outcomes + best.outcomes).items())),
        tokens_mean=sum(shown.spent.values()) / max(1, shown.outcomes.total()),
        truncated_rate=shown.truncated / max(1, shown.outcomes.total()),
        seconds=time.perf_counter() - started,
        cpu_seconds=time.process_time() - cpu,
        resamples=resamples,
        confidence=confidence,
        contamination=contamination,
        by_turn=shown.by_turn(),
    )
    if result.error_rate > max_error_rate:
        raise TooManyErrors(
            f"{result.error_rate:.1%} of the answers could not be verified, more than "
            f"limits.max_error_rate={max_error_rate:g}; the first cause: {sampled.cause or best.cause}"
        )
    controls = {}
    if control is not None:
        controls["resampled"] = resampled(
            result, control, tasks, sampled.spent, best.spent, params, show=on_control
        )
    if (most := ceiling(result, tasks)) is not None:
        controls["ceiling"] = most
    return result.model_copy(update={"controls": controls, "seconds": time.perf_counter() - started})


def evaluate_with(
    recipe: Recipe,
    play: SeededPlay,
    tasks: Sequence[Task],
    *,
    contamination: Contamination | None,
    on_rollout: Callable[[Rollout], None],
    control: SeededPlay | None = None,
    on_control: Tell = lambda done, total: None,
) -> Evaluation:
    """`evaluate` with a recipe's settings; `play` and `control` are functions like
    `rollouts.dispatcher.Dispatcher.play`."""
    config = recipe.evaluation

    def seeded(play: SeededPlay) -> Play:
        return lambda some, each, params, tag: play(
            some, each, params, seed=recipe.seed, tag=f"evaluation.{tag}"
        )

    return evaluate(
        seeded(play),
        tasks,
        samples=config.samples,
        temperature=config.temperature,
        k=config.k,
        greedy=config.greedy,
        max_tokens=recipe.sampling.max_tokens,
        resamples=config.bootstrap,
        confidence=config.confidence,
        max_error_rate=recipe.limits.max_error_rate,
        contamination=contamination,
        on_rollout=on_rollout,
        control=seeded(control) if control else None,
        on_control=on_control,
    )


def _counts(tasks: Sequence[Task], sampled: "_PlayTally", best: "_PlayTally") -> list[TaskCounts]:
    """One entry per task, in order."""
    found = []
    for task in tasks:
        stages = stages_of(task, sampled.stages[kind_of(task)] | best.stages[kind_of(task)])
        n, greedy = sampled.scored[task.id], best.scored[task.id] > 0
        found.append(
            TaskCounts(
                task_id=task.id,
                topic=task.topic,
                date=date_of(task),
                pair=pair_of(task),
                n=n,
                c=sampled.passed[task.id],
                greedy=bool(best.passed[task.id]) if greedy else None,
                stages={name: sampled.through[task.id, name] for name in stages if n},
                greedy_stages={name: best.greedy_value(task.id, name) for name in stages if greedy},
            )
        )
    return found


class _PlayTally:
    """Counts the rollouts of one play."""

    def __init__(self, tasks: Sequence[Task], each: int) -> None:
        self._each = each
        self._kinds = {task.id: kind_of(task) for task in tasks}
        self._base = {task.id: base_tests(task) for task in tasks}
        self.stages: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        """Stages that ran for any task of a kind."""
        self._seen: Counter[str] = Counter({task.id: 0 for task in tasks})
        self.scored: Counter[str] = Counter()
        self.passed: Counter[str] = Counter()
        self.through: defaultdict[tuple[str, str], float] = defaultdict(int)
        """Scored answers that passed a stage, by (task id, stage); the sum of their scores for the stage score."""
        self.outcomes: Counter[str] = Counter()
        self.spent: dict[tuple[str, int], int] = {}
        """Sampled tokens by (task id, index)."""
        self._passed_at: Counter[int] = Counter()
        """Number of plays by the turn, from 1, whose answer passed first; 0 if none did."""
        self._turns = 0
        self._second: list[bool] = []
        """For plays with two answers, whether the second repeats the first."""
        self.truncated = 0
        self.cause = ""

    def take(self, rollouts: Iterable[Rollout], see: Callable[[Rollout], None]) -> None:
        """Counts every rollout. Raises ValueError if they are not the expected ones."""
        for rollout in rollouts:
            self._count(rollout)
            see(rollout)
        wrong = [task for task, seen in self._seen.items() if seen != self._each]
        if wrong:
            raise ValueError(
                f"task {wrong[0]} was played {self._seen[wrong[0]]} times instead of {self._each}, as were "
                f"{len(wrong) - 1} others"
            )

    def _count(self, rollout: Rollout) -> None:
        task, verdict = rollout.task_id, rollout.verdict
        if verdict is None or task not in self._seen:
            raise ValueError(f"a rollout of task {task} has no verdict or was not asked for")
        self._seen[task] += 1
        self.outcomes[verdict.outcome.value] += 1
        self.spent[task, rollout.index] = tokens_of(rollout)
        self._count_turns(rollout)
        self.truncated += rollout.truncated
        if verdict.scored:
            self.scored[task] += 1
            self.passed[task] += verdict.passed
            self._count_stages(task, verdict)
        elif not self.cause:
            self.cause = verdict.detail or Outcome.ERROR.value

    def _count_turns(self, rollout: Rollout) -> None:
        judged = [turn for turn in rollout.turns if turn.verdict is not None]
        if judged:
            passed = (n for n, turn in enumerate(judged, 1) if turn.verdict and turn.verdict.passed)
            self._passed_at[next(passed, 0)] += 1
            self._turns = max(self._turns, len(judged))
            self._second += [judged[0].answer == judged[1].answer] if len(judged) > 1 else []

    def by_turn(self) -> ByTurn | None:
        """Counts of plays with judged answers before the last."""
        if not (plays := self._passed_at.total()):
            return None
        shares = (self._passed_at[turn] / plays for turn in range(1, self._turns + 1))
        repeated = sum(self._second) / len(self._second) if self._second else None
        return ByTurn(passed=list(accumulate(shares)), repeated=repeated)

    def _count_stages(self, task: str, verdict: Verdict) -> None:
        self.stages[self._kinds[task]].update(stage.name for stage in verdict.stages)
        for name in STAGES:
            self.through[task, name] += came_through(verdict, name, self._base[task])

    def greedy_value(self, task: str, stage: str) -> bool | float:
        """The result of the only answer to a task."""
        value = self.through[task, stage]
        return value if stage in SHARES else value > 0


def check(tasks: Sequence[Task], samples: int, k: Sequence[int], greedy: bool) -> None:
    """Raises UserError for settings that `evaluate` would refuse, before a model is loaded."""
    if not tasks:
        raise UserError("no task is left to evaluate; loosen the filters of the task set")
    judged_tasks(tasks)
    if len({task.id for task in tasks}) < len(tasks):
        raise UserError("two tasks to evaluate have the same id; ids must be unique")
    if not samples and not greedy:
        raise UserError("0 samples and no greedy answer leave nothing to evaluate")
    for one in k if samples else ():
        if not 1 <= one <= samples:
            raise UserError(f"pass@{one} needs 1 <= k <= samples, and samples is {samples}")
