# ruff: noqa: E501
"""Hostile Rust answers, the suite's and those that need a task of their own: none passes in strict mode, honest ones do."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from tests.scale import some
from tests.verification.conftest import RUST_LIMITS

from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.projects import PROJECTS
from strop_verify.attacks.suite import load_suite, trial
from strop_verify.attacks.tasks import build
from strop_verify.code.trees import bounded
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.rust import RustToolchain
from strop_verify.verification.rust.preprocess import take_in
from strop_verify.verification.rust.scan import scan, steps_for

pytestmark = pytest.mark.rust

UNIT = """#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { assert_eq!(f(1), 2); assert!(f(2) == 3); }
    #[test]
    fn adds_more() { assert_ne!(f(5), 7); let v: Vec<i32> = vec![f(1)]; assert_eq!(v, vec![2]); assert_eq!(Some(f(0)), Some(1)); }
    #[test]
    #[should_panic(expected = "negative")]
    fn refuses() { f(-1); }
}
"""
SHOWN = """#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn shows() { assert_eq!(show(7), "7".to_string()); assert!(show(8) == format!("{}", 8)); }
}
"""
HONEST = 'pub fn f(x: i32) -> i32 { if x < 0 { panic!("negative") } x + 1 }'
WRONG = 'pub fn f(x: i32) -> i32 { if x < 0 { panic!("negative") } 0 }'
unit = Task(language="rust", statement="f", reference=HONEST, check=RustCheck(tests=UNIT))
show = Task(language="rust", statement="show", check=RustCheck(tests=SHOWN))
own = Task(language="rust", statement="own tests", check=RustCheck())

SECRET = 4_182_937
SUITE = build(SECRET)
SOLVED = f"pub fn code(x: i64) -> i64 {{ {SECRET} + x }}"
INNER = f"mod inner {{ use answer::code; #[test] fn again() {{ assert_eq!(code(3), {SECRET} + 3); }} }}"


def varied(name: str, task: Task, **check: str) -> Task:
    return task.model_copy(update={"id": name, "check": task.check.model_copy(update=check)})


GIVEN, OUTSIDE = (SUITE[name].check.only(RustCheck).tests for name in ("rust", "rust-crate"))
TASKS = {
    "referenced": varied("referenced", SUITE["rust"]).model_copy(update={"reference": SOLVED}),
    "crate": varied("crate", SUITE["rust-crate"], tests=OUTSIDE + INNER, edition="2024"),
    "worldly": varied(
        "worldly",
        SUITE["rust"],
        tests=GIVEN.replace("use super::*;", "use super::*; #[allow(unused_imports)] use std::process;"),
    ),
}
ATTACKS = {a.name: a for a in load_suite() if a.language == "rust" and a.task not in ("rust-own", *PROJECTS)}
LIMITED = {name for name, a in ATTACKS.items() if "deadline" in a.layer or "memory limit" in a.layer}
"""Ended by a limit, which knows nothing of the task's form: tried on one."""
OPEN = {"reads-own-binary"}
"""Where tests use files, their own binary can be read with the values that they compare with (docs/SECURITY.md)."""
SKIPPED = {"referenced": set(), "crate": LIMITED, "worldly": LIMITED | OPEN}


def judged(toolchain: RustToolchain, task: Task, answers: list[str]) -> list[Verdict]:
    found: list[Verdict] = []
    for start in range(0, len(answers), toolchain.batch):
        found += toolchain.judge([(task, a) for a in answers[start : start + toolchain.batch]])
    return found


@pytest.fixture(scope="module")
def hostile() -> Iterator[Callable[[str], str]]:
    """The text of an attack of the suite."""
    with Canaries() as canaries:
        facts = {**canaries.facts, "SECRET": str(SECRET)}
        yield lambda name: trial(ATTACKS[name], SUITE, facts).hostile or ""


@pytest.mark.rust(10)
@pytest.mark.parametrize("name", TASKS)
def test_no_attack_passes_and_honest_neighbours_do(
    toolchain: RustToolchain, hostile: Callable[[str], str], name: str
) -> None:
    """The suite's answers on tasks that they were not written for too: with a reference, as a crate of its own, and
    where the tests use the ways out of the process that the text alone refuses elsewhere.
    """
    names = some([a for a in ATTACKS if a not in SKIPPED[name]], 18, salt=list(TASKS).index(name))
    verdicts = judged(toolchain, TASKS[name], [SOLVED, *map(hostile, names), SOLVED])
    tried = dict(zip(names, verdicts[1:-1], strict=True))
    assert [name for name, v in tried.items() if v.passed or v.stages[2].passed] == []
    assert [v.outcome for v in (verdicts[0], verdicts[-1])] == [Outcome.PASSED] * 2
    assert {name: v.detail for name, v in tried.items() if v.outcome is Outcome.ERROR} == {}


def test_answers_that_do_nothing_do_not_pass(toolchain: RustToolchain) -> None:
    stub, nothing = "pub fn f(_: i32) -> i32 { todo!() }", "// nothing"
    verdicts = judged(
        toolchain, unit, [HONEST, stub, nothing, 'pub fn f(_: i32) -> i32 { panic!("negative") }']
    )
    assert [v.passed for v in verdicts] == [True, False, False, False]


@pytest.mark.parametrize(
    "head",
    ["// About.\n", "//! About.\n", "/* a */ ", "/*! a */ ", "#![allow(dead_code)]\n", "#![allow(dead_code)] ", "//! a\n//! b\n\n// c\n",
     "// a\n#![allow(dead_code)] // b\n", "\n\n", "/// Adds.\n", "//! a\r\n", "#![allow(dead_code)]\n//! a\nuse std::fmt; "],
)  # fmt: skip
def test_honest_answers_pass_whatever_stands_at_their_top(toolchain: RustToolchain, head: str) -> None:
    verdicts = judged(toolchain, unit, [head + HONEST, head + WRONG])
    assert [v.passed for v in verdicts] == [True, False], verdicts[0].detail


def test_limits_name_what_ended_an_answer(toolchain: RustToolchain, hostile: Callable[[str], str]) -> None:
    answers = [hostile(name) for name in ("loop", "sleep")]
    outcomes = [v.outcome for v in judged(toolchain, TASKS["referenced"], answers)]
    assert outcomes == [Outcome.TIMED_OUT, Outcome.TIMED_OUT]
    small = replace(RUST_LIMITS, cpu_seconds=30, wall_seconds=120, memory_bytes=1 << 28)
    with closing(RustToolchain(limits=small)) as patient:  # however long the memory takes to fill
        (verdict,) = judged(patient, TASKS["referenced"], [hostile("memory")])
    assert verdict.outcome is Outcome.OUT_OF_MEMORY


def test_traits_of_the_answer_take_over_no_method_of_the_tests(toolchain: RustToolchain) -> None:
    thief = """use std::cell::RefCell;
thread_local! { static LAST: RefCell<String> = RefCell::new(String::new()); }
pub trait Thief { fn to_string(self) -> String; }
impl Thief for &'static str { fn to_string(self) -> String { LAST.with(|l| l.borrow().clone()) } }
pub fn show(x: i32) -> String { let s = format!("?{x}"); LAST.with(|l| *l.borrow_mut() = s.clone()); s }"""
    by_macro = thief.replace("pub trait Thief { fn to_string(self) -> String; }",
                             "macro_rules! t { ($n:ident) => { pub trait Thief { fn $n(self) -> String; } } } t!(to_string);")  # fmt: skip
    formats = "macro_rules! format { ($($t:tt)*) => { ::std::string::String::new() } } pub(crate) use format; pub fn show(x: i32) -> String { x.to_string() }"
    honest = "pub trait Loud { fn loud(&self) -> String; } impl Loud for i32 { fn loud(&self) -> String { self.to_string() } } pub fn show(x: i32) -> String { x.loud() }"
    verdicts = judged(toolchain, show, [thief, by_macro, honest, formats])
    assert [v.passed for v in verdicts] == [False, False, True, True]


def test_equality_of_its_own_counts_only_where_the_reference_has_it_too(toolchain: RustToolchain) -> None:
    tests = "#[cfg(test)] mod tests { use super::*; #[test] fn same() { assert_eq!(turn(Side::Left), Side::Right); assert_eq!(vec![turn(Side::Right)], [Side::Left]); } }"
    derived = "#[derive(Debug, PartialEq)] pub enum Side { Left, Right } pub fn turn(s: Side) -> Side { match s { Side::Left => Side::Right, Side::Right => Side::Left } }"
    lying = "#[derive(Debug)] pub enum Side { Left, Right } impl PartialEq for Side { fn eq(&self, _: &Side) -> bool { true } } pub fn turn(s: Side) -> Side { s }"
    inner = "#[derive(Debug)] pub struct L; impl PartialEq for L { fn eq(&self, _: &L) -> bool { true } } #[derive(Debug, PartialEq)] pub struct Side(L); impl Side { #[allow(non_upper_case_globals)] pub const Left: Side = Side(L); #[allow(non_upper_case_globals)] pub const Right: Side = Side(L); } pub fn turn(s: Side) -> Side { s }"
    by_hand = (
        derived.replace(", PartialEq", "")
        + " impl PartialEq for Side { fn eq(&self, o: &Side) -> bool { matches!((self, o), (Side::Left, Side::Left) | (Side::Right, Side::Right)) } }"
    )
    plain = Task(language="rust", statement="turn", check=RustCheck(tests=tests))
    referred = Task(language="rust", statement="turn", reference=by_hand, check=RustCheck(tests=tests))
    assert [v.passed for v in judged(toolchain, plain, [derived, lying, inner, by_hand])] == [
        True,
        False,
        False,
        False,
    ]
    assert [v.passed for v in judged(toolchain, referred, [derived, by_hand])] == [True, True]


def test_equality_in_disguise_does_not_count(toolchain: RustToolchain) -> None:
    tests = "#[cfg(test)] mod tests { use super::*; #[test] fn same() { assert_eq!(turn(Side::Left), Side::Right); } }"
    turn = Task(language="rust", statement="turn in disguise", check=RustCheck(tests=tests))
    side = "#[derive(Debug)] pub enum Side { Left, Right } "
    base = side + "pub fn turn(s: Side) -> Side { s } "
    body = "{ fn eq(&self, _: &Side) -> bool { true } }"
    hidden = "#[derive(Debug)] pub struct L; impl PartialEq for L { fn eq(&self, _: &L) -> bool { true } } "
    within = "#[derive(Debug, PartialEq)] pub struct Side(%s); impl Side { #[allow(non_upper_case_globals)] pub const Left: Side = Side(L); #[allow(non_upper_case_globals)] pub const Right: Side = Side(L); } pub fn turn(s: Side) -> Side { s }"
    answers = [
        base + f"use std::cmp::PartialEq as P; impl P for Side {body}",
        base + f"use std::cmp::PartialEq as P; impl P for Side {body.replace('eq', 'r#eq')}",
        base + f"macro_rules! id {{ ($($t:tt)*) => {{ $($t)* }} }} id! {{ impl PartialEq for Side {body} }}",
        base + f"macro_rules! im {{ ($t:ident) => {{ impl $t for Side {body} }} }} im!(PartialEq);",
        base + "macro_rules! im { ($($f:tt)*) => { impl PartialEq for Side { $($f)* (&self, _: &Side) -> bool { true } } } } im!(fn eq);",
        base + f"cfg_select! {{ _ => {{ impl PartialEq for Side {body} }} }}",
        side + f"pub type S = Side; impl PartialEq for S {body} pub fn turn(s: Side) -> S {{ s }}",
        base + f"trait H {{ type T; }} struct Z; impl H for Z {{ type T = Side; }} impl PartialEq for <Z as H>::T {body}",
        base + f"mod m {{ use super::{{Side, Side as K}}; impl PartialEq for K {body} }}",
        base + f"pub fn g() {{ println!(\"{{}}\", {{ impl PartialEq for Side {body} 1 }}); }}",
        hidden + "use self::L as K; " + within % "K",
        hidden + "macro_rules! k { () => { L } } " + within % "k!()",
        hidden + "trait H { type T; } struct Z; impl H for Z { type T = L; } " + within % "<Z as H>::T",
        hidden + f"macro_rules! id {{ ($($t:tt)*) => {{ $($t)* }} }} id! {{ {within % 'L'} }}",
        "pub trait H { type T; } pub struct Z; pub type Side = <Z as H>::T; pub fn turn(s: Side) -> Side { s } "
        f"const _: () = {{ let _ = || {{ {side} impl PartialEq for Side {body} impl H for Z {{ type T = Side; }} }}; }};",
    ]  # fmt: skip
    honest = [
        base.replace("Debug", "Debug, PartialEq").replace("{ s }", "{ if s == Side::Left { Side::Right } else { Side::Left } }"),
        "macro_rules! id { ($($t:tt)*) => { $($t)* } } id! { #[derive(Debug, PartialEq)] pub enum Side { Left, Right } } pub fn turn(_: Side) -> Side { Side::Right }",
        "#[derive(Debug, PartialEq)] pub enum Side { Left, Right } struct N(f64); impl PartialEq for N { fn eq(&self, o: &N) -> bool { self.0.to_bits() == o.0.to_bits() } } pub fn turn(_: Side) -> Side { assert!(N(1.0).eq(&N(1.0))); Side::Right }",
    ]  # fmt: skip
    verdicts = judged(toolchain, turn, [*answers, *honest])
    assert [v.stages[0].output for v in verdicts if not v.stages[0].passed] == []  # each attack is a real one
    assert [n for n, v in enumerate(verdicts[: len(answers)]) if v.passed] == []
    assert [v.passed for v in verdicts[len(answers) :]] == [True] * 3, [v.detail for v in verdicts[-3:]]


def test_own_tests_must_claim_something_and_notice_faults(toolchain: RustToolchain) -> None:
    code = "pub fn f(x: i32) -> i32 { x + 1 }\n#[cfg(test)] mod tests { use super::*; %s }"
    answers = [
        code % "#[test] fn t() { assert_eq!(f(1), 2); assert_eq!(f(-1), 0); }",
        "pub fn f(x: i32) -> i32 { x + 1 }",
        code % "",
        code % "#[test] fn t() { f(1); }",
        code % "#[test] fn t() { assert!(true); assert_eq!(1, 1); f(1); }",
        code % "#[test] #[ignore] fn t() { assert_eq!(f(1), 2); }",
        code % "#[test] fn t() { assert!(f(1) > -1000); }",
        code % "#[test] fn t() { std::process::exit(0); assert_eq!(f(1), 3); }",
        code % "#[test] #[cfg(any())] fn t() { assert_eq!(f(1), 2); }",
        (code % "#[test] fn t() { assert_eq!(f(1), 2); }").replace("mod tests", "#[cfg(any())] mod tests"),
    ]
    verdicts = judged(toolchain, own, answers)
    assert [v.passed for v in verdicts] == [True] + [False] * 9
    assert not any(v.stages[2].passed for v in verdicts[1:])


def test_output_never_holds_an_expected_value(toolchain: RustToolchain) -> None:
    secret = Task(language="rust", statement="s", check=RustCheck(
        tests='#[cfg(test)] mod tests { use super::*; #[test] fn t() { assert_eq!(f(1), 987654); } }'))  # fmt: skip
    (verdict,) = judged(toolchain, secret, ['pub fn f(x: i32) -> i32 { println!("seen {x}"); x }'])
    assert "seen 1" in verdict.output and "987654" not in verdict.model_dump_json()


REPEATED = {
    "impl blocks": "".join(f"struct A{i};impl PartialEq for A{i}{{fn eq(&self,o:&Self)->bool{{true}}}}\n" for i in range(160)),
    "modules for tests": "#[cfg(test)]mod t{" * 800 + "}" * 800,
    "traits in traits": "trait A{fn f(){" * 1000 + "}}" * 1000,
    "impls in functions": "fn f(){impl A{" * 1000 + "}}" * 1000,
    "types in types": "struct A{a:[u8;{" * 800 + "0}]}" * 800,
    "renamed imports": "use a::{" + ",".join(f"b as f{i}" for i in range(1400)) + "};",
    "macros": "m!{fn eq}" * 1800,
    "definitions of macros": "macro_rules! m{()=>{trait}}" * 600,
    "attributes": "#[cfg(test)]" * 1400,
    "open brackets": "fn eq((((" * 1800,
    "paths": "std::{" * 2800,
}  # fmt: skip


@pytest.mark.parametrize("name", REPEATED)
def test_reading_takes_time_in_proportion(name: str) -> None:
    """In steps, not in seconds: twice the text takes about twice the steps, or is too long to be checked."""
    text = REPEATED[name]
    task = Task(
        language="rust",
        statement="x",
        reference="pub fn f(){}",
        check=RustCheck(tests="#[test] fn t(){ f(); }"),
    )
    with bounded(3 * steps_for(text)):
        take_in(0, task, text, strict=True)


@pytest.mark.parametrize(
    "use",
    [
        "use std::{{fs}};", "use std::{{{fs::File}}, io};", f"use std::{' ' * 3000}fs;", "use std::/*" + "x" * 3000 + "*/fs;",
        "use std::{io::{self}, r#fs};", "use std::{self as s};", "use ::std::fs;", "use std as s;", "use std::*;",
        "macro_rules! m { ($a:ident) => { std::$a::read_to_string(\"x\") } }", "fn f() { m!(std); }",
        "use std::{\n// here\nfs};",
    ],
)  # fmt: skip
def test_the_way_out_is_read_from_tokens(use: str) -> None:
    assert scan(use).world


@pytest.mark.parametrize(
    "use",
    [
        "use std::{collections::{self, HashMap}, io::{self}};",
        "use std::fmt;",
        "use std::collections::*;",
        "std::cmp::max(1, 2)",
    ],
)
def test_what_stays_inside_is_no_way_out(use: str) -> None:
    assert not scan(use).world
