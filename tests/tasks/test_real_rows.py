"""Rows of the kinds that real sets hold: what their own graders pass must pass, the rest is said in one line."""

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import strop_tasks.formats
from strop.cli.tasks import app
from strop.tasks import load_tasks, sources
from strop.tasks.rows import level_of
from strop_tasks.formats.swe import ended, reverse
from strop_tasks.formats.translations import check_of, literal
from strop_verify.core.checks import AssertsCheck, CasesCheck, PytestCheck, RustCheck, StdioCase, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.verification.verifier import OpenVerifier


def written(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def outcome(verifier: OpenVerifier, task: Task, answer: str) -> str:
    return verifier.verify(task, answer).outcome.value


def apps(path: Path, tests: dict[str, Any], solution: str = "", starter: str = "") -> Task:
    row = {
        "problem_id": 1, "question": "?", "solutions": json.dumps([solution]), "input_output": json.dumps(tests),
        "difficulty": "interview", "url": "", "starter_code": starter,
    }  # fmt: skip
    (task,) = load_tasks(f"apps:{written(path / 'r.jsonl', row)}")
    return task


@pytest.mark.parametrize(
    ("tests", "right", "wrong"),
    [
        (
            {"fn_name": "f", "inputs": [[{"-1": [1, 2], "10": []}]], "outputs": [[{"-1": 2, "10": 0}]]},
            "def f(d):\n    return {k: len(v) for k, v in d.items() if k < 11}",
            "def f(d):\n    return {str(k): len(v) for k, v in d.items()}",
        ),
        (
            {"fn_name": "f", "inputs": [[["a"]], [["b", "b"]]], "outputs": [{"1": ["a"]}, {"2": ["b"]}]},
            "def f(xs):\n    return {len(xs): tuple(sorted(set(xs)))}",
            "def f(xs):\n    return {len(xs): []}",
        ),
        (
            {"fn_name": "f", "inputs": [[{"1": "x", "y": "z"}]], "outputs": [["x"]]},
            "def f(d):\n    return d['1']",
            "def f(d):\n    return d[1]",
        ),
    ],
)
@pytest.mark.jail
def test_keys_that_are_integers_are_integers_where_the_grader_makes_them_so(
    tmp_path: Path, verifier: OpenVerifier, tests: dict[str, Any], right: str, wrong: str
) -> None:
    task = apps(tmp_path, tests, right)
    assert outcome(verifier, task, task.reference) == "passed"
    assert outcome(verifier, task, wrong) == "failed"


FUNCTIONAL = {"input": "[1, 2]\n3", "output": "[4, 5]", "testtype": "functional"}


@pytest.mark.parametrize(
    "tests",
    [
        [{**FUNCTIONAL, "metadata": {"func_name": "add"}}],
        [{**FUNCTIONAL, "metadata": '{"func_name": "add"}'}],
        [{"input": [[1, 2], 3], "output": [4, 5], "type": "function_call", "fn_name": "add"}],
        [{"input": [[1, 2], 3], "output": [4, 5], "fn_name": "add"}],
        {"fn_name": "add", "inputs": [[[1, 2], 3]], "outputs": [[4, 5]]},
    ],
)
def test_tests_of_a_function_are_calls(tmp_path: Path, tests: Any) -> None:
    for value in (tests, json.dumps(tests)):
        source = written(tmp_path / "r.jsonl", {"problem": "Add.", "tests": value})
        (task,) = load_tasks(source, columns={"statement": "problem", "tests": "tests"})
        check = task.check.only(CasesCheck)
        assert check.entry_point == "add" and check.cases[0].args == [[1, 2], 3]
    if isinstance(tests, list):
        row = {
            "data_source": "d", "prompt": [{"role": "user", "content": "Add."}], "ability": "code",
            "reward_model": {"style": "rule", "ground_truth": json.dumps(tests)}, "extra_info": {"index": 1},
        }  # fmt: skip
        (task,) = load_tasks(f"verl:{written(tmp_path / 'v.jsonl', row)}")
        assert task.check.only(CasesCheck).entry_point == "add"


def test_a_function_without_a_name_is_refused(tmp_path: Path) -> None:
    mixed = [{**FUNCTIONAL, "fn_name": "f"}, {"input": "1", "output": "1", "testtype": "stdin"}]
    for tests, why in (([FUNCTIONAL], "name no function"), (mixed, "of one type")):
        source = written(tmp_path / "r.jsonl", {"problem": "Add.", "tests": tests})
        with pytest.raises(UserError, match=why):
            load_tasks(source, columns={"statement": "problem", "tests": "tests"})


LIVE = {
    "question_title": "t", "question_content": "?", "platform": "leetcode", "question_id": "q", "contest_id": "c",
    "contest_date": "2024-05-01T00:00:00", "starter_code": "", "difficulty": "easy", "private_test_cases": "[]",
    "metadata": '{"func_name": "f"}',
}  # fmt: skip


@pytest.mark.jail
def test_answers_that_livecodebench_passes(tmp_path: Path, verifier: OpenVerifier) -> None:
    calls = json.dumps([{"input": "[3, 1]", "output": "[1, 3]", "testtype": "functional"}])
    (task,) = load_tasks(
        f"livecodebench:{written(tmp_path / 'f.jsonl', {**LIVE, 'public_test_cases': calls})}"
    )
    bodies = (
        "heapify(x); return [heappop(x), heappop(x)]",
        "return sorted(x, key=cmp_to_key(lambda a, b: a - b))",
    )
    for body in (
        *bodies,
        "return list(accumulate([min(x), 2]))",
        "return self.f(x[1:] + x[:1]) if x[0] > x[1] else x",
    ):
        answer = f"class Solution:\n    def f(self, x: List[int]) -> Optional[List[int]]:\n        {body}"
        assert outcome(verifier, task, answer) == "passed", body
        assert outcome(verifier, task, f"from __future__ import annotations\n{answer}") == "passed", body
    runs = json.dumps([{"input": "3\n", "output": "1.50\n2 3\n", "testtype": "stdin"}])
    (task,) = load_tasks(
        f"livecodebench:{written(tmp_path / 's.jsonl', {**LIVE, 'public_test_cases': runs})}"
    )
    for printed, wanted in ((" 1.5\n2   3.0 ", "passed"), ("1.5 2 3", "failed"), ("1.51\n2 3", "failed")):
        assert outcome(verifier, task, f"print({printed!r})") == wanted, printed


DIFF = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"


@pytest.mark.parametrize(
    ("patch", "before"),
    [
        ("@@ -1,2 +1,3 @@\n x = 1\n+y = 2\n z = 3", "x = 1\nz = 3\n"),
        ("@@ -1,4 +1,4 @@\n-x = 1\n+x = 2\n y = 3", "x = 1\ny = 3\n\n\n"),
        ("@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n\\ No newline at end of file\n+y = 3", "x = 1\ny = 2"),
    ],
)
def test_git_applies_the_reverse_of_a_diff_without_its_end(tmp_path: Path, patch: str, before: str) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "a.py").write_text(before)
    for diff in (ended(DIFF + patch), reverse(DIFF + patch)):
        subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff.encode(), check=True)
    assert (tmp_path / "a.py").read_text() == before


def test_the_first_test_of_mbpp_is_shown_and_no_part_of_the_statement(tmp_path: Path) -> None:
    tests = ["assert f(1) == 2", "assert f(2) == 3", "assert f(5) == 6"]
    row = {"task_id": 1, "text": "Add one.", "code": "def f(n):\n    return n + 1", "test_list": tests}
    (task,) = load_tasks(f"mbpp:{written(tmp_path / 'm.jsonl', row)}")
    assert task.statement == "Add one." and task.check.examples(()) == tests[0]
    assert task.check.revealed(tests[0]).found == 0 and task.check.revealed(tests[1]).found == 1
    assert [test.shown for test in task.check.single_tests()] == [True, False, False]
    assert task.check.with_tests([0, 2]).only(AssertsCheck).shown == [0]
    assert task.check.with_tests([1, 2]).only(AssertsCheck).shown == []


def test_mbpp_of_mxeval_hides_all_tests_but_the_first(tmp_path: Path) -> None:
    doc = '\n\ndef f(n):\n"""\nAdd one.\n>>> f(1)\n2\n>>> f(2)\n3\n"""\n'  # no Python
    asserts = "    assert candidate((1,)) == 2\n    assert candidate(2) == 3\n"
    test = f"\n\nMETADATA = {{}}\n\n\ndef check(candidate):\n{asserts}\n"
    row = {
        "task_id": "MBPP/0", "language": "python", "prompt": doc, "description": "Add one.", "entry_point": "f",
        "test": test, "canonical_solution": "\treturn n + 1",
    }  # fmt: skip
    place = written(tmp_path / "m.jsonl", row)
    (task,) = load_tasks(f"mbxp:{place}")
    assert (task.id, task.statement, task.signature, task.prompt) == ("MBPP/0", "Add one.", "def f(n):", None)
    assert task.reference == "def f(n):\n\treturn n + 1\n"
    assert task.check.examples(()) == "assert f((1,)) == 2" and len(task.check.single_tests()) == 2
    whole = row | {"prompt": doc.replace('"""', '    """')}
    (shown,) = load_tasks(written(tmp_path / "h.jsonl", whole))
    assert shown.prompt == whole["prompt"] and not shown.check.single_tests()


UNITTEST = "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n"
PYTEST = "def test_a():\n    assert f(1) == 2\n"


@pytest.mark.parametrize(
    "text", [UNITTEST, PYTEST, f"from task import f\n\n{PYTEST}", f"from solution import *\n\n{PYTEST}"]
)
@pytest.mark.jail
def test_suites_in_a_column_run(tmp_path: Path, verifier: OpenVerifier, text: str) -> None:
    row = {"q": "?", "a": "def f(n):\n    return n + 1\n", "t": text}
    (task,) = load_tasks(
        written(tmp_path / "r.jsonl", row), columns={"statement": "q", "reference": "a", "tests": "t"}
    )
    assert task.check.only(PytestCheck).test_count() == 1
    assert outcome(verifier, task, row["a"]) == "passed"
    assert outcome(verifier, task, "def f(n):\n    return n") == "failed"


@pytest.mark.jail
def test_rows_of_leetcode_come_in_by_their_columns(tmp_path: Path, verifier: OpenVerifier) -> None:
    row = {
        "q": "Twice.", "p": "from typing import *\n\n", "e": "Solution().f",
        "s": "class Solution:\n    def f(self, n: Optional[int]) -> int:\n        ",
        "a": "class Solution:\n    def f(self, n: Optional[int]) -> int:\n        return 2 * n\n",
        "t": "def check(candidate):\n    assert candidate(n = 2) == 4\n    assert candidate(n = -1) == -2\n",
    }  # fmt: skip
    columns = {"statement": "q", "signature": "s", "reference": "p+a", "tests": "t", "entry_point": "e"}
    (task,) = load_tasks(written(tmp_path / "r.jsonl", row), columns=columns)
    assert outcome(verifier, task, task.reference) == "passed"
    assert outcome(verifier, task, task.reference.replace("2 * n", "4")) == "failed"


@pytest.mark.parametrize(
    "tests",
    [
        "print(f(1))",
        ["print(f(1))"],
        ["assert f(1) == 2", "print(f(2))"],
        ["f(1) == 2"],
        "f(1) ==",
        "x = f(1)",
    ],
)
def test_tests_that_assert_nothing_are_refused(tmp_path: Path, tests: Any) -> None:
    row = {"q": "?", "a": "def f(n):\n    return n + 1\n", "t": tests}
    with pytest.raises(
        UserError, match=r"r.jsonl:1: .*(assert nothing|asserts nothing|not valid Python|not Python)"
    ):
        load_tasks(
            written(tmp_path / "r.jsonl", row), columns={"statement": "q", "reference": "a", "tests": "t"}
        )


def test_levels_are_words_too(tmp_path: Path) -> None:
    known = {
        "easy": 2,
        "Medium": 3,
        "HARD": 4,
        "VERY_HARD": 5,
        " 3 ": 3,
        4: 4,
        2.0: 2,
        "": 0,
        None: 0,
        "unsaid": None,
        7: None,
    }
    assert {word: level_of(word) for word in known} == known
    row = {"q": "?", "t": [{"input": "1", "output": "1"}], "d": "Hard"}
    columns = {"statement": "q", "tests": "t", "level": "d"}
    assert load_tasks(written(tmp_path / "r.jsonl", row), columns=columns)[0].level == 4


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_files_in_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    row = {
        "id": "ä",
        "statement": "Größe\u2028?",
        "check": {"kind": "stdio", "cases": [{"stdin": "1", "stdout": "ж"}]},
    }
    (tmp_path / "t.jsonl").write_bytes(f"{json.dumps(row, ensure_ascii=False)}\n".encode(encoding) * 1)
    (task,) = load_tasks(str(tmp_path / "t.jsonl"))
    assert task.id == "ä" and task.statement == row["statement"]


def test_a_torn_file_in_utf_16_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "t.jsonl").write_bytes(json.dumps({"id": "a"}).encode("utf-16")[:-1])
    assert list(sources.iter_tasks(str(tmp_path / "t.jsonl"), on_bad=said.append)) == []
    assert len(said) == 1 and "UTF-16" in said[0]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_tables_of_text_are_read(tmp_path: Path, ending: str) -> None:
    rows = [
        {
            "q": 'Add,\n\n"one".',
            "a": "def f(n):\n    return n + 1\n",
            "t": "['assert f(1) == 2']",
            "d": "easy",
        },
        {
            "q": "Add.",
            "a": "def f(n):\n    return n + 1\n",
            "t": '["assert f(1) == 2", "assert f(2) == 3"]',
            "d": "",
        },
    ]
    with (tmp_path / f"t.{ending}").open("w", newline="") as file:
        table = csv.DictWriter(file, list("qatd"), delimiter="\t" if ending == "tsv" else ",")
        table.writeheader()
        table.writerows(rows)
    columns = {"statement": "q", "reference": "a", "tests": "t", "level": "d"}
    tasks = load_tasks(str(tmp_path / f"t.{ending}"), columns=columns)
    assert [task.statement for task in tasks] == [row["q"] for row in rows]
    assert [len(task.check.single_tests()) for task in tasks] == [1, 2] and [t.level for t in tasks] == [2, 0]


def test_damage_to_a_table_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "t.csv").write_text('q,t\n"a",b,c\n"open')
    columns = {"statement": "q", "tests": "t"}
    assert list(sources.iter_tasks(str(tmp_path / "t.csv"), columns=columns, on_bad=said.append)) == []
    assert len(said) == 2 and "3 cells, but 2 columns" in said[0] and "bad CSV" in said[1]


def test_a_crate_has_the_name_of_its_manifest_or_of_its_tests(tmp_path: Path) -> None:
    row = {
        "id": "exercism/rust/two-sums", "slug": "two-sums", "instructions": "Add.", "dependencies": ["rand"],
        "solution_stub": {"src/lib.rs": ""},
        "tests": {"tests/two_sums.rs": "use twosums::*;\nuse rand::Rng;\n#[test]\nfn a() {}\n"},
        "example": {".meta/example.rs": "// done"},
    }  # fmt: skip
    manifest = '[package]\nname = "two-sums-of"\n[dependencies]\nrand = "*"\n'
    for toml, name in ((manifest, "two_sums_of"), ("[dependencies]\nrand = '*'\n", "twosums")):
        stub = {"src/lib.rs": "", "Cargo.toml": toml}
        (task,) = load_tasks(f"exercism-rust:{written(tmp_path / 'r.jsonl', {**row, 'solution_stub': stub})}")
        assert task.check.only(RustCheck).crate == name


def test_an_import_says_in_a_table_what_came_in_and_how_strong_its_checks_are(tmp_path: Path) -> None:
    large = Task(
        id="large",
        statement="?",
        check=StdioCheck(cases=[StdioCase(stdin="", stdout="x" * (1 << 20) + "yy")]),
    )
    cpp = next(row for row in map(json.loads, sample("humaneval-x")) if row["task_id"].startswith("CPP"))
    (tmp_path / "a.jsonl").write_text(large.model_dump_json() + "\n{}\n{}\n")
    said = (
        CliRunner().invoke(app, ["import", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "o.jsonl")]).stderr
    )
    assert "expected output of more than 1 MiB" in said and "2 left out: " in said
    said = (
        CliRunner()
        .invoke(app, ["import", written(tmp_path / "c.jsonl", cpp), "-o", str(tmp_path / "o.jsonl")])
        .stderr
    )
    assert "exit status only" in said


def sample(name: str) -> list[str]:
    folder = Path(strop_tasks.formats.__file__).parent / "samples"
    return (folder / f"{name}.jsonl").read_text().splitlines()


def test_literals_of_javascript() -> None:
    assert literal("[true, null, 'it\\'s', -1.5]") == [True, None, "it's", -1.5]
    assert literal("new Set([2, 1])") == {"$set": ["1", "2"]} and literal('"\\$"') == "$"
    for text in ("f(1)", "1 + x", "(1, 2)", "{1, 2}"):
        with pytest.raises(ValueError, match="literal"):
            literal(text)


def test_expected_values_are_not_in_the_files_of_tests_that_are_taken_apart() -> None:
    row = json.loads(sample("mbxp")[0])
    check = check_of(row["test"])
    assert check.steps[-1].stdout == '[{"2":1,"10":1}]\n' and "'2':1" not in check.files["calls.json"]
    assert check_of(row["test"].replace("{'2':1,'10':1}", "other()")).strength() == "exit status only"


def test_what_the_new_formats_leave_out_is_said(tmp_path: Path) -> None:
    for name, change, why in (
        ("codeforces", {"generated_checker": '#include "testlib.h"\nint main() {}'}, "not a Python program"),
        ("codeforces", {"interaction_format": "Ask."}, "interactive"),
        ("codeforces", {"input_mode": "file"}, "reads a file"),
        ("codeforces", {"official_tests": []}, "no tests except its examples"),
        ("code-contests", {"input_file": "in.txt"}, "reads or writes a file"),
    ):
        row = {**json.loads(sample(name)[0]), **change}
        with pytest.raises(UserError, match=why):
            load_tasks(f"{name}:{written(tmp_path / 'r.jsonl', row)}")


CHECKER = """
import sys

def read(path):
    with open(path, "r") as file:
        return file.read().split()

def main():
    wanted, given = read(sys.argv[2]), read(sys.argv[3])
    number = int(read(sys.argv[1])[0])
    if len(given) != 2:
        print(0)
        sys.exit(0)
    pair = [int(word) for word in given]
    print(1 if sum(pair) == number else 0.5 if given == wanted else 0)

if __name__ == "__main__":
    main()
"""


@pytest.mark.jail
def test_the_checkers_of_codeforces_decide(tmp_path: Path, verifier: OpenVerifier) -> None:
    row = {**json.loads(sample("codeforces")[0]), "generated_checker": CHECKER}
    row |= {
        "examples": [{"input": "5\n", "output": "2 3\n"}],
        "official_tests": [{"input": "9\n", "output": "0 9\n"}],
    }
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    (task,) = load_tasks(f"codeforces:{tmp_path / 'r.jsonl'}")
    for answer, verdict in (
        ("n = int(input())\nprint(1, n - 1)", "passed"),
        ("n = int(input())\nprint(0, n)", "passed"),
        ("n = int(input())\nprint(n, n)", "failed"),
        ("n = int(input())\nprint('x', 'y')", "failed"),
        ("print(1)", "failed"),
    ):
        assert outcome(verifier, task, answer) == verdict, answer
