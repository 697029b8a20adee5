"""TRL, verl, PrimeIntellect, APPS and TACO: what their columns mean, value by value."""

import ast
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strop.tasks import io_tests
from strop.tasks.adapters import ADAPTERS
from strop_tasks.formats import solutions, verl
from strop_verify.core.checks import AssertsCheck, CasesCheck, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def read(name: str, row: dict) -> Task:
    (task,) = ADAPTERS[name].read(row, "here:1")
    return task


def apps(tests: dict, starter: str = "", answers: tuple[str, ...] = ()) -> dict:
    solved = json.dumps(list(answers)) if answers else ""
    return {"problem_id": 3, "question": "?", "solutions": solved, "input_output": json.dumps(tests),
            "difficulty": "interview", "url": "", "starter_code": starter}  # fmt: skip


@given(st.lists(st.tuples(st.lists(JSON, max_size=3), JSON), min_size=1, max_size=4))
@example([([], {"0": None})])
@example([([{"0": 1}], [{"1": 2}])])
@example([([1], [2])])
def test_calls_come_back_as_they_were_written(pairs):
    """Whatever the values: writing and reading gives the same cases."""
    cases = [{"args": args, "expected": expected} for args, expected in pairs]
    check = CasesCheck.model_validate({"entry_point": "f", "cases": cases})
    row = json.loads(json.dumps(io_tests.write_tests(Task(id="t", statement="?", check=check))))
    assert io_tests.read_tests(row, "", "here") == check


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=4))
def test_programs_come_back_as_they_were_written(pairs):
    check = StdioCheck.model_validate(
        {"cases": [{"stdin": given, "stdout": wanted} for given, wanted in pairs]}
    )
    row = io_tests.write_tests(Task(id="t", statement="?", check=check))
    assert io_tests.read_tests(row, "", "here") == check
    lines = {key: [text.split("\n") for text in row[key]] for key in row}
    assert io_tests.read_tests(lines, "", "here") == check


def test_wrapped_outputs_are_unwrapped_unless_a_list_is_returned():
    tests = {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[1], [2]]}
    task = read("apps", apps(tests))
    assert [case.expected for case in task.check.cases] == [1, 2]
    for starter in ("def f(x) -> List[int]:", "class Solution:\n    def f(self, x: int) -> list:\n        "):
        task = read("apps", apps(tests, starter))
        assert [case.expected for case in task.check.cases] == [[1], [2]]
    mixed = {**tests, "outputs": [[1], [2, 3]]}
    assert [case.expected for case in read("apps", apps(mixed)).check.cases] == [[1], [2, 3]]


def test_arguments_as_lines_of_json():
    tests = {"fn_name": "f", "inputs": ['[1, 2]\n"a"', '[]\n""'], "outputs": ["true", "null"]}
    task = read("apps", apps(tests))
    assert [case.args for case in task.check.cases] == [[[1, 2], "a"], [[], ""]]
    assert [case.expected for case in task.check.cases] == [True, None]


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ({"inputs": ["1"], "outputs": []}, "1 inputs but 0 outputs"),
        ({"inputs": [], "outputs": []}, "no tests"),
        ({"inputs": "1", "outputs": ["1"]}, "the lists inputs and outputs"),
        ({"inputs": [{"a": 1}], "outputs": ["1"]}, "text or lists of lines, not an object"),
        ({"inputs": [3], "outputs": [3], "fn_name": "f"}, "a list of arguments, not 3"),
        ({"inputs": ["[1"], "outputs": ["1"], "fn_name": "f"}, "bad JSON"),
        ({"inputs": [[1]], "outputs": [1], "fn_name": "f(x)"}, "name of a function, not 'f\\(x\\)'"),
        (["1"], "must be an object"),
    ],
)
def test_tests_of_another_form_are_refused(tests, why):
    with pytest.raises(UserError, match=rf"^here:1: .*{why}"):
        read("apps", apps(tests))


def test_all_solutions_are_kept_and_get_their_imports(verifier):
    code = "class Solution:\n    def f(self, x: List[int]) -> int:\n        return reduce(gcd, x) + "
    code += "bisect.bisect(x, 1)\n"
    tests = {"fn_name": "f", "inputs": [[[4, 6]]], "outputs": [2]}
    row = apps(tests, "class Solution:\n    def f(self, x: List[int]) -> int:", (code, "f = sum\n"))
    task = read("apps", row)
    for line in (
        "import bisect\n",
        "from typing import List\n",
        "from functools import reduce\n",
        "from math import gcd\n",
    ):
        assert line in task.reference
    assert task.metadata["references"] == ["f = sum\n"] and task.signature.startswith(
        "from typing import List\n"
    )
    assert verifier.submit(task, task.reference).result(120).passed
    assert not verifier.submit(task, "def f(x): return 3").result(120).passed


@given(
    st.sampled_from(["List", "deque", "inf", "heapq.heappush", "lru_cache"]), st.text("ab \n#", max_size=12)
)
def test_imports_are_put_in_front(name, tail):
    comment = tail.replace("\n", "\n# ")
    code = f"def f(x):\n    return {name}(x)\n# {comment}"
    whole = solutions.with_imports(code)
    ast.parse(whole)
    assert whole.endswith(code) and whole != code
    assert solutions.with_imports(whole) == whole
    bound = f"{name.partition('.')[0]} = print\n\n{code}"
    assert solutions.with_imports(bound) == bound


def test_code_that_is_no_python_stays():
    for code in ("print 'x'", "def f(:", "from typing import *\nx: List", "(" * 5000, "\0"):
        assert solutions.with_imports(code) == code


@pytest.mark.parametrize(
    ("code", "hint", "reference", "name"),
    [
        ("def check(c):\n    assert c(1) == 2\n\ncheck(inc)", "", "", "inc"),
        ("def check(c):\n    assert c(1) == 2\n\ncheck(Solution().inc)", "", "", "inc"),
        ("import math\nassert math.isclose(inc(1), 2)", "", "", "inc"),
        ("x = 1\nassert Solution().inc(x) == 2", "", "", "inc"),
        ("if inc(1) != 2:\n    raise ValueError", "", "", "inc"),
        ("def check(inc):\n    assert inc(1) == 2\n\ncheck(inc)", "", "", "inc"),
        ("assert helper(inc(1)) == 2", "", "def inc(x): return x", "inc"),
        ("assert a(b(1)) == 2", "Solution().b", "", "b"),
    ],
)
def test_the_function_of_functional_tests(code, hint, reference, name):
    check = verl.functional_check(code, hint, reference, "here")
    assert isinstance(check, AssertsCheck) and check.entry_point == name and "Solution" not in check.code


def test_functional_tests_that_name_nothing_are_refused():
    for code, why in (
        ("assert (", "not valid Python"),
        ("assert 1", "call no function"),
        ("print(f(1))", "asserts nothing"),
    ):
        with pytest.raises(UserError, match=f"^here: .*{why}"):
            verl.functional_check(code, "", "", "here")


def test_a_mathematics_row_is_left_out():
    row = {
        "problem_id": "m",
        "prompt": "?",
        "task_type": "verifiable_math",
        "verification_info": '{"answer": 3}',
    }
    with pytest.raises(UserError, match="'verifiable_math' is not verifiable_code"):
        read("prime", row)
    row = {"data_source": "gsm8k", "prompt": [{"role": "user", "content": "?"}], "ability": "math",
           "reward_model": {"style": "rule", "ground_truth": "72"}, "extra_info": {"index": 0}}  # fmt: skip
    with pytest.raises(UserError, match="expected inputs and outputs"):
        read("verl", row)


def test_verl_takes_what_parquet_made_of_a_row():
    row = ADAPTERS["verl"].sample()[0]
    bare = read("verl", row)
    row["extra_info"] = {**row["extra_info"], "starter_code": None, "entry_point": None}
    row["reward_model"] = {
        **row["reward_model"],
        "ground_truth": json.loads(row["reward_model"]["ground_truth"]),
    }
    assert read("verl", row) == bare


def test_a_trl_row_without_a_task_says_what_to_do():
    with pytest.raises(UserError, match=r"column 'task' must hold a task line.*-c tests=COLUMN"):
        read("trl", {"prompt": "Say hi.", "completion": "hi"})


def test_a_trl_row_holds_the_task_of_any_format():
    from strop.tasks.formats import tasks_of

    rows = [(f"row {n}", row) for n, row in enumerate(ADAPTERS["apps"].sample())]
    tasks = list(tasks_of(ADAPTERS["apps"], rows))
    lines = [ADAPTERS["trl"].write(task) for task in tasks]
    assert [Task.model_validate_json(line["task"]) for line in lines] == tasks
    assert lines[0]["prompt"][-1]["role"] == "user" and "Print twice n." in lines[0]["prompt"][-1]["content"]
    assert lines[0]["completion"][0]["content"].startswith("```python\nprint(2 * int(input()))")
    assert list(tasks_of(ADAPTERS["trl"], [("x", line) for line in lines])) == tasks


def test_imports_are_put_below_those_of_the_future():
    code = (
        "from __future__ import annotations\n\n\ndef f(x: List[int]) -> int:\n    return max(accumulate(x))"
    )
    whole = solutions.with_imports(code)
    exec(whole, space := {})
    assert space["f"]([1, 2]) == 3 and whole.startswith("from __future__")
