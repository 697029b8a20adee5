"""Counting assertions: tables made by hand, each line one trick."""

import pytest

from strop_verify.verification.strength import count_assertions, own_tests_hold

pytestmark = pytest.mark.unit

RUST = """
pub fn f(x: i32) -> i32 { x + 1 }
pub fn g(x: &str) -> Result<i32, String> { x.parse().map_err(|_| "bad".to_string()) }
pub struct Stack { items: Vec<i32> }
impl Stack { pub fn new() -> Self { Stack { items: vec![] } } pub fn push(&mut self, x: i32) { self.items.push(x) } }
pub fn fill(v: &mut Vec<i32>) { v.push(1) }
#[cfg(test)]
mod tests {
    use super::*;
    %s
}
"""

RUST_BODIES = [
    # real ones
    ("assert!(f(1) == 2);", 1),
    ("assert_eq!(f(1), 2); assert_ne!(f(1), 3); debug_assert!(f(2) > 2);", 3),
    ('assert_eq!(f(1), 2, "message {}", 3);', 1),
    ("let r = f(1); let s = r * 2; assert_eq!(s, 4);", 1),
    ("let mut s = Stack::new(); s.push(3); assert_eq!(s.items, vec![3]);", 1),
    ("let mut v = vec![]; fill(&mut v); assert_eq!(v.len(), 1);", 1),
    ("for (a, b) in [(1, 2), (3, 4)] { assert_eq!(f(a), b); }", 1),
    ('if let Ok(n) = g("1") { assert_eq!(n, 1); }', 1),
    ('match g("1") { Ok(n) => assert_eq!(n, 1), Err(_) => panic!() }', 2),
    ('if f(1) != 2 { panic!("no"); }', 1),
    ('assert!(matches!(g("x"), Err(_)));', 1),
    ('let n = g("1").unwrap(); assert_eq!(n, 1);', 2),
    ('g("1").expect("a number");', 1),
    ('assert_eq!(g("1").unwrap(), 1);', 1),
    ("assert_eq!([1, 2].iter().map(|x| f(*x)).collect::<Vec<_>>(), vec![2, 3]);", 1),
    ("let c = |x: i32| assert_eq!(f(x), x + 1); c(1);", 1),
    ("std::thread::spawn(|| assert_eq!(f(1), 2)).join().unwrap();", 2),
    ("assert!(f(1) == 2 && f(2) == 3);", 1),
    # constant ones
    ("assert!(true);", 0),
    ("assert_eq!(1, 1); assert_ne!(1, 2);", 0),
    ("assert_eq!(f(1), f(1));", 0),
    ("assert_eq!(f(1), f( 1 /* same */ ));", 0),
    ("assert!(f(1) == f(1));", 0),
    ("assert!(f(1) == 2 || true);", 0),
    ("assert!((f(1) == 2) || !(f(1) == 2));", 0),
    ("let r = f(1); assert_eq!(r, r);", 0),
    ("let x = 3; assert_eq!(x, 3); f(1);", 0),
    ('assert!(true, "{}", f(1));', 0),
    ('assert_eq!(1, 1, "{}", f(1));', 0),
    ("let s = vec![f(1)]; assert!(s.len() >= 0);", 0),
    # not code, or code that never runs
    ("// assert_eq!(f(1), 2);\n f(1);", 0),
    ("/* assert_eq!(f(1), 2); /* nested */ */ f(1);", 0),
    ('let _ = "assert_eq!(f(1), 2);"; f(1);', 0),
    ('let _ = r#"assert!(f(1) == 2)"#;', 0),
    ("if false { assert_eq!(f(1), 2); }", 0),
    ("while false { assert_eq!(f(1), 2); }", 0),
    ("if true { f(1); } else { assert_eq!(f(1), 2); }", 0),
    ("return; assert_eq!(f(1), 2);", 0),
    ("for _ in 0..0 { assert_eq!(f(1), 2); }", 0),
    ("let never = || assert_eq!(f(1), 2); f(1);", 0),
    ("fn never() { assert_eq!(f(1), 2); }", 0),
    ("fn inner() { assert_eq!(f(1), 2); } inner();", 1),
    ("macro_rules! never { () => { assert_eq!(f(1), 2) } }", 0),
    ("macro_rules! same { ($a:expr, $b:expr) => { assert_eq!($a, $b) } } same!(f(1), 2); same!(1, 1);", 1),
    ("macro_rules! hollow { ($a:expr) => {{ let _ = $a; assert!(true); }} } hollow!(f(1));", 0),
    ("macro_rules! kept { ($a:expr) => {{ let r = $a; assert!(r == 2); }} } kept!(f(1));", 1),
    ("std::thread::spawn(|| assert_eq!(f(1), 2));", 0),
    ("stringify!(assert_eq!(f(1), 2));", 0),
    # the same again
    ("assert_eq!(f(1), 2); assert_eq!(f(1), 2); assert_eq!(f(1),2);", 1),
]


@pytest.mark.parametrize(("body", "count"), RUST_BODIES)
def test_rust_bodies(body: str, count: int) -> None:
    code = RUST % f"#[test] fn t() {{ {body} }}"
    assert count_assertions(code) == count


RUST_ITEMS = [
    ("#[test] #[should_panic] fn t() { f(1); }", 1),
    ("#[test] #[should_panic] fn t() { panic!() }", 0),
    ('#[test] fn t() -> Result<(), String> { let n = g("1")?; assert_eq!(n, 1); Ok(()) }', 2),
    (
        '#[test] fn t() -> Result<(), String> { let n: i32 = "1".parse().map_err(|_| String::new())?; Ok(()) }',
        0,
    ),
    ("fn check(x: i32, y: i32) { assert_eq!(f(x), y); } #[test] fn t() { check(1, 2); check(2, 3); }", 2),
    ("fn check(x: i32, y: i32) { assert_eq!(x, y); } #[test] fn t() { check(f(1), 2); check(3, 3); }", 1),
    ("fn check(x: i32) { assert_eq!(f(x), 2); } #[test] fn t() { f(1); }", 0),
    ("fn value() -> i32 { f(1) } #[test] fn t() { assert_eq!(value(), 2); }", 1),
    ("fn not_a_test() { assert_eq!(f(1), 2); }", 0),
    ("#[test] #[ignore] fn t() { assert_eq!(f(1), 2); }", 0),
    ("#[test] #[cfg(any())] fn t() { assert_eq!(f(1), 2); }", 0),
    ("#[test] #[cfg(all(test, not(windows)))] fn t() { assert_eq!(f(1), 2); }", 1),
    ("mod a { mod b { use crate::*; #[test] fn t() { assert_eq!(f(1), 2); } } }", 1),
    ("/// ```\n/// assert_eq!(f(1), 2);\n/// ```\n#[test] fn t() { f(1); }", 0),
]


@pytest.mark.parametrize(("items", "count"), RUST_ITEMS)
def test_rust_items(items: str, count: int) -> None:
    assert count_assertions(RUST % items) == count


def test_tests_of_a_file_without_the_code() -> None:
    rust = (
        'use acronym::abbreviate;\n#[test]\nfn t() { assert_eq!(abbreviate("a b"), "AB"); assert!(1 < 2); }\n'
    )
    assert count_assertions(rust) == 1


HOLDS = [
    (RUST % "#[test] fn t() { assert_eq!(f(1), 2); }", None),
    (RUST % "", "there is no test"),
    ("", "there is no test"),
    (RUST % "#[test] fn t() { }", "no test calls"),
    (RUST % "#[test] fn t() { assert_eq!(1 + 1, 2); }", "no test calls"),
    (RUST % "#[test] fn t() { f(1); assert!(true); }", "no assertion"),
    (RUST % "#[test] #[ignore] fn t() { assert_eq!(f(1), 2); }", "ignored"),
    (RUST % "#[test] fn t() { let _ = std::panic::catch_unwind(|| assert_eq!(f(1), 2)); }", "catch panics"),
    (RUST % "#[test] fn t() { assert_eq!(f(1), 2); std::process::exit(0); }", "end their process"),
    ((RUST % "#[test] fn t() { assert_eq!(f(1), 2); }").replace("cfg(test)", "cfg(any())"), "removed by a cfg"),
    ("#![cfg(any())]" + RUST % "#[test] fn t() { assert_eq!(f(1), 2); }", "removed by a cfg"),
    (RUST % "#[test] #[cfg(windows)] fn s() {} #[test] fn t() { assert_eq!(f(1), 2); }", None),
    (RUST % "#![cfg(not(test))] #[test] fn t() { assert_eq!(f(1), 2); }", "differs"),
    (RUST % "#[test] #[cfg_attr(test, ignore)] fn t() { assert_eq!(f(1), 2); }", "changes what"),
    ("#[cfg(test)] fn f() -> i32 { 1 } #[cfg(not(test))] fn f() -> i32 { 2 }" + RUST % "#[test] fn t() { f(); }",
     "differs"),
    ("#[cfg(not(any(test, windows)))] fn f() -> i32 { 2 }" + RUST % "#[test] fn t() { f(); }", "differs"),
    ("#[cfg(any(test, unix))] fn h() {}" + RUST % "#[test] fn t() { assert_eq!(f(1), 2); }", None),
    (RUST % "#[test] fn t() { assert_eq!(f(include_str!(\"lib.rs\").len() as i32), 999); }", "own source"),
    ("macro_rules! unused { () => { #[test] fn t() {} } }" + RUST % "#[test] fn t() { f(1); }", "no assertion"),
    ("macro_rules! used { () => { #[test] fn t() { assert_eq!(f(1), 2); } } } used!();" + RUST % "", None),
    ("fn h() -> bool { cfg!(test) }" + RUST % "#[test] fn t() { assert!(h()); }", "differs"),
    ("x" * 100_000, "longer"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "reason"), HOLDS)
def test_reasons(code: str, reason: str | None) -> None:
    said = own_tests_hold(code)
    assert said is None if reason is None else said is not None and reason in said
