"""What an evaluation is held against on the same tasks.

resampled  the same model without what its environment says: for each play answers in one turn, until they have at least
           as many sampled tokens as the play had. It is solved if any of them passes all tests, which nobody could know
           without those tests: more than fair to the control.
room       the model before training, with more tokens for an answer (`strop.training.evaluations`)
ceiling    the best possible in one turn, on tasks that say so: 1 of `metadata["options"]` (`needs-feedback`)
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from strop.core.rollout import Rollout, SamplingParams
from strop.core.task import Task
from strop.evaluation.result import Evaluation, TaskCounts

Play = Callable[[Sequence[Task], int, SamplingParams, str], Iterable[Rollout]]
"""(tasks, answers a task, sampling, tag) -> rollouts in any order, each with its verdict. The tag tells apart the plays
of one evaluation and goes into the seeds: "sampled" and "greedy", "resampled.0", ..."""

Spent = Mapping[tuple[str, int], int]
"""Sampled tokens of plays by (task id, index)."""


def resampled(
    result: Evaluation,
    play: Play,
    tasks: Sequence[Task],
    sampled: Spent,
    greedy: Spent,
    params: SamplingParams,
    see: Callable[[tuple[str, int], Rollout], None] = lambda key, rollout: None,
) -> Evaluation:
    """The control of an evaluation whose plays sampled so many tokens.

    Greedy plays are resampled at `params`, too: a greedy answer would only repeat itself. Plays that are solved are not
    sampled further. `see` gets each answer with the (task, index) of the play beside which it stands, -1 for a greedy
    one. Raises nothing of its own.
    """
    left = {(task, index): tokens for (task, index), tokens in sampled.items()}
    left |= {(task, -1): tokens for (task, _), tokens in greedy.items()}
    left = dict(sorted(left.items(), key=lambda item: (item[0][0], item[0][1] < 0, item[0][1])))
    spent: Counter[tuple[str, int]] = Counter()
    scored: set[tuple[str, int]] = set()
    passed: set[tuple[str, int]] = set()
    outcomes: Counter[str] = Counter()
    round = 0
    while open_ := _by_task([key for key, most in left.items() if spent[key] < most and key not in passed]):
        for count in sorted({len(keys) for keys in open_.values()}):
            chosen = [task for task in tasks if len(open_.get(task.id, ())) == count]
            for rollout in play(chosen, count, params, f"resampled.{round}"):
                key, verdict = open_[rollout.task_id][rollout.index], rollout.verdict
                see(key, rollout)
                spent[key] += max(1, sum(len(turn.completion.token_ids) for turn in rollout.turns))
                if verdict is not None:
                    outcomes[verdict.outcome.value] += 1
                    scored |= {key} if verdict.scored else set()
                    passed |= {key} if verdict.passed else set()
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


def ceiling(result: Evaluation, tasks: Sequence[Task]) -> Evaluation | None:
    """The best possible in one turn; None where a task does not say it."""
    options = {task.id: task.metadata.get("options") for task in tasks}
    if not all(isinstance(count, int) and count > 0 for count in options.values()):
        return None
    counts = [
        TaskCounts(task_id=one.task_id, topic=one.topic, date=one.date, n=options[one.task_id], c=1)
        for one in result.counts
    ]
    changes = {"counts": counts, "samples": 1, "k": [1], "greedy": False, "outcomes": {}, "by_turn": None}
    return result.model_copy(update={**changes, "tokens_mean": 0.0})


def _by_task(keys: Iterable[tuple[str, int]]) -> dict[str, list[tuple[str, int]]]:
    found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for key in keys:
        found[key[0]].append(key)
    return dict(found)
