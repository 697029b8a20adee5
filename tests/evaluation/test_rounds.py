"""Rounds of self-debug beside blind resampling: the rule of the control is followed again, and one rule chooses."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest
from tests.scale import most

from strop.evaluation.evaluate import resampled
from strop.evaluation.public_runs import PublicRun, key_of
from strop.evaluation.result import Evaluation, TaskCounts
from strop.evaluation.self_debug import rounds
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.rollout import Completion, Rollout, SamplingParams, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

TASKS = [
    Task(
        id=name,
        statement=name,
        check=CasesCheck(entry_point="f", cases=[Case(args=[1], expected=1, shown=True)]),
    )
    for name in "ab"
]


def completion(tokens: int) -> Completion:
    return Completion(token_ids=[0] * tokens, logprobs=[0.0] * tokens, text="", finish_reason="eos")


def made(task: str, index: int, turns: Sequence[int], passed: bool, answer: str) -> Rollout:
    verdict = Verdict(outcome=Outcome.PASSED if passed else Outcome.FAILED)
    played = [Turn(prompt_ids=[1], completion=completion(tokens)) for tokens in turns]
    return Rollout(task_id=task, index=index, seed=0, prompt="", turns=played, answer=answer, verdict=verdict)


def evaluation() -> Evaluation:
    return Evaluation(
        counts=[TaskCounts(task_id=task.id, n=0, c=0) for task in TASKS],
        samples=3, temperature=1.0, max_tokens=9, k=[1], greedy=False, outcomes={}, tokens_mean=0.0,
        truncated_rate=0.0, seconds=0.0,
    )  # fmt: skip


def test_rounds_are_those_of_a_plain_count() -> None:
    draw = random.Random("rounds")
    for _ in range(most(200, short=20)):
        compare(draw)


def compare(draw: random.Random) -> None:
    plays = [
        made(
            task.id,
            index,
            [draw.randint(1, 5) for _ in range(draw.randint(1, 3))],
            draw.random() < 0.5,
            "",
        )
        for task in TASKS
        for index in range(3)
    ]
    kept: list[tuple[str, int, int, Rollout]] = []
    runs: dict[str, PublicRun] = {}
    by_id = {task.id: task for task in TASKS}

    def play(some: Sequence[Task], count: int, params: SamplingParams, tag: str) -> Iterator[Rollout]:
        for task in some:
            for index in draw.sample(range(count), count):
                passed = draw.random() < 0.2
                one = made(task.id, index, [draw.randint(1, 4)], passed, f"{task.id}{len(kept)}")
                key = key_of(by_id[task.id], one.answer, 4)
                shown = passed or draw.random() < 0.3
                runs[key] = PublicRun(key=key, shown=[shown], results=[], shown_cpu=0, results_cpu=0)
                kept.append((task.id, int(tag.rpartition(".")[2]), index, one))
                yield one

    beside: defaultdict[tuple[str, int], list[Rollout]] = defaultdict(list)
    spent = {(one.task_id, one.index): sum(len(t.completion.token_ids) for t in one.turns) for one in plays}
    order = draw.sample(sorted(spent), len(spent))  # as plays happened to be done
    resampled(
        evaluation(), play, TASKS, {key: spent[key] for key in order}, {}, SamplingParams(),
        see=lambda key, one: beside[key].append(one),
    )  # fmt: skip
    control = [one for *_, one in sorted(kept, key=lambda item: item[:3])]
    found = rounds(evaluation(), TASKS, plays, control, runs, inputs=4, resamples=50)
    assert found is not None and found.tasks == 2
    for at in range(len(found.tokens)):
        means = []
        for task in TASKS:
            mine = [
                counted(one, beside[one.task_id, one.index], runs, by_id, at + 1)
                for one in plays
                if one.task_id == task.id
            ]
            means.append([sum(column) / 3 for column in zip(*mine, strict=True)])
        debugged, other, tokens, theirs = (sum(column) / 2 for column in zip(*means, strict=True))
        assert found.debugged.value[at] == pytest.approx(debugged)
        assert found.resampled.value[at] == pytest.approx(other)
        assert found.differences.delta[at] == pytest.approx(debugged - other)
        assert (found.tokens[at], found.resampled_tokens[at]) == pytest.approx((tokens, theirs))


def counted(
    play: Rollout, answers: list[Rollout], runs: dict[str, PublicRun], tasks: dict[str, Task], turns: int
) -> tuple[float, float, int, int]:
    """(self-debug is right, resampling is, tokens of both) after so many rounds."""
    budget = sum(len(turn.completion.token_ids) for turn in play.turns[:turns])
    assert play.verdict is not None
    right = len(play.turns) <= turns and play.verdict.passed
    left = list(answers)
    spent = 0
    while left and spent < budget:
        one = left.pop(0)
        spent += len(one.turns[0].completion.token_ids)
        if runs[key_of(tasks[one.task_id], one.answer, 4)].shown == [True]:
            assert one.verdict is not None
            return float(right), float(one.verdict.passed), budget, spent
    return float(right), 0.0, budget, spent


def test_answers_that_do_not_belong_to_the_plays_give_no_numbers() -> None:
    plays = [made("a", 0, [5], False, "")]
    assert rounds(evaluation(), TASKS, plays, [made("a", 0, [1], False, "x")], {}, inputs=4) is None
    assert rounds(evaluation(), TASKS, plays, [], {}, inputs=4) is None
