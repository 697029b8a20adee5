"""The pieces of `strop build rust` that need no server: responses, sources, similarity, parts, cost, journal."""

import json
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.policies.connection import Prices, Usage
from strop_tasks.curation.rust_build import answer, sources
from strop_tasks.curation.rust_build.answer import NotKept
from strop_tasks.curation.rust_build.outputs import Member, assign, duplicates
from strop_tasks.curation.rust_build.questions import CostEstimate
from strop_verify.core.errors import UserError
from strop_verify.core.journal import Appender, JournalReader, scan

TESTS = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn t() { assert_eq!(f(1), 2); }\n}\n"


def test_a_response_is_taken_apart() -> None:
    code = "use std::fmt;\n/// Doc.\npub fn f(x: i32) -> i32 {\n    g(x)\n}\nfn g(x: i32) -> i32 { x + 1 }\n"
    found = answer.split(f"<think>hm</think>Here:\n```rust\n{code}\n// about tests\n{TESTS}```\n", "stop")
    assert found.tests == TESTS and found.code.startswith(code) and "cfg(test)" not in found.code
    assert answer.signature(found) == "pub fn f(x: i32) -> i32"
    assert answer.test_count(found.tests) == 1


def test_a_signature_brings_the_types_and_imports_that_it_names() -> None:
    code = """use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
#[derive(Debug, Clone)]
pub struct Point { x: Unit }
pub type Unit = i64;
pub struct Other;
pub fn f(p: &HashMap<i32, Point>) -> i32 { 2 }
"""
    got = answer.signature(answer.Parts(code, TESTS))
    assert got.splitlines()[0] == "use std::collections::{BTreeMap, HashMap};"
    assert "#[derive(Debug, Clone)]\npub struct Point { x: Unit }" in got and "type Unit" in got
    assert "Other" not in got and got.endswith("pub fn f(p: &HashMap<i32, Point>) -> i32")


def test_methods_that_tests_need_are_outlined() -> None:
    code = "pub struct S { v: Vec<i32> }\nimpl S {\n    pub fn new() -> Self { S { v: vec![] } }\n"
    code += "    pub fn push(&mut self, x: i32) { self.v.push(x) }\n    fn hidden(&self) {}\n}\n"
    tests = TESTS.replace("assert_eq!(f(1), 2);", "let mut s = S::new(); s.push(1);")
    got = answer.signature(answer.Parts(code, tests))
    assert got.endswith("impl S {\n    pub fn new() -> Self;\n    pub fn push(&mut self, x: i32);\n}")
    assert "hidden" not in got and got.startswith("pub struct S { v: Vec<i32> }")


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        ("", "stop", "no Rust block"),
        ("```python\nx = 1\n```", "stop", "no Rust block"),
        ("```rust\nfn f() {}\n```", "stop", "no test modules"),
        ("```rust\nfn f() {\n", "length", "cut"),
        (f"```rust\n{TESTS}{TESTS}```", "stop", "2 test modules"),
        (f"```rust\n#[test]\nfn t() {{}}\n{TESTS}```", "stop", "outside the test module"),
        (f"```rust\n{TESTS.replace('#[cfg(test)]', '')}```", "stop", "no test modules"),
    ],
)
def test_responses_that_are_not_fit_say_why(text: str, finish: str, reason: str) -> None:
    with pytest.raises(NotKept, match=reason):
        answer.split(text, finish)


def test_rewritten_prompts() -> None:
    assert answer.statement("<think>x</think>\nWrite f.\n", "stop") == "Write f."
    for text, finish, reason in [("", "stop", "empty"), ("**SKIP**.", "stop", "no sense"), ("a", "length", "cut"),
                                 ("Write f.\n#[test] fn t() {}", "stop", "holds tests")]:  # fmt: skip
        with pytest.raises(NotKept, match=reason):
            answer.statement(text, finish)


@given(st.text(alphabet="#[]cfg(test)mod{}fn u;/*\"'!\n é", max_size=300))
def test_hostile_responses_end_in_parts_or_a_reason(text: str) -> None:
    for response in (text, f"```rust\n{text}\n```"):
        try:
            found = answer.split(response, "stop")
            answer.signature(found)
        except NotKept as unfit:
            assert unfit.reason


def write(path, *rows) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_rows_of_acecode_are_known_by_their_fields(tmp_path) -> None:
    tests = [
        "assert add(1, 2) == 3",
        "assert add([1], 'x') == None",
        "assert add((1,), 2) == 3",
        "assert add(1)",
    ]
    row = {"id": "oss_1", "source": "oss", "question": "Add. ", "test_cases": tests, "inferences": []}
    [prompt] = sources.read(write(tmp_path / "a.jsonl", row), {}, None)
    assert (prompt.id, prompt.statement, prompt.entry_point) == ("oss_1", "Add.", "add")
    assert [(c.args, c.expected) for c in prompt.cases] == [([1, 2], 3), ([[1], "x"], None)]
    other = {**row, "test_cases": ["assert f(1) == 2", "assert g(1) == 2"]}
    [prompt] = sources.read(write(tmp_path / "b.jsonl", other), {}, None)
    assert prompt.cases == () and prompt.entry_point == ""


def test_other_rows_need_a_column_and_task_lines_need_none(tmp_path) -> None:
    path = write(tmp_path / "a.jsonl", {"prompt": "Add.", "n": 7}, {"prompt": "Mul.", "n": 8})
    with pytest.raises(UserError, match="add --column statement=prompt"):
        list(sources.read(path, {}, None))
    assert [p.id for p in sources.read(path, {"statement": "prompt", "id": "n"}, 1)] == ["7"]
    with pytest.raises(UserError, match="of type int, not text"):
        list(sources.read(path, {"statement": "n"}, None))
    [prompt] = sources.read("python-functions", {}, 1)
    assert prompt.statement.count("Signature:\ndef ") == 1 and ">>> " in prompt.statement and prompt.cases


def test_prompts_are_drawn_from_the_whole_source(tmp_path) -> None:
    path = write(tmp_path / "a.jsonl", *({"statement": f"Task {n}."} for n in range(200)))
    drawn = [p.number for p in sources.read(path, {}, 20, 1)]
    assert drawn == sorted(drawn) and len(set(drawn)) == 20 and 60 < sum(drawn) / 20 < 140
    assert set(drawn) < {p.number for p in sources.read(path, {}, 40, 1)}
    assert drawn != [p.number for p in sources.read(path, {}, 20, 2)]


def test_a_source_is_read_as_it_is_asked_for(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"statement": "a"}\nno json\n')
    rows = sources.read(str(path), {}, None)
    assert next(rows).statement == "a"
    with pytest.raises(UserError, match="bad JSON"):
        next(rows)


def member(name: str, statement: str, code: str = "") -> Member:
    return Member.of(f"prompt {name}", {"id": name, "statement": statement, "reference": code})


def test_near_duplicates_are_dropped_once_and_look_alikes_stay_together() -> None:
    long = "return the sum of all the even numbers in the list that is given as the argument"
    code = "pub fn f(a: &[i64]) -> i64 { let mut s = 0; for x in a { if x % 2 == 0 { s += x; } } s } // N"
    members = [
        member("a", long),
        member("b", "write something else that has its own words entirely"),
        member("c", long + " here"),
        member("d", "third of its kind with words that no other one has at all", code.replace("N", "1")),
        member(
            "e", "fourth exercise, unlike all of those which stand above it in this", code.replace("N", "2")
        ),
    ]
    dropped, clusters = duplicates(members)
    assert dropped == {2: 0}
    assert clusters == [0, 1, 0, 3, 3]


def test_parts_have_their_shares_and_depend_on_content_alone() -> None:
    words = random.Random(0)
    members = [member(f"{n:03}", " ".join(str(words.random()) for _ in range(9))) for n in range(165)]
    alone = {n: n for n in range(165)}
    sides = assign(members, alone, (15000, 1000, 500), 3)
    assert Counter(sides.values()) == {"train": 150, "test": 10, "eval": 5}
    backwards = assign(members[::-1], alone, (15000, 1000, 500), 3)
    assert {members[n].task_id: side for n, side in sides.items()} == {
        members[::-1][n].task_id: side for n, side in backwards.items()
    }
    assert assign(members, alone, (15000, 1000, 500), 4) != sides
    whole = assign(members, {n: max(n, 99) for n in range(165)}, (8, 1, 1), 3)
    assert {whole[n] for n in range(100)} == {"train"}
    assert set(assign(members, alone, (0, 1, 1), 0).values()) == {"test", "eval"}


def test_a_cost_is_estimated() -> None:
    expected = CostEstimate.of(110, 100, 40_000, attempts=3)
    assert (expected.calls, expected.most_calls) == (200, 400)
    said = expected.lines(Usage(), Prices(1.0, 2.0))
    assert (
        said[-1]
        == f"estimated cost: {(expected.tokens_in + 2 * expected.tokens_out) / 1e6:.2f} at the given prices"
    )


def test_a_journal_is_read_by_place_and_forgets_a_torn_line(tmp_path) -> None:
    path = tmp_path / "j.jsonl"
    journal = Appender(path)
    places = [journal.append({"text": text}) for text in ("a", "é\ud800\n", "c")]
    reader = JournalReader(path)
    assert [reader.at(p)["text"] for p in places][::2] == ["a", "c"]
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    assert [place for place, _ in scan(path)] == places[:2]
    assert path.read_bytes() == whole[: places[2].offset]
    assert Appender(path).append({"text": "d"}).offset == places[2].offset
    path.write_bytes(b"no\n" + whole)
    with pytest.raises(UserError, match=r"j.jsonl:1"):
        list(scan(path))
