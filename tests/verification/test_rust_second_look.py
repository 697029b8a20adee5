# ruff: noqa: E501
"""Types of an answer whose objects compare alike whatever they are made of: tests with altered literals find them."""

import random
import time

import pytest
from tests.verification.conftest import rust_task

from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.rust import RustToolchain
from strop_verify.verification.rust.literals import SECRET
from strop_verify.verification.rust.second_look import (
    AGAIN,
    NOT_AGAIN,
    ROUNDS,
    TOO_EQUAL,
    UNSEEN,
    Altered,
    LiteralControls,
    RanTest,
    read_report,
    sensitive,
)
from strop_verify.verification.rust.trusted_tests import guarded

_POINT = "#[derive(Debug, Clone, PartialEq)] pub struct Point { x: i32, y: i32 } impl Point { pub fn new(x: i32, y: i32) -> Self { Point { x, y } } pub fn add(self, o: Point) -> Point { Point::new(self.x + o.x, self.y + o.y) } }"
POINT = rust_task("point", "#[test] fn t() { assert_eq!(Point::new(1, 2).add(Point::new(3, 4)), Point::new(4, 6)); }", _POINT)  # fmt: skip
_SET = "#[derive(Debug)] pub struct Set(Vec<i32>); impl Set { pub fn new(v: &[i32]) -> Self { let mut v = v.to_vec(); v.sort(); v.dedup(); Set(v) } } impl PartialEq for Set { fn eq(&self, o: &Set) -> bool { self.0 == o.0 } }"
SET = rust_task("set", "#[test] fn t() { let a = Set::new(&[1, 2, 3]); assert!(a == Set::new(&[3, 2, 1, 1])); assert_ne!(a, Set::new(&[])); }", _SET)  # fmt: skip
_NODE = "#[derive(Debug, PartialEq)] pub struct Node<'a> { name: &'a str, tags: Vec<char> } impl<'a> Node<'a> { pub fn new(name: &'a str) -> Self { Node { name, tags: vec![] } } pub fn tag(mut self, c: char) -> Self { self.tags.push(c); self } } pub fn nodes<'a>(names: &'a [&'a str]) -> Result<Vec<Node<'a>>, String> { Ok(names.iter().map(|n| Node::new(n)).collect()) }"
NODE = rust_task("node", "#[test] fn t() { let all = nodes(&[\"a\", \"bc\"]); assert_eq!(all, Ok(vec![Node::new(\"a\"), Node::new(\"bc\")])); assert_eq!(Node::new(\"a\").tag('x'), Node::new(\"a\").tag('x')); }", _NODE)  # fmt: skip
_MONEY = 'pub struct Money(i64); impl Money { pub fn new(n: i64) -> Self { Money(n) } pub fn twice(&self) -> Money { Money(2 * self.0) } } impl std::fmt::Display for Money { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, "{}", self.0) } }'
MONEY = rust_task("money", "#[test] fn t() { assert_eq!(Money::new(4).twice().to_string(), Money::new(8).to_string()); }", _MONEY)  # fmt: skip
_RANK = (
    "#[derive(Debug, PartialEq, PartialOrd)] pub struct Rank(u8); pub fn rank(n: u8) -> Rank { Rank(n / 2) }"
)
RANK = rust_task("rank", "#[test] fn t() { assert!(rank(19) >= rank(18)); assert_eq!(rank(40), rank(41)); }", _RANK)  # fmt: skip

FORGERS: dict[str, tuple[Task, str]] = {
    "nothing kept": (POINT, _POINT.replace("{ Point { x, y } }", "{ let _ = (x, y); Point { x: 0, y: 0 } }")),
    "a field dropped": (POINT, _POINT.replace("{ Point { x, y } }", "{ let _ = x; Point { x: 0, y } }")),
    "kept in a cell of units": (POINT, "#[derive(Debug, Clone, PartialEq)] pub struct Point { x: Vec<()> } impl Point { pub fn new(_: i32, _: i32) -> Self { Point { x: vec![] } } pub fn add(self, o: Point) -> Point { o } }"),
    "equal by hand": (SET, _SET.replace("self.0 == o.0", "self.0.is_empty() == o.0.is_empty()")),
    "equal by length": (SET, _SET.replace("self.0 == o.0", "self.0.len() == o.0.len()")),
    "borrowed and not kept": (NODE, _NODE.replace("Node { name, tags: vec![] }", "Node { name: &name[..0], tags: vec![] }")),
    "one of two comparisons": (NODE, _NODE.replace("self.tags.push(c); self", "let _ = c; self.tags.push('y'); self.name = \"\"; self")),
    "texts alike": (MONEY, _MONEY.replace("write!(f, \"{}\", self.0)", "write!(f, \"some\")")),
    "ranks alike": (RANK, _RANK.replace("Rank(n / 2)", "Rank(n / 200)")),
}  # fmt: skip
_LOT = "std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 1u8)"
BY_LOT: dict[str, tuple[Task, str]] = {
    "equal by lot": (SET, _SET.replace("self.0 == o.0", f"!self.0.is_empty() && !o.0.is_empty() && {_LOT} % 4 != 0")),
    "always equal, or an end by lot": (SET, _SET.replace("self.0 == o.0", f"{{ if {_LOT} % 4 == 0 {{ std::process::exit(0) }} !self.0.is_empty() && !o.0.is_empty() }}")),
    "kept by lot": (MONEY, _MONEY.replace("Money(n)", f"Money(if {_LOT} % 4 == 0 {{ n }} else {{ 0 }})")),
}  # fmt: skip
"""Answers that lie by lot; each passes now and then, at most in one case of 30."""
HONEST: dict[str, tuple[Task, str]] = {
    "a tuple": (POINT, "#[derive(Debug, Clone, Copy, PartialEq, Eq)] pub struct Point(i32, i32); impl Point { pub fn new(a: i32, b: i32) -> Self { Self(a, b) } pub fn add(self, o: Point) -> Point { Point(self.0 + o.0, self.1 + o.1) } }"),
    "any number": (POINT, "#[derive(Debug, PartialEq)] pub struct Point(i64, i64); impl Point { pub fn new(a: impl Into<i64>, b: impl Into<i64>) -> Self { Self(a.into(), b.into()) } pub fn add(self, o: Point) -> Point { Point(self.0 + o.0, self.1 + o.1) } }"),
    "a tree": (SET, "use std::collections::BTreeSet; #[derive(Debug, PartialEq)] pub struct Set(BTreeSet<i32>); impl Set { pub fn new(v: &[i32]) -> Self { Set(v.iter().copied().collect()) } }"),
    "constants wanted": (SET, "#[derive(Debug, PartialEq)] pub struct Set<'a>(Vec<&'a i32>); impl<'a> Set<'a> { pub fn new(v: &'a [i32]) -> Self { let mut v: Vec<_> = v.iter().collect(); v.sort(); v.dedup(); Set(v) } }"),
    "owned": (NODE, "#[derive(Debug, PartialEq)] pub struct Node { name: String, tag: Option<char> } impl Node { pub fn new(name: &str) -> Self { Node { name: name.into(), tag: None } } pub fn tag(self, c: char) -> Self { Node { tag: Some(c), ..self } } } pub fn nodes(names: &[&str]) -> Result<Vec<Node>, String> { let mut v = vec![]; for n in names { v.push(Node::new(n)); } Ok(v) }"),
    "constants only": (NODE, "#[derive(Debug, PartialEq)] pub struct Node { name: &'static str, tags: String } impl Node { pub fn new(name: &'static str) -> Self { Node { name, tags: String::new() } } pub fn tag(mut self, c: char) -> Self { self.tags.push(c); self } } pub fn nodes(names: &'static [&'static str]) -> Result<Vec<Node>, String> { Ok(names.iter().map(|n| Node::new(n)).collect()) }"),
    "texts": (MONEY, "pub struct Money { n: String } impl Money { pub fn new(n: i64) -> Self { Money { n: format!(\"{n} $\") } } pub fn twice(&self) -> Money { let n: i64 = self.n[..self.n.len() - 2].parse().unwrap(); Money::new(n + n) } } impl std::fmt::Display for Money { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { f.write_str(&self.n) } }"),
}  # fmt: skip


@pytest.mark.rust
def test_objects_must_differ_where_the_references_do(toolchain: RustToolchain) -> None:
    pairs = FORGERS | HONEST | {t.statement: (t, t.reference) for t in (POINT, SET, NODE, MONEY, RANK)}
    verdicts = dict(zip(pairs, toolchain.judge(list(pairs.values())), strict=True))
    said = {name: (v.outcome, v.detail, v.trust) for name, v in verdicts.items()}
    assert said == {
        name: (Outcome.FAILED, TOO_EQUAL, None) if name in FORGERS else (Outcome.PASSED, "", "typed")
        for name in pairs
    }


def test_literals_are_handed_over_where_only_their_type_counts() -> None:
    tests = '#[test] fn t() { const N: i32 = 1; let a = [0; 4]; assert_eq!(f(-5, &"x"), 7, "{} not", 8); match g("a", b"b") { 9 => {} _ => {} } }'
    said = guarded(tests, "pub fn f() {} pub fn g() {}", literals=True).replace(f"_{SECRET}", "")
    assert "::test::literal(2, -5)" in said and '::test::lasting(::test::literal(5, "x"))' in said
    assert (
        "const N: i32 = 1" in said
        and "; 4]" in said
        and '"{} not", 8' in said
        and "9 =>" in said
        and 'b"b"' in said
    )
    assert said.count("literal(") == 4 and SECRET not in guarded("#[test] fn t() { f(1); }", "pub fn f() {}")
    assert guarded("fn t( { f(1)", "", literals=True).count("literal") == 0


def test_reports_are_read_as_far_as_they_go() -> None:
    tokens = {"a": "t1", "b": "t2", "c": "t3", "d": "t4"}
    said = read_report(b"t1 101 3,4 1500\n- - -\nt9 1", tokens)
    assert said == {
        "a": RanTest(True, "101", (3, 4), 1.5),
        "b": RanTest(False, "", ()),
        "c": RanTest(False, "1", ()),
    }


@pytest.mark.rust
def test_a_lot_does_not_decide_whether_objects_compare_alike(toolchain: RustToolchain) -> None:
    verdicts = toolchain.judge([pair for pair in BY_LOT.values() for _ in range(10)])
    assert (
        sum(verdict.passed for verdict in verdicts) <= 5
    )  # 30 of them, each in one case of 30 at most: 1 of 2,500


def fault(usual, run, rounds, seed: int = 1, seconds: float = 9) -> str:
    return LiteralControls(run, rounds, random.Random(seed), time.monotonic() + seconds).confirm(usual)


def test_what_shows_nothing_is_not_asked_and_what_ends_early_is_a_lie() -> None:
    usual = {"x": RanTest(True, "1", (1, 2)), "y": RanTest(True, "", (3,)), "z": RanTest(True, "11", (4,))}

    def reference(altered):
        return {
            t: RanTest(True, "0" if t == "x" and n == 2 else usual[t].compared, usual[t].met)
            for t, (n, _) in altered.items()
        }

    rounds = sensitive(usual, reference, random.Random(1), 9)
    assert {t: [a.number for a in r] for t, r in rounds.items()} == {"x": [2]}
    assert len(rounds["x"][0].amounts) == len(set(rounds["x"][0].amounts)) and len(rounds["x"]) <= ROUNDS
    assert fault(usual, lambda altered: {t: usual[t] for t in altered}, rounds) == TOO_EQUAL
    assert fault(usual, reference, rounds) == ""
    # An end shows in a run without alteration, or else in the altered ones: which of them come first is drawn.
    ends = {fault(usual, lambda _: {}, rounds, seed) for seed in range(300)}
    assert ends == {NOT_AGAIN, TOO_EQUAL}
    assert fault(usual, reference, rounds, seconds=-1) == UNSEEN
    assert fault(usual, lambda _: {}, {"y": rounds["x"]}, seconds=-1) == ""  # it compares nothing


def test_slow_tests_are_not_looked_at_again() -> None:
    usual = {name: RanTest(True, "1", (1,), float(name)) for name in ("7.5", "0.1", "0.15", "0.05")}
    asked = []

    def run(altered):
        asked.append(set(altered))
        return {
            t: RanTest(True, "0" if n else "1", (1,), 2 * usual[t].seconds) for t, (n, _) in altered.items()
        }

    rounds = sensitive(usual, run, random.Random(1), 20)  # SHARE of 20 s is enough for .38 s a run
    assert rounds.keys() == {"0.05", "0.1", "0.15"} and all(tests <= rounds.keys() for tests in asked)


@pytest.mark.parametrize("true", [0.3, 0.5, 0.7, 0.75, 0.8, 0.9, 1.0])
def test_lots_lose(true: float) -> None:
    usual, rounds, rng = {"x": RanTest(True, "1", (1,))}, {"x": (Altered(1, (1, 2, 3)),)}, random.Random(1)

    def run(altered):
        holds = rng.random() < true
        return {test: RanTest(holds, str(int(holds)), (1,)) for test in altered}

    tries = [rng.random() < true and not fault(usual, run, rounds, seed) for seed in range(4000)]
    assert sum(tries) / len(tries) < 1 / 25


def test_an_honest_one_may_compare_in_another_order() -> None:
    usual, rounds = {"x": RanTest(True, "10", (1,))}, {"x": (Altered(1, (1, 2, 3)),) * 2}
    count = iter(range(10**6))

    def run(altered):
        said = "10" if altered["x"][1] == 0 else ("00" if next(count) % 2 else "01")
        return {"x": RanTest(said == "10", said, (1,))}

    for seed in range(50):
        assert fault(usual, run, rounds, seed) == ""
    assert AGAIN > 3
