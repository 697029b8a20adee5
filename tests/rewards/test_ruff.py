"""The reward of recipe mbpp-0.6b: what Ruff says of answers."""

from pathlib import Path

import strop
from strop.rewards.rubric import WeightedRubric
from strop_verify.core.protocols import JudgedRollout
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

FILE = Path(strop.__file__).parent / "recipes" / "rewards" / "ruff.py"
ANSWERS = {
    "def f(x):\n    return x\n": 1.0,
    "import os\ndef f(x):\n    return x\n": 1 / 2,
    "import os  # noqa\nimport re  # ruff: noqa\ndef f(x):\n    return x\n": 1 / 3,  # it cannot be silenced
    "def f(x):\n    return y\n": 1 / 2,
    "def f(x:\n": 0.0,
    " \n": 0.0,
}


def test_fewer_findings_earn_more() -> None:
    task = Task.model_validate(
        {
            "statement": "s",
            "check": {"kind": "cases", "entry_point": "f", "cases": [{"args": [1], "expected": 1}]},
        }
    )
    failed = Verdict(outcome=Outcome.FAILED)
    rollouts = [
        Rollout(task_id=task.id, index=0, seed=0, prompt="p", turns=[], answer=answer) for answer in ANSWERS
    ]
    rubric = WeightedRubric.from_names([(f"{FILE}:ruff", 1.0)])
    found = rubric.score_all([JudgedRollout(task, rollout, failed) for rollout in rollouts])
    assert [score.value for (score,) in found] == [*ANSWERS.values()]
