"""Counting assertions: tables made by hand, each line one trick."""

import pytest

from strop.verification.strength import count_assertions, find_tests, own_tests_hold

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

PYTHON = """
import unittest
import pytest
from contextlib import suppress

def f(x):
    return x + 1

class Stack:
    def __init__(self):
        self.items = []

%s
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
    assert count_assertions(code, "rust") == count


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
    assert count_assertions(RUST % items, "rust") == count


PYTHON_BODIES = [
    ("assert f(1) == 2", 1),
    ("assert f(1) == 2, 'message'", 1),
    ("r = f(1)\n    s = r * 2\n    assert s == 4", 1),
    ("for a, b in [(1, 2), (3, 4)]:\n        assert f(a) == b", 1),
    ("assert [f(x) for x in (1, 2)] == [2, 3]", 1),
    ("with pytest.raises(TypeError):\n        f('x')", 1),
    ("with pytest.raises(TypeError) as e:\n        f('x')\n    assert 'str' in str(e.value)", 2),
    ("s = Stack()\n    assert s.items == []", 1),
    ("if f(1) != 2:\n        pytest.fail('no')", 1),
    ("if f(1) != 2:\n        raise AssertionError", 1),
    ("xs = [1]\n    f(xs)\n    assert xs == [1, 2]", 1),
    ("assert True", 0),
    ("assert 1 == 1", 0),
    ("assert f(1) == f(1)", 0),
    ("assert f(1) == 2 or True", 0),
    ("assert (f(1) == 2, 'always true')", 0),
    ("assert f", 0),
    ("assert 'f(1) == 2'", 0),
    ("assert not False", 0),
    ("x = 1\n    assert x == 1\n    f(1)", 0),
    ("# assert f(1) == 2\n    f(1)", 0),
    ("'''assert f(1) == 2'''", 0),
    ("if False:\n        assert f(1) == 2", 0),
    ("while False:\n        assert f(1) == 2", 0),
    ("return\n    assert f(1) == 2", 0),
    ("pytest.skip('x')\n    assert f(1) == 2", 0),
    ("for x in []:\n        assert f(x) == 2", 0),
    ("try:\n        assert f(1) == 2\n    except AssertionError:\n        pass", 0),
    ("try:\n        assert f(1) == 2\n    except:\n        pass", 0),
    ("try:\n        assert f(1) == 2\n    except Exception as e:\n        raise", 1),
    ("try:\n        assert f(1) == 2\n    except ValueError:\n        pass", 1),
    ("with suppress(AssertionError):\n        assert f(1) == 2", 0),
    ("def inner():\n        assert f(1) == 2", 0),
    ("def inner():\n        assert f(1) == 2\n    inner()", 1),
    ("assert f(1) == 2\n    assert f(1)  ==  2", 1),
    ("with pytest.raises(TypeError):\n        int([])", 0),
]


@pytest.mark.parametrize(("body", "count"), PYTHON_BODIES)
def test_python_bodies(body: str, count: int) -> None:
    code = PYTHON % f"def test_it():\n    {body}\n"
    assert count_assertions(code, "python") == count


PYTHON_ITEMS = [
    ("class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n", 1),
    ("class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(2, 2)\n        f(1)\n", 0),
    ("class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), f(1))\n", 0),
    ("class T(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(True, f(1))\n", 0),
    ("class T(unittest.TestCase):\n    def test_a(self):\n        self.assertRaises(TypeError, f, 'x')\n", 1),
    ("class T(unittest.TestCase):\n    def setUp(self):\n        self.s = Stack()\n"
     "    def test_a(self):\n        self.assertEqual(self.s.items, [])\n", 1),
    ("@pytest.fixture\ndef stack():\n    return Stack()\ndef test_a(stack):\n    assert stack.items == []\n", 1),
    ("@pytest.mark.parametrize('a,b', [(1, 2)])\ndef test_a(a, b):\n    assert f(a) == b\n", 1),
    ("@pytest.mark.skip\ndef test_a():\n    assert f(1) == 2\n", 0),
    ("@unittest.expectedFailure\ndef test_a():\n    assert f(1) == 2\n", 0),
    ("def check(a, b):\n    assert a == b\ndef test_a():\n    check(f(1), 2)\n    check(1, 1)\n", 1),
    ("assert f(1) == 2\n", 0),
    ("def helper():\n    assert f(1) == 2\n", 0),
    ("pytestmark = pytest.mark.skip\ndef test_a():\n    assert f(1) == 2\n", 0),
]  # fmt: skip


@pytest.mark.parametrize(("items", "count"), PYTHON_ITEMS)
def test_python_items(items: str, count: int) -> None:
    assert count_assertions(PYTHON % items, "python") == count


def test_names_are_those_of_the_runner() -> None:
    code = (
        RUST
        % '#[test] fn a() {} mod deep { #[test] #[ignore = "slow"] fn b() {} } #[test] #[should_panic] fn c() {}'
    )
    found = find_tests(code, "rust")
    assert [t.name for t in found] == ["tests::a", "tests::deep::b", "tests::c"]
    assert [t.ignored for t in found] == [False, True, False]
    assert [t.should_panic for t in found] == [False, False, True]
    assert [code[slice(*t.span)] for t in found] == ["fn a() {}", "fn b() {}", "fn c() {}"]
    code = PYTHON % "def test_é(): pass\nclass TestX:\n    def test_b(self): pass\n"
    found = find_tests(code, "python")
    assert [t.name for t in found] == ["test_é", "TestX::test_b"]
    assert [code[slice(*t.span)] for t in found] == ["def test_é(): pass", "def test_b(self): pass"]


def test_tests_of_a_file_without_the_code() -> None:
    rust = (
        'use acronym::abbreviate;\n#[test]\nfn t() { assert_eq!(abbreviate("a b"), "AB"); assert!(1 < 2); }\n'
    )
    python = "from acronym import abbreviate\ndef test_it():\n    assert abbreviate('a b') == 'AB'\n    assert 1 < 2\n"
    assert count_assertions(rust, "rust") == 1
    assert count_assertions(python, "python") == 1


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
    ((RUST % "#[test] fn t() { assert_eq!(f(1), 2); }").replace("cfg(test)", "cfg(any())"), "taken out by a cfg"),
    ("#![cfg(any())]" + RUST % "#[test] fn t() { assert_eq!(f(1), 2); }", "taken out by a cfg"),
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
    said = own_tests_hold(code, "rust")
    assert said is None if reason is None else said is not None and reason in said


PYTHON_HOLDS = [
    (PYTHON % "def test_a():\n    assert f(1) == 2\n", None),
    (PYTHON % "", "there is no test"),
    (PYTHON % "def test_a():\n    f(1)\n", "no assertion"),
    (PYTHON % "@pytest.mark.xfail\ndef test_a():\n    assert f(1) == 2\n", "ignored"),
    (PYTHON % "def test_a():\n    assert len(f.__code__.co_code) == 99\n", "own source"),
    (PYTHON % "import os\ndef test_a():\n    assert f(1) == 2\n    os._exit(0)\n", "end their process"),
]


@pytest.mark.parametrize(("code", "reason"), PYTHON_HOLDS)
def test_reasons_in_python(code: str, reason: str | None) -> None:
    said = own_tests_hold(code, "python")
    assert said is None if reason is None else said is not None and reason in said
