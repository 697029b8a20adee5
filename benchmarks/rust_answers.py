# ruff: noqa: E501
"""Varied Rust answers for measurements: correct, wrong, not compiling, with lints, panics, traits and macros.
Seeded."""

import random
import re
from collections.abc import Callable
from pathlib import Path

from strop.tasks import load_tasks
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task

_SWAPS = [("+", "-"), ("<", "<="), ("==", "!="), ("&&", "||"), (" 1", " 2"), (" 0", " 1"), (".iter()", ".into_iter()"),
          ("&", ""), ("mut ", ""), ("usize", "i32"), ("i32", "i64"), (";", ""), ("(", ""), ("}", ""), ("let ", "let mut "),
          ("return ", ""), ("String", "str"), ("Vec<", "Option<"), ("if ", "while "), (".len()", ".count()")]  # fmt: skip
_LINTS = [
    "pub fn lint_a(x: i32) -> bool { x == x }",
    "pub fn lint_b(x: u32) -> bool { x < 0 }",
    "pub fn lint_c() -> f64 { 3.14 }",
    "pub fn lint_d() { loop { break; } }",
    "pub fn lint_e(v: &Vec<i32>) -> i32 { return v.len() as i32; }",
    "pub fn lint_f(x: &mut i32) { *x = *x; }",
    "pub fn lint_g() -> u8 { 255u8 + 1 }",
    "pub fn lint_h() -> i32 { let a = [1, 2]; a[5] }",
    "pub fn lint_i() -> u8 { 256 }",
    "pub fn lint_j(s: &str) -> bool { s.is_empty() && !s.is_empty() || true }",
    "pub fn lint_k(x: i32) -> i32 { if x > 1 { 1 } else if x > 1 { 2 } else { 3 } }",
]
_ITEMS = [
    "macro_rules! twice { ($x:expr) => { $x + $x }; }\npub fn m(x: i32) -> i32 { twice!(x) }",
    "pub trait Shape { fn area(&self) -> f64; }\npub struct Square(pub f64);\n"
    "impl Shape for Square { fn area(&self) -> f64 { self.0 * self.0 } }",
    "#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum Kind { A, B(i32) }",
    "pub struct Wrapper<T>(pub Vec<T>);\nimpl<T> std::ops::Deref for Wrapper<T> { type Target = Vec<T>; "
    "fn deref(&self) -> &Vec<T> { &self.0 } }",
    "pub struct Money(pub i64);\nimpl From<i64> for Money { fn from(x: i64) -> Self { Money(x) } }\n"
    "impl std::fmt::Display for Money { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result "
    "{ write!(f, \"{}\", self.0) } }",
    "impl std::ops::Add<Money2> for i64 { type Output = Money2; fn add(self, o: Money2) -> Money2 { Money2(self + o.0) } }\n"
    "pub struct Money2(pub i64);",
    "pub struct E;\nimpl PartialEq<E> for i32 { fn eq(&self, _: &E) -> bool { true } }",
    "pub struct V;\nimpl std::iter::FromIterator<i32> for V { fn from_iter<I: IntoIterator<Item = i32>>(_: I) -> V { V } }",
    "pub fn ambiguous() -> usize { \"1\".parse().unwrap() }",
    "pub fn sum_of(v: &[i64]) -> i64 { v.iter().sum() }",
    "pub(crate) const LIMIT: usize = 10;\npub fn below(x: usize) -> bool { x < LIMIT }",
    "use std::collections::BTreeMap;\npub fn counts(s: &str) -> BTreeMap<char, usize> "
    "{ let mut m = BTreeMap::new(); for c in s.chars() { *m.entry(c).or_default() += 1; } m }",
    "/// Doubles.\npub fn doubled(x: i32) -> i32 { x * 2 }",
    "#![allow(dead_code)]",
    "pub fn own(x: i32) -> i32 { crate::helper(x) }\nfn helper(x: i32) -> i32 { x }",
    "#[cfg(test)]\nmod own_tests { #[test] fn fine() { assert_eq!(1 + 1, 2); } }",
    "pub static mut COUNT: u32 = 0;\npub fn bump() -> u32 { unsafe { COUNT += 1; COUNT } }",
]  # fmt: skip


def varied(task: Task, rng: random.Random) -> str:
    """One answer to a task that has a reference; every kind occurs."""
    kinds: list[Callable[[str, random.Random], str]] = [
        lambda text, _: text, lambda text, _: text, _swap, _swap, _swap, _without_line, _stub,
        lambda text, r: f"{text}\n{r.choice(_LINTS)}\n", _with_item, lambda text, r: _swap(_with_item(text, r), r),
        lambda text, r: text[: r.randrange(len(text) // 2, len(text))],
    ]  # fmt: skip
    return rng.choice(kinds)(task.reference, rng)


def _swap(text: str, rng: random.Random) -> str:
    options = [(m.start(), old, new) for old, new in _SWAPS for m in re.finditer(re.escape(old), text)]
    lines = [i for i, old, _ in options if text.rfind("\n", 0, i) >= 0]
    if not lines:
        return text
    start, old, new = rng.choice(options)
    return text[:start] + new + text[start + len(old) :]


def _without_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return "".join(lines)


def _stub(text: str, rng: random.Random) -> str:
    body = rng.choice(["todo!()", "unimplemented!()", 'panic!("no")', "loop {}", "Default::default()", ""])
    if body == "loop {}" and rng.random() < 0.8:
        body = "todo!()"
    heads = list(re.finditer(r"\bfn \w[^{;]*\{", text))
    head = heads[-1] if heads else None
    return text if head is None else f"{text[: head.end()]} {body} }}\n"


def _with_item(text: str, rng: random.Random) -> str:
    item = rng.choice(_ITEMS)
    return f"{item}\n{text}" if item.startswith("#!") or rng.random() < 0.5 else f"{text}\n{item}\n"


def answers(source: str, count: int, seed: int) -> list[tuple[Task, str]]:
    """`count` (task, answer) pairs over the tasks of a source, in turn."""
    tasks = [task for task in load_tasks(source) if task.reference]
    rng = random.Random(seed)
    return [(tasks[i % len(tasks)], varied(tasks[i % len(tasks)], rng)) for i in range(count)]


def builtin(count: int, seed: int) -> list[tuple[Task, str]]:
    """The same from a few tasks in this file, if no data set is available."""
    rng = random.Random(seed)
    tasks = [
        Task(language="rust", statement=name, reference=code,
             check=RustCheck(tests=f"#[cfg(test)]\nmod tests {{ use super::*; #[test] fn works() {{ {test} }} }}"))
        for name, code, test in _SMALL
    ]  # fmt: skip
    return [(tasks[i % len(tasks)], varied(tasks[i % len(tasks)], rng)) for i in range(count)]


_SMALL = [
    ("largest", "pub fn largest(v: &[i32]) -> Option<i32> {\n    v.iter().copied().max()\n}\n",
     "assert_eq!(largest(&[1, 3, 2]), Some(3)); assert_eq!(largest(&[]), None);"),
    ("vowels", "pub fn vowels(s: &str) -> usize {\n    s.chars().filter(|c| \"aeiou\".contains(*c)).count()\n}\n",
     "assert_eq!(vowels(\"education\"), 5); assert_eq!(vowels(\"xyz\"), 0);"),
    ("gcd", "pub fn gcd(mut a: u64, mut b: u64) -> u64 {\n    while b != 0 {\n        (a, b) = (b, a % b);\n    }\n    a\n}\n",
     "assert_eq!(gcd(12, 18), 6); assert_eq!(gcd(7, 0), 7);"),
    ("words", "use std::collections::HashMap;\n\npub fn words(s: &str) -> HashMap<String, usize> {\n"
     "    let mut found = HashMap::new();\n    for word in s.split_whitespace() {\n"
     "        *found.entry(word.to_string()).or_insert(0) += 1;\n    }\n    found\n}\n",
     "assert_eq!(words(\"a b a\")[\"a\"], 2); assert_eq!(words(\"\").len(), 0);"),
]  # fmt: skip


def source_of(path: Path, exercism: bool) -> str:
    """The name under which Strop loads that file."""
    return f"{'exercism-rust' if exercism else 'humaneval-rust'}:{path}"
