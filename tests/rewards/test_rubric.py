from pathlib import Path

import pytest

from strop.rewards.rubric import RubricBySet, WeightedRubric, find_reward, total
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import JudgedRollout
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, TestResult, Verdict

TASK = Task.model_validate(
    {
        "statement": "s",
        "check": {"kind": "cases", "entry_point": "f", "cases": [{"args": [1], "expected": 1}]},
    }
)
ROLLOUT = Rollout(
    task_id=TASK.id,
    index=0,
    seed=0,
    prompt="p",
    turns=[
        Turn(
            prompt_ids=[1],
            completion=Completion(token_ids=[2], logprobs=[-1.0], text="x", finish_reason="eos"),
        )
    ],
)
HALF = Verdict(
    outcome=Outcome.FAILED,
    tests=[TestResult(id="a", outcome=Outcome.PASSED), TestResult(id="b", outcome=Outcome.FAILED)],
)


def test_scores_stay_apart_and_weights_add_up() -> None:
    scores = WeightedRubric.from_names([("passed", 1.0), ("tests", 0.5)]).score(TASK, ROLLOUT, HALF)
    assert [(s.name, s.value) for s in scores] == [("passed", 0.0), ("tests", 0.5)]
    assert total(scores) == 0.25


def test_an_error_is_never_a_zero() -> None:
    scores = WeightedRubric.from_names([("passed", 1.0)]).score(TASK, ROLLOUT, Verdict(outcome=Outcome.ERROR))
    assert scores[0].value is None and total(scores) is None


def test_a_reward_from_a_file_and_its_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def good(task, rollout, verdict):\n    return 2\ndef bad(task, rollout, verdict):\n    return 'x'\n"
    )
    assert find_reward(f"{file}:good")(TASK, ROLLOUT, HALF) == 2
    with pytest.raises(UserError, match="finite number"):
        WeightedRubric.from_names([(f"{file}:bad", 1.0)]).score(TASK, ROLLOUT, HALF)
    for name, said in (
        ("pased", "did you mean 'passed'"),
        (f"{file}:none", "has no 'none'; it has good, bad"),
        ("no.py:f", "no file"),
    ):
        with pytest.raises(UserError, match=said):
            find_reward(name)


def test_a_batched_reward_is_called_once_for_all_that_are_scored(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from strop_verify.core.protocols import batched\n\n@batched\ndef longest(judged):\n"
        "    assert len(judged) == 3\n    return [float(len(one.rollout.answer)) for one in judged]\n\n"
        "@batched\ndef short(judged):\n    return [1.0]\n"
    )
    rubric = WeightedRubric.from_names([(f"{file}:longest", 2.0), ("passed", 1.0)])
    broken = Verdict(outcome=Outcome.ERROR)
    rows = [
        JudgedRollout(TASK, ROLLOUT.model_copy(update={"answer": "x" * n}), broken if n == 1 else HALF)
        for n in range(4)
    ]
    found = rubric.score_all(rows)
    assert [[score.value for score in scores] for scores in found] == [
        [0.0, 0.0],
        [None, None],
        [2.0, 0.0],
        [3.0, 0.0],
    ]
    with pytest.raises(UserError, match="returned 1 values for 4 rollouts"):
        WeightedRubric.from_names([(f"{file}:short", 1.0)]).score_all(
            [row._replace(verdict=HALF) for row in rows]
        )


def test_each_set_is_scored_by_its_own_rubric() -> None:
    other = TASK.model_copy(update={"id": "other"})
    rubrics = {
        "a": WeightedRubric.from_names([("passed", 1.0)]),
        "b": WeightedRubric.from_names([("tests", 1.0)]),
    }
    rows = [JudgedRollout(task, ROLLOUT, HALF) for task in (other, TASK, other)]
    found = RubricBySet(rubrics, {TASK.id: "a", "other": "b"}).score_all(rows)
    assert [[(s.name, s.value) for s in scores] for scores in found] == [
        [("tests", 0.5)],
        [("passed", 0.0)],
        [("tests", 0.5)],
    ]
