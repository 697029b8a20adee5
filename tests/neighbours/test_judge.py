"""What the plug-ins for evaluators share: each answer gets a verdict, or the remedy is named."""

import pytest

from strop.neighbours import evaluators
from strop_verify.core.errors import UserError

ROW = {
    "task_id": "HumanEval/0",
    "prompt": 'def same(x):\n    """The value."""\n',
    "entry_point": "same",
    "canonical_solution": "    return x\n",
    "test": "def check(candidate):\n    assert candidate(1) == 1\n    assert candidate('a') == 'a'\n",
}
EQUAL = "    class Any:\n        def __eq__(self, other): return True\n    return Any()\n"


def test_right_wrong_and_equal_to_everything() -> None:
    task = evaluators.task_of(ROW)
    judged = [
        evaluators.submit(task, ROW["prompt"] + body) for body in ("    return x\n", "    return 1\n", EQUAL)
    ]
    assert [evaluators.verdict_of(task, one).passed for one in judged] == [True, False, False]


def test_without_pytest_no_answer_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some answers would be, and a score would be that of those alone."""
    monkeypatch.setattr(evaluators, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'strop-verify\[suites\]'"):
        evaluators.submit(evaluators.task_of(ROW), ROW["prompt"] + ROW["canonical_solution"])
