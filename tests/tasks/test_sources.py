"""Sources: every adapter, the round trip, and one clear line for each mistake."""

import json
import os
import threading

import pytest

from strop.tasks import load_tasks, write_tasks
from strop_verify.core import optional_packages
from strop_verify.core.checks import AssertsCheck, CasesCheck, StdioCheck
from strop_verify.core.errors import UserError

OWN = {
    "id": "one",
    "statement": "Add one.",
    "signature": "def inc(x: int) -> int:",
    "reference": "def inc(x: int) -> int:\n    return x + 1\n",
    "check": {"kind": "cases", "entry_point": "inc", "cases": [{"args": [1], "expected": 2}]},
}
MBPP = {
    "task_id": 11,
    "text": "Write a function to double a number.",
    "code": "import math\n\ndef helper(x):\n    return x\n\ndef double(x):\n    return 2 * helper(x)\n",
    "test_list": ["assert double(2) == 4", "assert double(0) == 0"],
    "test_setup_code": "import math",
}
MBPP_COLUMNS = {"statement": "text", "reference": "code", "tests": "test_list", "setup": "test_setup_code"}


def lines(path, *rows):
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_humaneval_has_all_tasks_with_helpers_in_the_tests():
    tasks = {t.id: t for t in load_tasks("humaneval")}
    assert len(tasks) == 164 and list(tasks)[:2] == ["HumanEval/0", "HumanEval/1"]
    for number, helper in ((32, "def poly("), (38, "def encode_cyclic("), (50, "def encode_shift(")):
        check = tasks[f"HumanEval/{number}"].check
        assert isinstance(check, AssertsCheck) and helper in check.code
        assert check.code.endswith(f"\ncheck({check.entry_point})\n")
        assert f"def {check.entry_point}(" not in check.code
    first = tasks["HumanEval/0"]
    assert first.source == "humaneval/HumanEval/0"
    assert first.signature.startswith("from typing import List\n") and first.statement.startswith(
        "Check if in"
    )


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_what_is_written_is_read_back(tmp_path, name):
    tasks = load_tasks("python-functions", limit=20) + load_tasks("humaneval", limit=5)
    write_tasks(tasks, tmp_path / name)
    assert load_tasks(str(tmp_path / name)) == tasks
    assert load_tasks(f"jsonl:{tmp_path / name}") == tasks
    assert os.listdir(tmp_path) == [name]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "t.jsonl"
    target.write_text("old")

    def broken():
        yield from load_tasks("python-functions", limit=1)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_tasks(broken(), target)
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["t.jsonl"]
    with pytest.raises(UserError, match="cannot write"):
        write_tasks([], tmp_path / "no" / "t.jsonl")


def test_own_lines_need_no_statement_and_get_an_id(tmp_path):
    bare = {"language": "python", "reference": "", "check": OWN["check"]}
    (task,) = load_tasks(str(lines(tmp_path / "t.jsonl", bare)))
    assert task.statement == "" and len(task.id) == 16


def test_a_foreign_file_is_mapped(tmp_path):
    (task,) = load_tasks(str(lines(tmp_path / "m.jsonl", MBPP)), columns={**MBPP_COLUMNS, "id": "task_id"})
    assert task.id == "11" and task.statement == MBPP["text"]
    assert task.signature.endswith("def double(x):") and "def helper" in task.signature
    assert isinstance(task.check, AssertsCheck) and task.check.entry_point == "double"
    assert task.check.code == "import math\nassert double(2) == 4\nassert double(0) == 0"


def test_other_forms_of_tests_are_mapped(tmp_path):
    reference = "def f(x):\n    return x\n"
    rows = [
        {"q": "a", "r": reference, "t": [{"args": [1], "expected": 1}]},
        {"q": "b", "r": "print(input())", "t": {"inputs": ["1"], "outputs": ["1"]}},
        {"q": "c", "r": "print(input())", "t": json.dumps([{"input": "1", "output": "1"}])},
        {"q": "d", "r": reference, "t": "def check(candidate):\n    assert candidate(1) == 1\n"},
    ]
    columns = {"statement": "q", "reference": "r", "tests": "t"}
    checks = [t.check for t in load_tasks(str(lines(tmp_path / "m.jsonl", *rows)), columns=columns)]
    assert [type(c) for c in checks] == [CasesCheck, StdioCheck, StdioCheck, AssertsCheck]
    assert checks[3].code.endswith("\ncheck(f)\n")


def test_parquet_and_hub_read_a_local_folder(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "set").mkdir()
    file = tmp_path / "set" / "train.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([MBPP, {**MBPP, "text": "Other words here."}]), file)
    by_path = load_tasks(str(file), columns=MBPP_COLUMNS)
    assert [t.statement for t in by_path] == [MBPP["text"], "Other words here."]
    pytest.importorskip("datasets")
    by_hub = load_tasks(f"hub:{tmp_path / 'set'}", columns=MBPP_COLUMNS)
    assert [t.check for t in by_hub] == [t.check for t in by_path]
    with pytest.raises(UserError, match=r"no split 'test': it has train"):
        load_tasks(f"hub:{tmp_path / 'set'}@test", columns=MBPP_COLUMNS)


def test_a_folder_of_save_to_disk_is_read(tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(
        [{"text": f"Add {n}.", "test_list": [f"assert add({n}) == 1"]} for n in range(4)]
    )
    rows.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": rows, "test": rows.select([3])}).save_to_disk(tmp_path / "two")
    columns = {"statement": "text", "tests": "test_list"}
    whole = [task.statement for task in load_tasks(str(tmp_path / "one"), columns=columns)]
    assert whole == [task.statement for task in load_tasks(str(tmp_path / "two"), columns=columns)]
    assert whole == [f"Add {n}." for n in range(4)]
    (task,) = load_tasks(f"hub:{tmp_path / 'two'}@test", columns=columns)
    assert task.statement == "Add 3."


def test_filters_choose_and_do_not_move_the_split():
    everything = {t.id: t for t in load_tasks("python-functions")}
    some = load_tasks("python-functions", topics=["lists", "dates"], levels=[1], split="train")
    assert {t.topic for t in some} == {"lists", "dates"} and {t.level for t in some} == {1}
    assert all(everything[t.id] == t and t.split == "train" for t in some)
    assert (
        load_tasks("python-functions", topics=["lists", "dates"], levels=[1], split="train", limit=3)
        == some[:3]
    )


BAD_FILES = [
    (["{"], {}, r"t.jsonl:1: bad JSON"),
    (["", '"text"'], {}, r"t.jsonl:2: bad line: a task is a JSON object, this is str"),
    (['{"statement": "\\ud800"}'], {}, r"t.jsonl:1: bad JSON: half of a surrogate pair"),
    ([], {}, "is empty"),
    ([{**OWN, "statment": "x"}], {}, r"t.jsonl:1: unknown field 'statment' \(did you mean 'statement'\?\)"),
    ([{"words": "x"}], {}, r"unknown field 'words'; of a foreign file say the columns: -c statement=COL"),
    ([{"statement": "x"}], {}, "t.jsonl:1: the task has no tests"),
    ([{**OWN, "check": {**OWN["check"], "cases": []}}], {}, "t.jsonl:1: the task has no tests"),
    ([{**OWN, "level": 9}], {}, r"t.jsonl:1: level: .* \(got 9\)"),
    ([{**OWN, "check": {"kind": "unknown"}}], {}, r"t.jsonl:1: check"),
    ([OWN, OWN], {}, "duplicate task id 'one'"),
    (
        [MBPP],
        {"statement": "txt", "tests": "test_list"},
        r"no column 'txt' for 'statement' \(did you mean 'text'\?\)",
    ),
    ([MBPP], {"statement": "text"}, "has no 'tests'"),
    ([MBPP], {"statment": "text"}, r"unknown column name 'statment' \(did you mean 'statement'\?\)"),
    ([{**MBPP, "test_list": []}], MBPP_COLUMNS, "t.jsonl:1: the task has no tests: column 'test_list'"),
    ([{**MBPP, "test_list": [3]}], MBPP_COLUMNS, "t.jsonl:1: tests of an unknown form"),
    (
        [{**MBPP, "code": "", "test_list": ["assert 2 == 4"]}],
        MBPP_COLUMNS,
        "cannot tell which function the tests call",
    ),
]


@pytest.mark.parametrize(
    "tests",
    [
        ["assert double(2) == 4", "assert double(0) == len([])"],
        "def check(candidate):\n    assert candidate(2) == 4\ncheck(double)",
        "from math import isclose\nfor n in range(3):\n    assert isclose(double(n), 2 * n)",
        "def same(a, b):\n    assert a == b\nsame(double(1), 2)\nsame(double(2), 4)",
    ],
)
def test_assertions_without_a_reference_say_what_they_call(tmp_path, tests):
    row = {"text": "Double a number.", "test_list": tests}
    (task,) = load_tasks(
        str(lines(tmp_path / "m.jsonl", row)), columns={"statement": "text", "tests": "test_list"}
    )
    assert isinstance(task.check, AssertsCheck) and task.check.entry_point == "double" and not task.reference


@pytest.mark.parametrize(("rows", "columns", "wanted"), BAD_FILES)
def test_a_bad_file_is_one_clear_line(tmp_path, rows, columns, wanted):
    file = lines(tmp_path / "t.jsonl", *rows)
    with pytest.raises(UserError, match=wanted) as caught:
        load_tasks(str(file), columns=columns)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "options", "wanted"),
    [
        ("humanevel", {}, r"unknown task source 'humanevel' \(did you mean 'humaneval'\?\)"),
        ("parquett:x", {}, r"\(did you mean 'parquet'\?\)"),
        ("jsonl:", {}, "names no data set"),
        ("/no/such.jsonl", {}, "no such file: /no/such.jsonl"),
        ("/no/such.parquet", {}, "no such parquet file"),
        ("/", {}, "the folder / holds no file"),
        ("/no/such", {}, "unknown task source"),
        ("jsonl:/", {}, "cannot read /"),
        ("humaneval", {"columns": {"tests": "t"}}, "takes no column mapping"),
        ("python-functions", {"topics": ["list"]}, r"unknown topic 'list' \(did you mean 'lists'\?\)"),
        ("python-functions", {"levels": [5]}, "tasks in 'python-functions' is left with topics="),
        ("python-functions", {"split": "test"}, "unknown split 'test'"),
    ],
)
def test_a_bad_source_is_one_clear_line(source, options, wanted):
    with pytest.raises(UserError, match=wanted) as caught:
        load_tasks(source, **options)
    assert "\n" not in str(caught.value)


def test_a_missing_package_names_its_extra():
    with pytest.raises(UserError, match=r"'nothing'.*pip install 'strop\[data\]'"):
        optional_packages.require("strop_no_such_package", package="nothing", extra="data", purpose="this")


def test_a_prompt_column_is_continued_by_its_solution(tmp_path):
    row = {
        "p": 'def f(x):\n    """Same."""\n',
        "s": "    return x\n",
        "t": "def check(c):\n    assert c(1) == 1\n",
    }
    columns = {"prompt": "p", "reference": "s", "tests": "t"}
    (task,) = load_tasks(str(lines(tmp_path / "a.jsonl", row)), columns=columns)
    assert task.reference == row["p"] + row["s"] and task.signature == "def f(x):" and task.prompt == row["p"]
    (task,) = load_tasks(str(lines(tmp_path / "b.jsonl", {**row, "s": ""})), columns=columns)
    assert task.reference == "" and task.check.entry_point == "f"


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_bytes()))
    reader.start()
    write_tasks(load_tasks("humaneval", limit=2), pipe)
    reader.join(timeout=300)
    assert pipe.is_fifo() and seen[0].count(b"\n") == 2
