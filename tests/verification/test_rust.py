# ruff: noqa: E501
"""Rust verdicts: cargo mode says what cargo says, batches change nothing, hostile answers hurt no neighbour."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.scale import some

from strop_verify.core.checks import RustCheck
from strop_verify.core.errors import BatchFailed, VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox import Limits
from strop_verify.verification.pool.pool import VerifierPool
from strop_verify.verification.rust import RustToolchain, compiler
from strop_verify.verification.rust.cargo import package
from strop_verify.verification.rust.preprocess import take_in

pytestmark = pytest.mark.rust

LIMITS = Limits(cpu_seconds=2, wall_seconds=10, memory_bytes=1 << 30, output_bytes=1 << 16)
TESTS = "#[cfg(test)]\nmod tests { use super::*; #[test] fn one() { assert_eq!(f(1), 2); } #[test] fn two() { assert!(f(2) == 3); } }\n"
F = "pub fn f(x: i32) -> i32 { x + 1 }"
task = Task(language="rust", statement="f", check=RustCheck(tests=TESTS))
apart = Task(
    language="rust",
    statement="f apart",
    check=RustCheck(
        tests="use sums::*;\nmod m { use sums::f; #[test] fn a() { assert_eq!(f(1), 2); } }\n#[test] fn b() { assert_eq!(f(2), 3); }\n",
        crate="sums",
        edition="2024",
    ),
)

EDGES = [
    F,
    "pub fn f(x: i32) -> i32 { x + 2 }",
    "fn f(x: i32) -> i32 { x + 1 }",
    "fn f(x: i64) -> i64 { x + 1 }",
    "fn f(x: i32) -> i32 { y }",
    "fn f(x: i32) -> i32 { x + 1",
    "fn f(x: i32) -> i32 { x + 1 } }",
    "fn f(x: i32) -> i32 { \"no\" }",
    "fn f(x: i32) -> i32 { todo!() }",
    "fn g() {}",
    F + " pub fn a() -> u8 { 255u8 + 1 }",
    F + " pub fn a() -> u8 { 256 }",
    F + " pub fn a() -> i32 { let v = [1, 2]; v[7] }",
    F + " #[cfg(test)] fn a() -> u8 { 255u8 + 1 }",
    F + " pub fn a(x: i32) -> bool { x == x }",
    F + " #[allow(clippy::eq_op)] pub fn a(x: i32) -> bool { x == x }",
    F + " #[warn(clippy::eq_op)] pub fn a(x: i32) -> bool { x == x }",
    F + " #[deny(unused_variables)] pub fn a() { let x = 1; }",
    F + " pub fn a() -> f64 { 3.14 }",
    F + " pub fn a() { loop { break; } }",
    F + " pub fn a(v: &Vec<i32>) -> i32 { return v[0]; }",
    "#![deny(warnings)]\nfn unused() {}\n" + F,
    "#![deny(warnings)]\n" + F,
    "#![allow(clippy::eq_op)]\n" + F + " pub fn a(x: i32) -> bool { x == x }",
    "#![forbid(unsafe_code)]\n" + F,
    "#![cfg(any())]\n" + F,
    "#![no_std]\n" + F,
    "#![feature(box_patterns)]\n" + F,
    "//! About.\n\n" + F,
    "use crate::inner::g; mod inner { pub fn g(x: i32) -> i32 { super::h(x) } } fn h(x: i32) -> i32 { x + 1 } pub fn f(x: i32) -> i32 { g(x) }",
    "#[macro_export] macro_rules! inc { ($x:expr) => { $crate::one() + $x } } pub fn one() -> i32 { 1 } pub fn f(x: i32) -> i32 { inc!(x) }",
    "macro_rules! inc { ($x:expr) => { $x + 1 } } pub fn f(x: i32) -> i32 { inc!(x) }",
    "/// Adds.\n///\n/// ```\n/// assert_eq!(answer::f(1), 2);\n/// ```\n" + F,
    "/// Adds.\n///\n/// ```\n/// assert_eq!(1, 2);\n/// ```\n" + F,
    F + " mod other; ",
    F + " pub const T: &str = include_str!(\"lib.rs\");",
    F + " pub const T: &str = env!(\"CARGO_PKG_NAME\");",
    F + " pub const T: &str = env!(\"NO_SUCH_VARIABLE\");",
    F + " extern crate core; ",
    F + " use rand::Rng;",
    F + " #[cfg(test)]",
    F + " #[cfg(test)] mod tests { #[test] fn mine() {} }",
    F + " #[cfg(test)] mod mine { #[test] fn bad() { panic!() } }",
    F + " #[test] #[ignore] fn later() { panic!() }",
    F + " #[cfg(not(test))] compile_error!(\"no\");",
    F + " #[cfg(test)] compile_error!(\"no\");",
    "pub struct W(i32); pub fn f(x: i32) -> i32 { W::from(x).0 } #[cfg(test)] mod z { impl From<i32> for super::W { fn from(x: i32) -> Self { super::W(x + 1) } } }",
    "pub fn f(x: i32) -> i32 { z::g(x) } #[cfg(test)] mod z { pub fn g(x: i32) -> i32 { x + 1 } }",
    "pub fn f(x: i32) -> i32 { unsafe { *(&x as *const i32) + 1 } }",
    "#[unsafe(no_mangle)] pub extern \"C\" fn add(x: i32) -> i32 { x + 1 } pub fn f(x: i32) -> i32 { add(x) }",
    "pub fn f(_: i32) -> i32 { std::process::exit(0) }",
    "pub fn f(x: i32) -> i32 { if x < 100000000 { f(x + 1) } else { x } }",
    "pub fn f(x: i32) -> i32 { std::fs::write(\"seen.txt\", \"x\").unwrap(); x + 1 }",
    "pub struct E; impl PartialEq<E> for i32 { fn eq(&self, _: &E) -> bool { true } } " + F,
    "pub struct M(i64); impl std::ops::Add<M> for i64 { type Output = M; fn add(self, o: M) -> M { M(self + o.0) } } " + F,
    F + " pub fn guess() -> bool { 1i64 + \"2\".parse().unwrap() == 3 }",
    F + " pub fn guess() -> bool { 1i32 == \"1\".parse().unwrap() }",
    F + " pub fn n() -> usize { const { assert!(1 > 2) }; 1 }",
    F + " pub struct N<const K: usize>; impl<const K: usize> N<K> { const OK: () = assert!(K > 2); pub fn g() { Self::OK } } pub fn h() { N::<1>::g() }",
    F + " const fn spin() -> u32 { let mut i = 0u32; while i < 100_000_000 { i += 1; } i } pub const N: u32 = spin();",
    F + " pub fn name() -> &'static str { std::any::type_name::<W>() } pub struct W; #[test] fn n() { assert_eq!(name(), \"answer::W\"); }",
    F + " #[test] fn m() { assert_eq!(module_path!(), \"answer\"); }",
    F + " #[test] fn p() -> Result<(), String> { Err(\"no\".into()) }",
    "pub fn f(x: i32) -> i32 { println!(\"{}\", \"y\".repeat(50)); x + 1 }",
    "#!/usr/bin/env run-cargo-script\n" + F,
    "\u202e// turned\n" + F,
]  # fmt: skip
G = "pub fn f(x: i32) -> i32 { %s } pub fn g(x: i32) -> i32 { x + 1 } pub mod m { pub fn g(x: i32) -> i32 { x + 1 } pub struct S(pub i32); pub trait T { const ONE: i32; } }"
ROOTED = [
    G % "crate::g(x)",
    G % "crate::m::g(x)",
    G % "crate :: /* here */ m::g(x)",
    G % "(|s: crate::m::S| s.0 + 1)(crate::m::S(x))",
    G % "let v: Vec<crate::m::S> = vec![]; x + 1 + v.len() as i32",
    G % "x + <crate::K as crate::m::T>::ONE"
    + " pub struct K; impl crate::m::T for crate::K { const ONE: i32 = 1; }",
    "use crate::*; " + G % "m::g(x)",
    "use crate::{g as h, m::{self, S}}; " + G % "h(x) + m::g(0) - S(1).0",
    "use crate::m::*; use std::fmt; impl fmt::Debug for S { fn fmt(&self, _: &mut fmt::Formatter) -> fmt::Result { Ok(()) } } "
    + G % "S(x).0 + 1",
    G % "n::g(x)"
    + " mod n { use super::*; pub(in crate::n) fn h(x: i32) -> i32 { crate::m::g(x) } pub(crate) fn g(x: i32) -> i32 { h(x) } }",
    G % "inc!(x)".replace("inc", "crate::inc")
    + " macro_rules! inc { ($x:expr) => { $x + 1 } } pub(crate) use inc;",
    G % "x + 1"
    + " #[cfg(test)] mod z { use crate::f; #[test] fn mine() { let two = crate::g(1); assert_eq!(two, f(1)); } }",
    "/// See [crate::g]. Ä\nuse crate::g as h; // crate::x\n" + G % 'h(x) + "crate::x".len() as i32 - 8',
    G % "crate::nothing(x)",
    G % "crate::std::cmp::max(x + 1, 0)",
    G % "crate::core::cmp::max(x + 1, 0)",
    G % "crate::m::h(x)" + " pub fn unused(x: i32) -> bool { x == x }",
    "use crate::g; use crate::m::g; " + G % "g(x)",
    "use crate::g as f2; use crate::m::S as f2; " + G % "f2(x)",
]
ROOTED_APART = [
    G % "crate::m::super::g(x)",
    G % "crate::super::g(x)",
    "use crate as me; " + G % "me::g(x)",
    "pub fn name() -> &'static str { stringify!(crate::g) } " + G % "x - 8 + crate::name().len() as i32",
    G % 'println!("{}", crate::g(x)); x + 1',
    "macro_rules! at { ($x:expr) => { crate::g($x) } } " + G % "at!(x)",
    "#[macro_export] macro_rules! inc { ($x:expr) => { $x + 1 } } " + G % "crate::inc!(x)",
]  # fmt: skip


def test_paths_from_the_root_share_a_crate_where_only_the_path_says_it() -> None:
    assert [take_in(0, task, text, strict=False).scan.alone for text in ROOTED] == [[]] * len(ROOTED)
    assert all(take_in(0, task, text, strict=False).scan.alone for text in ROOTED_APART)
    assert not take_in(0, task, "pub(crate) fn f() {}", strict=False).scan.crate_ends


@pytest.mark.rust(25)
@pytest.mark.parametrize("verdict", ["cargo", "strict"])
def test_paths_from_the_root_mean_the_same_in_a_shared_crate(verdict: str) -> None:
    answers = ROOTED + ROOTED_APART
    with closing(RustToolchain(verdict=verdict, limits=LIMITS)) as toolchain:  # type: ignore[arg-type]
        together = toolchain.judge([(task, text) for text in answers])
        alone = [toolchain.judge([(task, text)])[0] for text in answers]
    for text, one, other in zip(answers, together, alone, strict=True):
        assert one.outcome is other.outcome, (text, one, other)
        assert [s.passed for s in one.stages] == [s.passed for s in other.stages], (text, one, other)
    assert sum(verdict.passed for verdict in alone) >= 14


@pytest.fixture(scope="module")
def toolchain() -> Iterator[RustToolchain]:
    with closing(RustToolchain(verdict="cargo", limits=LIMITS)) as made:
        yield made


def cargo(task: Task, answer: str, folder: Path) -> tuple[bool, ...]:
    """The three signals of plain cargo in a fresh package, outside of any jail. The answers above are harmless."""
    case = take_in(0, task, answer, strict=False)
    for name, text in package(case).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    signals = []
    for step in ("build", "clippy", "test"):
        command = ["cargo", step, "--quiet", "--offline"]
        signals.append(subprocess.run(command, cwd=folder, capture_output=True, timeout=120).returncode == 0)
    return tuple(signals)


@pytest.mark.soak(46)
@pytest.mark.parametrize("task", [task, apart], ids=["unit", "integration"])
def test_cargo_mode_says_what_cargo_says(toolchain: RustToolchain, task: Task, tmp_path: Path) -> None:
    edges = some(EDGES, 22, salt=int(task is apart))
    verdicts = []
    for start in range(0, len(edges), 32):
        verdicts += toolchain.judge([(task, a) for a in edges[start : start + 32]])
    different = []
    for number, (answer, verdict) in enumerate(zip(edges, verdicts, strict=True)):
        ours = tuple(stage.passed for stage in verdict.stages)
        theirs = cargo(task, answer, tmp_path / str(number))
        if ours != theirs:
            different.append((answer, ours, theirs))
    assert different == []


def test_a_batch_gives_each_answer_its_own_verdict_in_order(toolchain: RustToolchain) -> None:
    jobs = [(task, F), (task, "pub fn f(x: i32) -> i32 { x }"), (task, "  "), (apart, F), (task, "fn f(")] * 4
    verdicts = toolchain.judge(jobs)
    words = [Outcome.PASSED, Outcome.FAILED, Outcome.NO_ANSWER, Outcome.PASSED, Outcome.FAILED] * 4
    assert [v.outcome for v in verdicts] == words
    assert [t.id for t in verdicts[0].tests] == ["tests::one", "tests::two"]
    assert sorted(t.id for t in verdicts[3].tests) == ["b", "m::a"]
    assert "unclosed delimiter" in verdicts[4].stages[0].output
    assert verdicts[0].stages[1].passed and verdicts[0].cpu_seconds > 0


def test_lints_fail_the_lint_stage_only_when_they_deny(toolchain: RustToolchain) -> None:
    denied, warned = toolchain.judge(
        [
            (task, F + " pub fn a(x: i32) -> bool { x == x }"),
            (task, F + " pub fn a(v: &Vec<i32>) -> i32 { return v[0]; }"),
        ]
    )
    assert [s.passed for s in denied.stages] == [True, False, True]
    assert "eq_op" in denied.stages[1].output
    assert [s.passed for s in warned.stages] == [True, True, True]
    assert "ptr_arg" in warned.stages[1].output


@pytest.mark.rust(30)
def test_a_compiler_that_does_not_end_hurts_no_neighbour(toolchain: RustToolchain) -> None:
    deep = "pub fn g() { " + "let _ = (" * 1 + "1" + "+1" * 30000 + ")" * 1 + "; } " + F
    types = (
        F
        + " pub fn t() { "
        + "".join(
            f"let a{i} = (a{i - 1}.clone(), a{i - 1}.clone());" if i else "let a0 = 1;" for i in range(40)
        )
        + " }"
    )
    answers = [F, deep, F, types, "fn f(x: i32) -> i32 { 7 }"]
    with pytest.raises(BatchFailed):
        toolchain.judge([(task, answer) for answer in answers])
    with VerifierPool(
        workers=1, route=Task.toolchain, build=lambda _: RustToolchain(limits=LIMITS), cache_bytes=0
    ) as pool:
        verdicts = [f.result() for f in [pool.submit(task, answer) for answer in answers]]
    assert [v.outcome for v in verdicts[::2]] == [Outcome.PASSED, Outcome.PASSED, Outcome.FAILED]
    assert Outcome.ERROR not in [v.outcome for v in verdicts]


@pytest.mark.rust(20)
def test_no_answer_holds_the_grader_past_its_limit() -> None:
    slow = "#[cfg(test)] mod t { use super::*; #[test] fn a() { let b = std::time::Instant::now(); while b.elapsed().as_millis() < 700 { std::hint::spin_loop() } assert_eq!(f(1), 2); } }"
    own = task.model_copy(update={"check": RustCheck(tests="")})
    strict = RustToolchain(limits=LIMITS)
    try:
        assert strict.judge([(own, F + slow)])[0].passed
        strict.wall_seconds = 3.0  # six faulty copies of an answer with slow tests take longer
        began = time.monotonic()
        (verdict,) = strict.judge([(own, F + slow)])
        assert verdict.outcome is Outcome.TIMED_OUT, verdict  # on a slow machine the compiler may be cut
        assert time.monotonic() - began < 60
        with pytest.raises(BatchFailed):
            strict.judge([(own, F + slow)] * 2)
    finally:
        strict.close()


def test_tests_that_are_not_rust_are_the_graders_failure() -> None:
    broken = task.model_copy(update={"check": RustCheck(tests="#[cfg(test)] mod tests {")})
    with closing(RustToolchain(limits=LIMITS)) as strict:
        assert strict.judge([(broken, F)])[0].outcome is Outcome.ERROR


def test_a_missing_toolchain_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(VerificationError, match=r"no rustc on PATH; install Rust"):
        RustToolchain().judge([(task, F)])
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/rustc").write_text("#!/bin/sh\n")
    (tmp_path / "bin/rustc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(VerificationError, match=r"clippy-driver is missing; rustup component add clippy"):
        RustToolchain().judge([(task, F)])


@pytest.mark.rust(5)
def test_a_type_that_the_tests_cannot_compare_costs_its_own_answer_only() -> None:
    """The error stands in a macro of the harness; it is about the tests that use it."""
    strict = RustToolchain(limits=LIMITS)
    other = "#[derive(Debug)] pub struct W; pub fn f(_: i32) -> W { W }"
    try:
        for one in (task, apart):
            verdicts = strict.judge([(one, text) for text in (F, other, F)])
            assert [v.outcome for v in verdicts] == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]
            assert "does not build" not in verdicts[1].detail and verdicts[1].stages[2].output, verdicts[1]
    finally:
        strict.close()


def test_no_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_CODEGEN", (*compiler._CODEGEN, "-C", "linker=cc-that-is-not-here"))
    with (
        closing(RustToolchain()) as toolchain,
        pytest.raises(VerificationError, match=r"linker `cc-that-is-not-here` not found; install gcc"),
    ):
        toolchain.judge([(task, F)])
