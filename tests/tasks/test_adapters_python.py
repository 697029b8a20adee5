"""Adapters of Python benchmarks: what becomes of each field, in the real jail where answers are judged."""

import base64
import os
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.tasks import render
from strop.tasks.adapters import ADAPTERS
from strop_tasks.formats.evalplus import literal
from strop_tasks.formats.livecodebench import unpacked
from strop_verify.core.checks import AssertsCheck, CasesCheck, PytestCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.verification.verifier import OpenVerifier

NAMES = (
    "acecode",
    "code-contests",
    "cruxeval",
    "evalplus",
    "humaneval",
    "humaneval-rust",
    "humaneval-x",
    "infilling",
    "livecodebench",
    "mbpp",
    "mbxp",
    "quixbugs",
)


def read(name: str, row: dict[str, Any]) -> Task:
    (task,) = ADAPTERS[name].read(row, "rows.jsonl:7")
    return task


def sample(name: str, number: int = 0) -> dict[str, Any]:
    return ADAPTERS[name].sample()[number]


@pytest.fixture(scope="module")
def verify(verifier: OpenVerifier) -> Callable[[Task, str], Verdict]:
    return lambda task, answer: verifier.submit(task, answer).result()


def passed(verdict: Verdict) -> list[bool]:
    return [test.outcome == "passed" for test in verdict.tests]


@pytest.mark.parametrize("name", NAMES)
def test_references_pass_and_broken_versions_fail(name: str, verify: Any) -> None:
    tasks = [(row, task) for row in ADAPTERS[name].sample() for task in ADAPTERS[name].read(row, "x")]
    for row, task in tasks:
        for answer in filter(None, [task.reference, *task.metadata.get("references", [])]):
            assert verify(task, answer).outcome == "passed", row
        if "broken" in task.metadata:
            assert verify(task, task.metadata["broken"]).outcome in ("failed", "timed out"), row


# --- LiveCodeBench


def test_private_tests_are_unpacked_and_public_ones_are_shown(verify: Any) -> None:
    task = read("livecodebench", sample("livecodebench", 1))
    assert isinstance(task.check, CasesCheck)
    assert [(case.args, case.expected, case.shown) for case in task.check.cases] == [
        ([[1, 1], 2], 4, True),
        ([[2, 1], 2], 6, False),
        ([[3, 1], 2], 8, False),
    ]
    assert (task.metadata["date"], task.metadata["base_tests"], task.check.entry_point) == (
        "2024-08-03",
        1,
        "weigh",
    )
    assert task.signature.startswith("from typing import List\n")
    body = "class Solution:\n    def weigh(self, values: List[int], factor: int) -> int:\n        return "
    prompt = render(task, "chat")
    for answer, outcome in (("sum(values) * factor", "passed"), ("factor", "failed")):
        code = prompt.assemble(f"```python\n{body}{answer}\n```")
        assert verify(task, code).outcome == outcome
    assert verify(task, "def weigh(v, f): return sum(v) * f").outcome == "passed"
    assert verify(task, "class Solution:\n    pass").outcome == "failed"


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.integers(2, pickle.HIGHEST_PROTOCOL)
)
def test_any_pickled_text_is_unpacked(text: str, protocol: int) -> None:
    assert unpacked(_coded(pickle.dumps(text, protocol)), "x") == text


class _Hostile:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.mkdir, (self.path,))


@pytest.mark.parametrize("value", [5, ["a"], b"x", {"a": "b"}, None, ("a", "b")], ids=repr)
def test_a_pickle_of_anything_but_one_text_is_refused(value: Any) -> None:
    row = {**sample("livecodebench"), "private_test_cases": _coded(pickle.dumps(value))}
    with pytest.raises(UserError, match=r"^rows.jsonl:7: private_test_cases: the pickle is refused: "):
        read("livecodebench", row)


def test_a_pickle_with_code_is_refused_and_not_run(tmp_path: Path) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(_Hostile(str(tmp_path / "made")), protocol)
        row = {**sample("livecodebench"), "private_test_cases": _coded(data)}
        with pytest.raises(UserError, match="the pickle is refused: operation"):
            read("livecodebench", row)
    assert not list(tmp_path.iterdir())


@given(st.binary(max_size=60))
def test_damaged_packs_are_one_line(data: bytes) -> None:
    for text in (_coded(data), base64.b64encode(data).decode(), data.decode("latin-1")):
        try:
            read("livecodebench", {**sample("livecodebench"), "private_test_cases": text})
        except UserError as error:
            assert "\n" not in str(error)


def _coded(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def test_functional_tests_without_a_function_name_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"^rows.jsonl:7: functional tests need the function's name .* not None"
    ):
        read("livecodebench", {**sample("livecodebench", 1), "metadata": "{}"})


# --- EvalPlus


def test_base_and_plus_tests_are_told_apart(verify: Any) -> None:
    task = read("evalplus", sample("evalplus"))
    verdict = verify(task, "def double(x):\n    return 2 * x if x > 0 else 0\n")
    assert task.metadata["base_tests"] == 2
    assert passed(verdict) == [True, True, False, True]


def test_a_release_writes_no_plus_inputs_as_an_object() -> None:
    none = {**sample("evalplus"), "plus_input": {}}  # as of Mbpp/793
    (task,), (same,) = (ADAPTERS["evalplus"].read(row, "w") for row in (none, {**none, "plus_input": []}))
    assert task == same


def test_floats_agree_within_the_tolerance_and_types_must_be_equal(verify: Any) -> None:
    row = {**sample("evalplus"), "base_input": [[1.0], [2.0]], "plus_input": []}
    task = read("evalplus", row)
    assert passed(verify(task, "def double(x): return 2 * x + 9e-7")) == [True, True]
    assert passed(verify(task, "def double(x): return 2 * x + 3e-6")) == [False, False]
    assert passed(verify(task, "def double(x): return str(2 * x)")) == [False, False]
    exact = read("evalplus", {**row, "atol": 0, "base_input": [[1], [2.0]]})
    assert passed(verify(exact, "def double(x): return 2 * x + 5e-7")) == [False, True]


def test_the_canonical_solution_does_not_leak_into_the_answer(verify: Any) -> None:
    task = read("evalplus", sample("evalplus"))
    for answer in (
        "def double(x): return strop_rules['solution'](x)",
        "def double(x): return strop_reference['double'](x)",
    ):
        assert verify(task, answer).outcome == "failed"


@pytest.mark.parametrize(
    ("entry", "solution", "answer", "inputs", "want"),
    [
        ("similar_elements", "return (3, 4)", "return (4, 3, 3)", [[[3, 4], [3, 4]]], True),
        ("similar_elements", "return (3, 4)", "return (4,)", [[[3, 4], [3, 4]]], False),
        ("sum_div", "return sum(args)", "return 0", [[8]], True),
        ("sum_div", "return sum(args)", "return 1", [[8]], False),
        ("are_equivalent", "return True", "return False", [[1, 2]], True),
        ("check_str", "return args", "return 7", [["a"]], True),
        ("check_str", "return args", "return None", [["a"]], False),
        ("digit_distance_nums", "return 9", "return 2", [[23, 3]], True),
        ("surface_Area", "return 0", "return 33", [[3, 4]], False),
        ("surface_Area", "return 0", "return 35", [[3, 4]], True),
        ("find_zero", "return -0.5", "return -1.0", [[[1, 1]]], True),
        ("find_zero", "return -1.0", "return -0.5", [[[1, 1]]], False),
    ],
)  # fmt: skip
def test_problems_with_rules_of_their_own(
    entry: str, solution: str, answer: str, inputs: list[Any], want: bool, verify: Any
) -> None:
    row = {
        "task_id": "Mbpp/900", "prompt": "", "entry_point": entry, "atol": 1e-4 if entry == "find_zero" else 0,
        "canonical_solution": f"def {entry}(*args):\n    {solution}\n", "base_input": inputs, "plus_input": [],
    }  # fmt: skip
    assert verify(read("evalplus", row), f"def {entry}(*args):\n    {answer}\n").passed is want


@pytest.mark.parametrize(
    ("task", "given_", "made"),
    [
        ("Mbpp/2", [[1, 2], [3]], "[(1, 2), (3,)]"),
        ("Mbpp/63", [[[1, 2], [3]]], "[[(1, 2), (3,)]]"),
        ("Mbpp/75", [[[1, 2]], 3], "[[(1, 2)], 3]"),
        ("Mbpp/106", [[1], [2]], "[[1], (2,)]"),
        ("Mbpp/250", [[1, 2], 2], "[(1, 2), 2]"),
        ("Mbpp/259", [[[1, 2], [3]], [[4]]], "[((1, 2), (3,)), ((4,),)]"),
        ("Mbpp/278", [[1, [2, 3]]], "[(1, (2, 3))]"),
        ("Mbpp/307", [[1, []], 1, 2], "[(1, []), 1, 2]"),
        ("Mbpp/722", [{"a": [1, 2]}, 3, 4], "[{'a': (1, 2)}, 3, 4]"),
        ("Mbpp/115", [[[1, 2], []]], "[[{1, 2}, {}]]"),
        ("Mbpp/124", ["1", "2j"], "[1.0, 2j]"),
        ("Mbpp/252", ["(1+2j)"], "[(1+2j)]"),
        ("Mbpp/580", [[1, [2, [3]]]], "[(1, (2, (3,)))]"),
        ("HumanEval/2", [[1, 2]], "[[1, 2]]"),
    ],
)
def test_inputs_get_back_what_json_took(task: str, given_: list[Any], made: str) -> None:
    assert literal(task, given_) == made


@pytest.mark.parametrize(
    "entry", ["sum", "all", "solution", "agrees", "close", "math", "function", "expected", "exec", "type"]
)
def test_an_entry_point_may_have_any_name(entry: str, verify: Any) -> None:
    solution = f"def {entry}(x):\n    return [float(x)]\n"
    row = {**sample("evalplus"), "entry_point": entry, "prompt": "", "canonical_solution": solution}
    if entry == "exec":
        with pytest.raises(UserError, match="an entry point named 'exec' would hide"):
            read("evalplus", row)
        return
    task = read("evalplus", row)
    assert verify(task, solution).outcome == "passed"
    assert passed(verify(task, f"def {entry}(x): return None")) == [False] * 4


def test_hub_rows_with_a_reference_in_the_tests(verify: Any) -> None:
    row = {**sample("evalplus", 2), "test": _CROSS}
    task = read("evalplus", row)
    assert verify(task, task.reference).outcome == "passed"
    assert passed(verify(task, "def double(x): return 4.0")) == [False, True]


_CROSS = """import numpy as np

def assertion(out, exp, atol):
    assert np.allclose(out, exp)


def ref_func(x: float) -> float:
    return 2 * x

def check(candidate):
    inputs = [[1.0], [2.0]]
    for i, inp in enumerate(inputs):
        assertion(candidate(*inp), ref_func(*inp), 0)
"""


CHECK = {
    "task_id": "Sample/2",
    "prompt": 'def check(n: int) -> bool:\n    """Whether n is even."""\n',
    "canonical_solution": "    return n % 2 == 0\n",
    "test": "def check(candidate):\n    assert candidate(2) == True\n    assert candidate(3) == False\n",
    "entry_point": "check",
}


def test_an_answer_may_be_called_as_the_tests_function_is(verify: Any) -> None:
    task = read("humaneval", CHECK)
    assert verify(task, task.reference).outcome == "passed"
    assert verify(task, "def check(n): return True").outcome == "failed"


def test_functions_in_rust_to_continue_are_closed() -> None:
    row = {
        "id": "h/1", "prompt": "// Adds one.\nfn f(x: i32) -> i32 {\n", "canonical_solution": "x + 1\n",
        "edition": "2021", "test": "#[cfg(test)]\nmod tests { #[test] fn t() {} }\n", "entry_point": "f",
    }  # fmt: skip
    task = read("humaneval-rust", row)
    assert (task.statement, task.signature, task.prompt) == (
        "Adds one.",
        "fn f(x: i32) -> i32",
        row["prompt"],
    )
    assert task.reference == "// Adds one.\nfn f(x: i32) -> i32 {\nx + 1\n}\n"


# --- lists of asserts


def test_challenge_tests_come_after_the_others(verify: Any) -> None:
    task = read("mbpp", sample("mbpp"))
    assert task.metadata["base_tests"] == 2
    assert passed(verify(task, "def double(n): return abs(2 * n)")) == [True, True, False]
    assert task.check.examples(()) == "assert double(2) == 4" and "assert" not in task.statement


def test_tests_with_objects_of_the_answer_are_a_suite(verify: Any) -> None:
    task = read("acecode", sample("acecode", 1))
    assert isinstance(task.check, PytestCheck) and len(task.check.tests) == 2
    wrong = task.reference.replace("append(x)", "append(0)")
    assert passed(verify(task, wrong)) == [True, False]


def test_helpers_and_modules_that_asserts_use_are_found(verify: Any) -> None:
    row = {
        "id": "x", "source": "s", "question": "?", "inferences": [],
        "test_cases": ["assert math.floor(half(3)) == 1", "assert half(pair(2)) == 2", "assert half(4) == 2"],
    }  # fmt: skip
    task = read("acecode", row)
    assert isinstance(task.check, AssertsCheck)
    assert (task.check.entry_point, task.check.helpers) == ("half", ["pair"])
    assert verify(task, "def pair(n): return 2 * n\ndef half(n): return n / 2").outcome == "passed"


def test_a_function_may_be_named_like_a_builtin(verify: Any) -> None:
    code = "def sum(a, b):\n    return a + b\n"
    tests = ["assert sum(10, 15) == 25", "assert sum(1, 2) == 3"]
    task = read("mbpp", {"task_id": 126, "text": "?", "code": code, "test_list": tests})
    assert isinstance(task.check, AssertsCheck) and task.check.entry_point == "sum"
    assert verify(task, code).outcome == "passed"
    assert verify(task, "def sum(a, b): return 25").outcome == "failed"


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ([], "the task has no tests"),
        (["assert f(1) ="], "test 1: not valid Python: "),
        (["f(1)"], "test 1 asserts nothing: 'f\\(1\\)'"),
        (["assert True"], "the tests call no function of the answer"),
    ],
)
def test_bad_lists_of_asserts(tests: list[str], message: str) -> None:
    with pytest.raises(UserError, match=f"^rows.jsonl:7: {message}"):
        read("acecode", {"id": "x", "source": "s", "question": "?", "test_cases": tests})


def test_other_languages_are_left_out_by_name() -> None:
    with pytest.raises(UserError, match="go cannot be judged: left out"):
        read("humaneval-x", {**sample("humaneval-x"), "task_id": "Go/1"})
    with pytest.raises(UserError, match="ruby cannot be judged: left out"):
        read("mbxp", {**sample("mbxp"), "language": "Ruby"})


# --- QuixBugs


def test_cases_that_a_suite_skips_as_slow_are_left_out() -> None:
    row = sample("quixbugs")
    skip = "    if not pytest.run_slow and input_data == [5]:\n        pytest.skip('slow')\n    assert"
    task = read("quixbugs", {**row, "pytest": row["pytest"].replace("    assert", skip)})
    assert isinstance(task.check, CasesCheck) and [case.args for case in task.check.cases] == [[2]]


def test_a_generator_without_a_suite_is_listed(verify: Any) -> None:
    task = read("quixbugs", {**sample("quixbugs", 1), "pytest": None})
    assert verify(task, task.reference).outcome == "passed"
    assert passed(verify(task, task.metadata["broken"])) == [False, False]


def test_one_json_case_has_the_name_that_pytest_gives_it(verify: Any) -> None:
    row = sample("quixbugs", 1)
    task = read("quixbugs", {**row, "json_cases": row["json_cases"][1:]})
    assert verify(task, task.reference).outcome == "passed"


def test_prompts_show_what_is_to_be_mended_or_filled_in() -> None:
    task = read("quixbugs", sample("quixbugs", 3))
    prompt = render(task, "chat")
    assert "node = node.successor.successor" in prompt.messages[0].content
    assert "class Node" in prompt.assemble("```python\ndef length(node): ...\n```")
    hole = render(read("infilling", sample("infilling", 1)), "chat").messages[0].content
    assert "    for value in va<FILL>= value\n" in hole and "result +" not in hole
