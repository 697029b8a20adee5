import inspect
import json

import pytest

from strop.rollouts.trl_reward import _plain, verdict_reward
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

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


ADD = {"kind": "cases", "entry_point": "add", "cases": [{"args": [1, 2], "expected": 3, "shown": True}]}
NOTHING = {
    "kind": "cases",
    "entry_point": "last",
    "cases": [{"args": [[]], "expected": None}, {"args": [[5]], "expected": 5}],
}
ECHO = {"kind": "stdio", "cases": [{"stdin": "7\n", "stdout": "7\n"}], "tolerance": 0.001}
RUN = {
    "kind": "command",
    "path": "a.py",
    "files": {"b.txt": "x"},
    "steps": [{"stage": "test", "argv": ["true"]}],
}


def through_arrow(rows):
    arrow = pytest.importorskip("pyarrow")
    return arrow.Table.from_pylist(rows).to_pylist()


@pytest.mark.parametrize("column", ["check", "task"])
def test_nulls_that_arrow_adds_to_a_mapping_mean_nothing(verifier, column):
    answers = [
        "def add(a, b):\n    return a + b",
        "def last(x):\n    return x[-1] if x else None",
        "print(input())",
    ]
    checks = [ADD, {**NOTHING, "cases": NOTHING["cases"][1:]}, ECHO]
    made = [
        check if column == "check" else {"id": str(at), "check": check} for at, check in enumerate(checks)
    ]
    for group in ([made[0], made[2]], [made[1], made[2]]):
        rows = through_arrow([{column: one} for one in group])
        given = [answers[made.index(one)] for one in group]
        found = verdict_reward(verifier=verifier)(["p"] * 2, given, **{column: [row[column] for row in rows]})
        assert found == [1.0, 1.0]


def test_a_null_that_is_expected_stays(verifier):
    (row,) = through_arrow([{"check": NOTHING}])
    right, wrong = (
        "def last(x):\n    return x[-1] if x else None",
        "def last(x):\n    return x[-1] if x else 0",
    )
    score = verdict_reward(verifier=verifier)
    assert score(["p"] * 2, [right, wrong], check=[row["check"]] * 2) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("cases", "where"),
    [
        (
            [{"kwargs": {"a": 1}, "expected": 1}, {"kwargs": {"b": 1}, "expected": 1}],
            r"cases\[0\]\.kwargs\.b",
        ),
        (
            [{"args": [1], "expected": {"x": [{"u": 1}]}}, {"args": [2], "expected": {"x": [{"v": 1}]}}],
            r"x\[0\]\.v",
        ),
        ([{"args": [{"a": 1}], "expected": 1}, {"args": [{"b": 1}], "expected": 1}], r"args\[0\]\.b"),
    ],
)
def test_a_null_that_may_be_a_value_is_refused_and_text_is_not(verifier, cases, where):
    checks = [{"kind": "cases", "entry_point": "f", "cases": [case]} for case in cases]
    rows = through_arrow([{"check": check} for check in checks])
    score = verdict_reward(verifier=verifier)
    with pytest.raises(UserError, match=where) as caught:
        score(["p"] * 2, ["x"] * 2, check=[row["check"] for row in rows])
    assert "\n" not in str(caught.value) and "json.dumps" in str(caught.value)
    answer = f"def f(*a, **k):\n    return {cases[0]['expected']!r}"
    assert score(["p"], [answer], check=[json.dumps(checks[0])]) == [1.0]


def test_files_and_steps_of_other_rows_are_none_of_a_check():
    other = {
        **RUN,
        "files": {"c.txt": "y"},
        "steps": [{"stage": "build", "argv": ["true"], "stdin": "x"}, *RUN["steps"]],
    }
    rows = through_arrow([{"check": RUN}, {"check": other}])
    assert [_plain(row["check"])["files"] for row in rows] == [RUN["files"], other["files"]]
    assert [_plain(row["check"])["steps"] for row in rows] == [RUN["steps"], other["steps"]]


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
        "import sys\nfrom strop.rollouts.trl_reward import _plain, verdict_reward\n"
        "print(verdict_reward()(['p'], [sys.argv[2]], task=[sys.argv[1]]))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), line(), RIGHT], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "[1.0]\n" and done.stderr == "" and done.returncode == 0
