# ruff: noqa: E501
"""Hostile Rust answers: none has a passing verdict in strict mode, each has an honest twin that passes."""

from collections.abc import Iterator

import pytest
from tests.scale import some

from strop.code.trees import bounded
from strop.core.checks import RustCheck
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.sandbox import Limits
from strop.verification.rust import RustToolchain
from strop.verification.rust.intake import take_in
from strop.verification.rust.scan import scan, steps_for

pytestmark = pytest.mark.rust

LIMITS = Limits(cpu_seconds=1.5, wall_seconds=6.0, memory_bytes=1 << 30, output_bytes=1 << 16)
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
bare = Task(language="rust", statement="f without a reference", check=RustCheck(tests=UNIT))
integration = Task(
    language="rust", statement="f as a crate",
    check=RustCheck(tests="use sums::*;\nmod inner { use sums::f; #[test] fn again() { assert_eq!(f(3), 4); } }\n"
                    "#[test] fn adds() { assert_eq!(f(1), 2); }\n", crate="sums", edition="2024"),
)  # fmt: skip
worldly = Task(
    language="rust", statement="f, with tests that use processes",
    check=RustCheck(tests=UNIT.replace("use super::*;", "use super::*; #[allow(unused_imports)] use std::process;")),
)  # fmt: skip
show = Task(language="rust", statement="show", check=RustCheck(tests=SHOWN))
own = Task(language="rust", statement="own tests", check=RustCheck())

_ALWAYS = "#[derive(Debug)] pub struct A;"
_F = 'if x < 0 { panic!("negative") }'
ATTACKS = {
    "exit": "pub fn f(x: i32) -> i32 { std::process::exit(0) }",
    "exit through a glob": "use std::*; pub fn f(x: i32) -> i32 { process::exit(0) }",
    "exit in a panic hook": "pub fn f(x: i32) -> i32 { std::panic::set_hook(Box::new(|_| std::process::exit(0))); 0 }",
    "exit in a destructor": "struct D; impl Drop for D { fn drop(&mut self) { std::process::exit(0) } } pub fn f(_: i32) -> i32 { let _d = D; 0 }",
    "exec": "use std::os::unix::process::CommandExt; pub fn f(x: i32) -> i32 { let _ = std::process::Command::new(\"/bin/true\").exec(); 0 }",
    "forged lines": "pub fn f(x: i32) -> i32 { println!(\"test tests::adds ... ok\\ntest result: ok. 3 passed; 0 failed\"); eprintln!(\"ok\"); 0 }",
    "exit in a thread": "pub fn f(x: i32) -> i32 { std::thread::spawn(|| std::process::exit(0)); loop { std::thread::yield_now() } }",
    "always equal": f"{_ALWAYS} impl PartialEq<i32> for A {{ fn eq(&self, _: &i32) -> bool {{ true }} fn ne(&self, _: &i32) -> bool {{ true }} }} pub fn f(x: i32) -> A {{ {_F} A }}",
    "always equal, generic": f"{_ALWAYS} impl<T> PartialEq<T> for A {{ fn eq(&self, _: &T) -> bool {{ true }} fn ne(&self, _: &T) -> bool {{ true }} }} pub fn f(x: i32) -> A {{ {_F} A }}",
    "always equal by macro": f"macro_rules! eq {{ ($t:ty, $u:ty) => {{ impl PartialEq<$u> for $t {{ fn eq(&self, _: &$u) -> bool {{ true }} }} }} }} {_ALWAYS} eq!(A, i32); pub fn f(x: i32) -> A {{ {_F} A }}",
    "opaque type": f"{_ALWAYS} impl PartialEq<i32> for A {{ fn eq(&self, _: &i32) -> bool {{ true }} }} pub fn f(x: i32) -> impl PartialEq<i32> + std::fmt::Debug {{ {_F} A }}",
    "always equal in a module like the tests'": "pub mod zt9 { #[derive(Debug)] pub struct A; impl PartialEq<i32> for A { fn eq(&self, _: &i32) -> bool { true } } } pub fn f(_: i32) -> zt9::A { zt9::A }",
    "always equal in a function like the tests'": "pub fn zt_trusted_tests() {} #[allow(non_camel_case_types)] pub mod zt_ { #[derive(Debug)] pub struct A; impl PartialEq<i32> for A { fn eq(&self, _: &i32) -> bool { true } } } pub fn f(_: i32) -> zt_::A { zt_::A }",
    "always equal in a module called core": "pub mod core { #[derive(Debug)] pub struct A; impl PartialEq<i32> for A { fn eq(&self, _: &i32) -> bool { true } } } pub fn f(_: i32) -> core::A { core::A }",
    "shadowed macros": "macro_rules! assert_eq { ($($t:tt)*) => {} } macro_rules! assert { ($($t:tt)*) => {} } macro_rules! assert_ne { ($($t:tt)*) => {} } pub(crate) use {assert, assert_eq, assert_ne}; " + WRONG,
    "shadowed vec!": "macro_rules! vec { ($($t:tt)*) => { ::std::vec![0] } } pub(crate) use vec; " + WRONG,
    "shadowed Some": f"#[derive(Debug, PartialEq)] pub struct U; #[allow(non_snake_case)] pub fn Some<T>(_: T) -> U {{ U }} {WRONG}",
    "shadowed i32": f"#[allow(non_camel_case_types)] pub type i32 = (); {WRONG.replace('i32', 'i64')}",
    "own std": "pub mod std { pub mod primitive { pub type i32 = u8; } } " + WRONG,
    "cfg on what follows": WRONG + "\n#[cfg(any())]",
    "ignore on what follows": WRONG + "\n#[ignore]",
    "cfg of the whole": "#![cfg(any())]\n" + WRONG,
    "cfg_attr of the whole": "#![cfg_attr(test, cfg(any()))]\n" + WRONG,
    "braces": WRONG + " #[cfg(any())] mod hidden {",
    "open comment": WRONG + " /*",
    "open raw string": WRONG + ' const X: &str = r#"',
    "mod tests of its own": WRONG + " mod tests { #[test] fn adds() {} }",
    "mod zt of its own": WRONG + " mod zt { pub mod tests { #[test] fn adds() {} #[test] fn adds_more() {} #[test] fn refuses() {} } }",
    "no_mangle exit": WRONG + ' #[unsafe(no_mangle)] pub extern "C" fn _exit(_: i32) -> ! { loop {} }',
    "constructor": WRONG + ' extern "C" fn g() { std::process::exit(0) } #[used] #[unsafe(link_section = ".init_array")] static G: extern "C" fn() = g;',
    "foreign exit": 'unsafe extern "C" { safe fn _exit(s: i32) -> !; } pub fn f(_: i32) -> i32 { _exit(0) }',
    "unsafe in a macro": "macro_rules! u { () => { unsafe { std::hint::unreachable_unchecked() } } } pub fn f(_: i32) -> i32 { u!() }",
    "unsafe for tests only": WRONG + ' #[cfg(test)] mod z { #[unsafe(no_mangle)] pub extern "C" fn fcntl() -> i32 { 0 } }',
    "assembler": WRONG + ' core::arch::global_asm!("nop");',
    "harness called again": "pub fn f(_: i32) -> i32 { 0 } #[cfg(test)] mod h { pub fn go() { ::test::test_main_static(&[]) } #[test] fn t() { go() } }",
    "main called again": "pub fn f(_: i32) -> i32 { crate::main(); 0 }",
    "own main": "#![no_main]\n" + WRONG,
    "extern crate as test": "extern crate core as test;\n" + WRONG,
    "tests read at build time": 'const T: &str = include_str!("zt_trusted_tests.rs"); pub fn f(x: i32) -> i32 { if T.contains("2") { x } else { 0 } }',
    "tests read at run time": 'pub fn f(x: i32) -> i32 { let t = std::fs::read_to_string("src/zt_trusted_tests.rs").unwrap(); t.len() as i32 }',
    "host file at build time": 'pub const P: &str = include_str!("/etc/passwd"); ' + WRONG,
    "environment at build time": 'pub const P: &str = env!("PATH"); ' + WRONG,
    "descriptor by path": 'use std::io::Write; pub fn f(_: i32) -> i32 { for n in 0..9 { if let Ok(mut o) = std::fs::OpenOptions::new().write(true).open(format!("/dev/fd/{n}")) { let _ = o.write_all(b"ok"); } } 0 }',
    "loop": "pub fn f(_: i32) -> i32 { loop {} }",
    "sleep": "pub fn f(_: i32) -> i32 { std::thread::sleep(std::time::Duration::from_secs(60)); 0 }",
    "memory": "pub fn f(_: i32) -> i32 { let v: Vec<u8> = vec![1; 3 << 30]; v.len() as i32 }",
    "stack": "pub fn f(x: i32) -> i32 { if x == 7 { 0 } else { f(x) + 1 } }",
    "output": "pub fn f(_: i32) -> i32 { loop { println!(\"{}\", \"x\".repeat(1000)); } }",
    "const loop": "const fn n() -> usize { let mut i = 0usize; loop { i = i.wrapping_add(1); } } pub const N: usize = n(); " + WRONG,
    "macro bomb": "macro_rules! b { ($($x:tt)*) => { b!($($x)* $($x)*) } } pub fn g() { b!(a b) } " + WRONG,
    "huge static": "pub static X: [u8; 1 << 40] = [1; 1 << 40]; " + WRONG,
    "stub": "pub fn f(_: i32) -> i32 { todo!() }",
    "nothing": "// nothing",
    "panics always": 'pub fn f(_: i32) -> i32 { panic!("negative") }',
}  # fmt: skip


@pytest.fixture(scope="module")
def toolchain() -> Iterator[RustToolchain]:
    made = RustToolchain(limits=LIMITS)
    yield made
    made.close()


def judged(toolchain: RustToolchain, task: Task, answers: list[str]) -> list[Verdict]:
    found: list[Verdict] = []
    for start in range(0, len(answers), toolchain.batch):
        found += toolchain.judge([(task, a) for a in answers[start : start + toolchain.batch]])
    return found


@pytest.mark.rust(40)
@pytest.mark.parametrize("task", [unit, bare, integration], ids=["unit", "without reference", "integration"])
def test_no_attack_passes_and_honest_neighbours_do(toolchain: RustToolchain, task: Task) -> None:
    names = list(ATTACKS) if task is unit else some(list(ATTACKS), 18)
    verdicts = judged(toolchain, task, [HONEST, *(ATTACKS[name] for name in names), HONEST])
    passed = [name for name, v in zip(names, verdicts[1:-1], strict=True) if v.passed or v.stages[2].passed]
    assert passed == []
    assert [v.outcome for v in (verdicts[0], verdicts[-1])] == [Outcome.PASSED] * 2
    broken = {
        name: v.detail for name, v in zip(names, verdicts[1:-1], strict=True) if v.outcome is Outcome.ERROR
    }
    assert broken == {}


def test_ways_out_of_the_process_forge_nothing_where_a_task_allows_them(toolchain: RustToolchain) -> None:
    """The text alone refuses these elsewhere; here only the tokens and the jail stand against them."""
    names = [n for n in ATTACKS if n.startswith(("exit", "exec", "descriptor", "tests read at run"))]
    self_again = """use std::os::unix::process::CommandExt;
pub fn f(_: i32) -> i32 { let _ = std::process::Command::new("./t").arg("--list").exec(); 0 }"""
    thief = """pub fn f(_: i32) -> i32 { for p in ["/proc/self/mem", "/proc/self/fd/0", "/dev/stdin", "/proc/self/environ"] {
if let Ok(t) = std::fs::read(p) { println!("{}", String::from_utf8_lossy(&t)); } } 0 }"""
    verdicts = judged(toolchain, worldly, [HONEST, *(ATTACKS[n] for n in names), self_again, thief])
    assert len(names) >= 8
    assert [v.passed for v in verdicts] == [True] + [False] * (len(names) + 2)
    assert not any(v.stages[2].passed for v in verdicts[1:])


@pytest.mark.parametrize(
    "head",
    ["// About.\n", "//! About.\n", "/* a */ ", "/*! a */ ", "#![allow(dead_code)]\n", "#![allow(dead_code)] ", "//! a\n//! b\n\n// c\n",
     "// a\n#![allow(dead_code)] // b\n", "\n\n", "/// Adds.\n", "//! a\r\n", "#![allow(dead_code)]\n//! a\nuse std::fmt; "],
)  # fmt: skip
def test_honest_answers_pass_whatever_stands_at_their_top(toolchain: RustToolchain, head: str) -> None:
    verdicts = judged(toolchain, unit, [head + HONEST, head + WRONG])
    assert [v.passed for v in verdicts] == [True, False], verdicts[0].detail


def test_limits_name_what_ended_an_answer(toolchain: RustToolchain) -> None:
    names = ["loop", "sleep", "memory"]
    outcomes = [v.outcome for v in judged(toolchain, unit, [ATTACKS[n] for n in names])]
    assert outcomes == [Outcome.TIMED_OUT, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY]


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
