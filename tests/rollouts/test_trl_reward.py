import inspect
import json

import pytest

from strop.core.checks import Case, CasesCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.rollouts.trl_reward import verdict_reward

DOUBLE = Task(
    id="double",
    statement="Double it.",
    check=CasesCheck(entry_point="double", cases=[Case(args=[1], expected=2), Case(args=[0], expected=0)]),
)
RIGHT, HALF, WRONG = (f"def double(x):\n    return {body}\n" for body in ("2 * x", "0", "x + 7"))


def line(task=DOUBLE):
    return task.model_dump_json()


def test_answers_are_verified_and_scored_in_order(verifier):
    completions = [RIGHT, f"Sure:\n```python\n{WRONG}```", f"```python\n{RIGHT}```", "", HALF]
    columns = {"task": [line()] * 5, "completion_ids": [[1]] * 5, "trainer_state": object()}
    assert verdict_reward(verifier=verifier)(["p"] * 5, completions, **columns) == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert verdict_reward("tests", verifier=verifier)(["p"] * 5, completions, **columns) == [
        1.0,
        0.0,
        1.0,
        0.0,
        0.5,
    ]


def test_conversations_as_trl_passes_them(verifier):
    prompts = [[{"role": "user", "content": "Double it."}]]
    said = [[{"role": "assistant", "content": f"```python\n{RIGHT}```"}]]
    assert verdict_reward(verifier=verifier)(prompts=prompts, completions=said, task=[line()]) == [1.0]


def test_a_completion_that_continues_its_prompt(verifier):
    prompts, completions = ["def double(x):\n"], ["    return x + x\n"]
    assert verdict_reward(verifier=verifier, continues_prompt=True)(prompts, completions, task=[line()]) == [
        1.0
    ]
    assert verdict_reward(verifier=verifier)(prompts, completions, task=[line()]) == [0.0]


def test_check_column_in_place_of_task(verifier):
    check = json.loads(DOUBLE.check.model_dump_json())
    score = verdict_reward(verifier=verifier)
    assert score(["p"], [RIGHT], check=[json.dumps(check)]) == [1.0]
    arrow = {**check, "code": None}  # Arrow gives every row the fields of all rows
    assert score(["p"], [WRONG], check=[arrow], id=["double"], language=["python"]) == [0.0]


def test_what_could_not_be_verified_is_not_scored(verifier):
    rust = DOUBLE.model_copy(update={"id": "r", "language": "rust"})
    task, answer = [line(rust), line()], [RIGHT, RIGHT]
    assert verifier.verify(rust, RIGHT).outcome is Outcome.ERROR
    assert verdict_reward(verifier=verifier)(["p"] * 2, answer, task=task) == [None, 1.0]


@pytest.mark.parametrize(
    ("columns", "cause"),
    [
        ({}, "neither a column 'task' nor 'check'"),
        ({"task": ["{"]}, "not a task line"),
        ({"task": ['{"id": "x"}']}, "check"),
        ({"task": [json.dumps({"check": {"kind": "asserts", "entry_point": "f", "code": ""}})]}, "no tests"),
        ({"task": [line(), line()]}, "2 tasks for 1"),
    ],
)
def test_bad_columns_are_one_clear_line(verifier, columns, cause):
    with pytest.raises(UserError, match=cause) as caught:
        verdict_reward(verifier=verifier)(["p"], ["x"], **columns)
    assert "\n" not in str(caught.value)


def test_names_and_unknown_rewards():
    score = verdict_reward("tests")
    assert score.__name__ == "tests" and inspect.isfunction(score)
    with pytest.raises(UserError, match="passed"):
        verdict_reward("pased")
    with pytest.raises(UserError, match="TRL does not pass"):
        verdict_reward("finished")


def test_answers_of_a_batch_are_verified_side_by_side():
    from concurrent.futures import Future

    class Late:
        """Resolves nothing until every answer of the batch is submitted."""

        def __init__(self):
            self.futures = []

        def submit(self, task, answer):
            self.futures.append(Future())
            if len(self.futures) == 3:
                for future in self.futures:
                    future.set_result(Verdict(outcome=Outcome.PASSED))
            return self.futures[-1]

        def close(self):
            pass

    assert verdict_reward(verifier=Late())(["p"] * 3, [RIGHT] * 3, task=[line()] * 3) == [1.0] * 3


def test_default_verifier_ends_with_the_process(tmp_path):
    import subprocess
    import sys

    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom strop.rollouts.trl_reward import verdict_reward\n"
        "print(verdict_reward()(['p'], [sys.argv[2]], task=[sys.argv[1]]))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), line(), RIGHT], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "[1.0]\n" and done.stderr == "" and done.returncode == 0
