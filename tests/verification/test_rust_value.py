# ruff: noqa: E501
"""Tests that need only values of the standard library: the answer is a program of its own, and can forge no pass."""

import time

import pytest
from tests.verification.conftest import RUST_LIMITS, rust_task

from strop.tasks import load_tasks
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.rust import RustToolchain
from strop_verify.verification.rust.calls import calls_of

pytestmark = pytest.mark.rust


F = rust_task("f", "#[test] fn one() { assert_eq!(f(1), 2); } #[test] fn two() { assert_eq!(f(7), 8); }", "pub fn f(x: i32) -> i32 { x + 1 }")  # fmt: skip
WRONG = "pub fn f(x: i32) -> i32 { x }"
SHOUT = rust_task("shout", "#[test] fn t() { assert!(shout(\"hi\").ends_with('!')); assert!(shout(\"hi\").starts_with(\"HI\")); }",
             "pub fn shout(s: &str) -> String { s.to_uppercase() + \"!\" }")  # fmt: skip
COUNT = rust_task("count", "#[test] fn t() { let m: HashMap<char, usize> = count(\"aa\"); let mut want = HashMap::new(); want.insert('a', 2); if m.get(&'a') != want.get(&'a') { panic!() } }",
             "use std::collections::HashMap; pub fn count(s: &str) -> HashMap<char, usize> { let mut m = HashMap::new(); for c in s.chars() { *m.entry(c).or_insert(0) += 1; } m }")  # fmt: skip
CARRIED = {
    "panics": rust_task("p", "#[test] #[should_panic(expected = \"too small\")] fn a() { f(0); } #[test] fn b() { assert_eq!(f(1), 1); } #[test] #[should_panic] fn c() { f(0); }",
                   "pub fn f(x: i32) -> i32 { if x < 1 { panic!(\"too small: {x}\") } x }"),
    "changed arguments": rust_task("m", "#[test] fn t() { let mut v = vec![3, 1]; assert_eq!(f(&mut v), 2); assert_eq!(v, [1, 3]); let mut a = [1, 2]; g(&mut a); assert_eq!(a, [2, 1]); let mut n = 1; h(&mut n, 2); assert_eq!(n, 3); }",
                              "pub fn f(v: &mut Vec<i32>) -> usize { v.sort(); v.len() } pub fn g(v: &mut [i32]) { v.reverse() } pub fn h(n: &mut u8, m: u8) { *n += m }"),
    "references": rust_task("r", "#[test] fn t() { assert_eq!(f(&[\"b\", \"aa\"]), Some(\"aa\")); assert_eq!(g(\"a b\"), vec![\"a\", \"b\"]); assert_eq!(h(&[1, 2], &3), &[1, 2]); assert_eq!(k(), \"x\"); }",
                       "pub fn f<'a>(v: &[&'a str]) -> Option<&'a str> { v.iter().copied().max_by_key(|s| s.len()) } pub fn g(s: &str) -> Vec<&str> { s.split(' ').collect() } pub fn h<'a>(v: &'a [i32], _: &i32) -> &'a [i32] { v } pub fn k() -> &'static str { \"x\" }"),
    "floats": rust_task("n", "#[test] fn t() { assert!(f(f64::NAN).is_nan()); assert!(f(-0.0).is_sign_negative()); assert_eq!(f(f64::INFINITY), f64::INFINITY); assert_eq!(f(0.1), 0.1); }",
                   "pub fn f(x: f64) -> f64 { x }"),
    "collections": rust_task("c", "use std::collections::{BTreeSet, HashSet, VecDeque}; #[test] fn t() { assert_eq!(f(vec![(1, 'a'), (2, 'b')])[&2], \"b\"); assert_eq!(g(&HashSet::from([1u8, 2])), BTreeSet::from([1, 2])); assert_eq!(h(VecDeque::from([1i128, -1]), [[1, 2], [3, 4]]), (Box::new(0), [10, 0])); assert_eq!(k(Some(Err(\"e\".into()))), Ordering::Less); }",
                        "use std::{cmp::Ordering, collections::{BTreeMap, HashSet, BTreeSet, VecDeque}}; type Names = BTreeMap<i64, String>; pub fn f(v: Vec<(i64, char)>) -> Names { v.into_iter().map(|(n, c)| (n, c.to_string())).collect() } pub fn g(s: &HashSet<u8>) -> BTreeSet<u8> { s.iter().copied().collect() } pub fn h(v: VecDeque<i128>, a: [[u8; 2]; 2]) -> (Box<i128>, [u8; 2]) { (Box::new(v.into_iter().sum()), [a.concat().iter().sum(), 0]) } pub fn k(x: Option<Result<(), String>>) -> Ordering { if x.unwrap().is_err() { Ordering::Less } else { Ordering::Equal } }"),
    "threads": rust_task("t", "#[test] fn t() { let all: Vec<_> = (0..4).map(|n| std::thread::spawn(move || f(n))).collect(); for (n, t) in all.into_iter().enumerate() { assert_eq!(t.join().unwrap(), n as u64 * 2); } } #[test] fn caught() { assert!(std::panic::catch_unwind(|| f(99)).is_err()); assert_eq!(f(1), 2); }",
                    "pub fn f(n: u64) -> u64 { assert!(n < 99); n * 2 }"),
}  # fmt: skip
"""References with tests of what has to cross."""

HALF = rust_task(
    "half", "#[test] fn t() { assert_eq!(half(3.0), 1.5); }", "pub fn half(x: f64) -> f64 { x / 2.0 }"
)
TOTAL = rust_task("total", "use std::collections::*; #[test] fn t() { let m: HashMap<i32, i32> = HashMap::new(); assert_eq!(total(&vec![1, 2]), 3); assert_eq!(m.get(&1), None); }",
             "pub fn total(v: &[i32]) -> i32 { v.iter().sum() }")  # fmt: skip
_HALF = "pub fn half(x: f64) -> f64 { x / 2.0 }"
OTHERWISE: dict[str, tuple[Task, str]] = {
    "tests of its own": (HALF, _HALF + " #[cfg(test)] mod mine { use super::*; #[test] fn ok() { assert_eq!(half(2.0), 1.0); } }"),
    "an item for tests": (HALF, _HALF + " #[cfg(test)] fn helper() -> u8 { 1 }"),
    "a generic head": (HALF, "pub fn half<T: Into<f64>>(x: T) -> f64 { x.into() / 2.0 }"),
    "a function of a module": (HALF, "mod imp { pub fn half(x: f64) -> f64 { x / 2.0 } } pub use imp::half;"),
    "made by a macro": (HALF, "macro_rules! mk { ($n:ident) => { pub fn $n(x: f64) -> f64 { x / 2.0 } } } mk!(half);"),
    "a vector for a slice": (TOTAL, "pub fn total(v: &Vec<i32>) -> i32 { v.iter().sum() }"),
    "other numbers": (TOTAL, "pub fn total(v: &[i64]) -> i64 { v.iter().sum() }"),
    "anything like a slice": (TOTAL, "pub fn total(v: impl AsRef<[i32]>) -> i32 { v.as_ref().iter().sum() }"),
}  # fmt: skip
"""Honest answers that are not written like the reference."""
NEIGHBOURS = [
    "pub mod a { pub use super::{super::zq0000}; } pub fn half(x: f64) -> f64 { a::zq0000::half(x) }",
    "macro_rules! p { ($a:tt) => { pub use $a::$a::zq0000; } } pub mod a { p!{super} } pub fn half(x: f64) -> f64 { a::zq0000::half(x) }",
]
"""Answers that call the first answer of their batch by the number of its place."""
BY_OWN_TESTS = {
    "its own test fails": _HALF
    + " #[cfg(test)] mod mine { #[test] fn no() { assert!(super::half(2.0) > 7.0); } }",
    "only its own test passes": "pub fn half(x: f64) -> f64 { x } #[cfg(test)] mod mine { #[test] fn ok() { } }",
}

FORGERS: dict[str, tuple[Task, str]] = {
    "wrong": (F, WRONG),
    "panics": (F, "pub fn f(_: i32) -> i32 { panic!() }"),
    "exits": (F, "pub fn f(_: i32) -> i32 { std::process::exit(0) }"),
    "aborts": (F, "pub fn f(_: i32) -> i32 { std::process::abort() }"),
    "never returns a stack": (F, "pub fn f(x: i32) -> i32 { if x == 9 { 0 } else { f(x) + 1 } }"),
    "its own HashMap": (COUNT, "pub struct HashMap<K, V>(std::marker::PhantomData<(K, V)>); impl<K, V> HashMap<K, V> { pub fn new() -> Self { HashMap(std::marker::PhantomData) } pub fn insert(&mut self, _: K, _: V) {} pub fn get(&self, _: &K) -> Option<u8> { None } } pub fn count(_: &str) -> HashMap<char, usize> { HashMap::new() }"),
    "ends_with by value": (SHOUT, "pub trait S { fn ends_with(self, c: char) -> bool; } impl S for String { fn ends_with(self, _: char) -> bool { true } } pub fn shout(s: &str) -> String { s.to_uppercase() }"),
    "reads its files": (F, "pub fn f(x: i32) -> i32 { std::fs::read(\"t\").map_or(0, |b| b.len() as i32) + x }"),
    "reads by another name": (F, "use std as s; pub fn f(x: i32) -> i32 { use s::{{fs}}; fs::read_to_string(\"/proc/self/maps\").map_or(x, |t| t.len() as i32) }"),
    "prints without end": (F, "pub fn f(_: i32) -> i32 { loop { println!(\"{}\", \"x\".repeat(1000)); } }"),
    "prints rubbish": (F, "pub fn f(x: i32) -> i32 { for n in 0..255u8 { print!(\"{}\", n as char); eprintln!(\"ok\"); } x }"),
    "reads its input": (F, "pub fn f(_: i32) -> i32 { let mut s = String::new(); let _ = std::io::stdin().read_line(&mut s); println!(\"{s}\"); s.len() as i32 }"),
    "kills": (F, "pub fn f(x: i32) -> i32 { for p in 1..9 { let _ = std::process::Command::new(\"kill\").arg(p.to_string()).status(); } x }"),
    "reads the tester": (F, "pub fn f(x: i32) -> i32 { for p in 1..99 { if let Ok(t) = std::fs::read(format!(\"/proc/{p}/fd/0\")) { println!(\"{t:?}\"); } } x }"),
    "another thread exits": (F, "pub fn f(x: i32) -> i32 { std::thread::spawn(|| std::process::exit(0)); std::thread::sleep(std::time::Duration::from_millis(50)); x }"),
    "panics with a value of its own": (F, "pub struct P; impl Drop for P { fn drop(&mut self) { loop {} } } pub fn f(_: i32) -> i32 { std::panic::panic_any(P) }"),
    "serves by itself": (F, "#[cfg(not(test))] pub fn f(x: i32) -> i32 { x } #[cfg(test)] pub fn f(_: i32) -> i32 { ::test::serve(&[]); 3 }"),
    "writes rubbish to the channel": (F, "#[cfg(not(test))] pub fn f(x: i32) -> i32 { x } #[cfg(test)] pub fn f(x: i32) -> i32 { ::test::ask(&[0; 9]); ::test::ask(&[9; 99]); x }"),
    "writes too much to the channel": (F, "#[cfg(not(test))] pub fn f(x: i32) -> i32 { x } #[cfg(test)] pub fn f(x: i32) -> i32 { loop { ::test::ask(&vec![7; 30 << 20]); if x == 0 { return 1 } } }"),
    "writes what it reads": (F, "#[cfg(not(test))] pub fn f(x: i32) -> i32 { x } #[cfg(test)] pub fn f(_: i32) -> i32 { let b = ::test::ask(&[0, 0, 0, 0, 0]); println!(\"{}\", String::from_utf8_lossy(&b)); 0 }"),
}  # fmt: skip
LATE = {
    "sleeps": (F, "pub fn f(_: i32) -> i32 { std::thread::sleep(std::time::Duration::from_secs(60)); 2 }"),
    "loops": (F, "pub fn f(_: i32) -> i32 { loop {} }"),
}


@pytest.mark.rust(6)
def test_whatever_crosses_comes_back_whole(toolchain: RustToolchain) -> None:
    verdicts = toolchain.judge([(t, t.reference) for t in CARRIED.values()])
    found = {n: (v.outcome, v.trust, v.detail) for n, v in zip(CARRIED, verdicts, strict=True)}
    assert found == dict.fromkeys(CARRIED, (Outcome.PASSED, "value", ""))


@pytest.mark.rust(8)
def test_honest_answers_of_other_heads_pass_by_value(toolchain: RustToolchain) -> None:
    verdicts = toolchain.judge(list(OTHERWISE.values()))
    found = {n: (v.outcome, v.trust, v.detail) for n, v in zip(OTHERWISE, verdicts, strict=True)}
    assert found == dict.fromkeys(OTHERWISE, (Outcome.PASSED, "value", ""))


@pytest.mark.rust(4)
def test_no_answer_calls_another_of_its_batch(toolchain: RustToolchain) -> None:
    first, *others = toolchain.judge([(HALF, _HALF), *((HALF, text) for text in NEIGHBOURS)])
    assert first.passed
    assert [v.outcome for v in others] == [Outcome.FAILED] * len(others)


@pytest.mark.rust(4)
def test_tests_of_the_answer_can_only_fail_it(toolchain: RustToolchain) -> None:
    verdicts = toolchain.judge([(HALF, text) for text in BY_OWN_TESTS.values()])
    found = {n: v.outcome for n, v in zip(BY_OWN_TESTS, verdicts, strict=True)}
    assert found == dict.fromkeys(BY_OWN_TESTS, Outcome.FAILED)


@pytest.mark.rust(8)
def test_no_forger_passes_or_makes_an_error(toolchain: RustToolchain) -> None:
    verdicts = toolchain.judge(list(FORGERS.values()))
    found = {
        n: (v.outcome, v.detail)
        for n, v in zip(FORGERS, verdicts, strict=True)
        if v.outcome is not Outcome.FAILED
    }
    assert found == {}


@pytest.mark.rust(12)
@pytest.mark.parametrize("name", LATE)
def test_an_answer_that_does_not_come_back_times_out(toolchain: RustToolchain, name: str) -> None:
    toolchain.judge([(F, F.reference)])
    began = time.monotonic()
    (verdict,) = toolchain.judge([LATE[name]])
    assert verdict.outcome is Outcome.TIMED_OUT
    assert time.monotonic() - began < RUST_LIMITS.wall_seconds + 10  # the compilation included


@pytest.mark.rust(4)
def test_one_panic_does_not_lose_the_other_tests(toolchain: RustToolchain) -> None:
    (verdict,) = toolchain.judge([(F, "pub fn f(x: i32) -> i32 { if x == 1 { panic!() } x + 1 }")])
    assert {t.id: t.outcome for t in verdict.tests} == {
        "tests::one": Outcome.FAILED,
        "tests::two": Outcome.PASSED,
    }


def test_nearly_all_built_in_tasks_need_only_values() -> None:
    tasks = load_tasks("rust-functions")
    assert sum(map(_is_value, tasks)) >= 0.95 * len(tasks)


def _is_value(task: Task) -> bool:
    tests = task.check.only(RustCheck).tests
    return calls_of(tests, task.reference, task.reference) is not None
