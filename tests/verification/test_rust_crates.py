# ruff: noqa: E501
"""Rust answers with third-party crates: linked in both modes, and no way to forge a pass."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox import Limits
from strop_verify.verification.rust import RustToolchain
from strop_verify.verification.rust.crates import crates_named
from strop_verify.verification.rust.equality import doubtful_types

pytestmark = pytest.mark.rust

LIMITS = Limits(cpu_seconds=2, wall_seconds=10, memory_bytes=1 << 30, output_bytes=1 << 16)
TESTS = "#[cfg(test)]\nmod tests { use super::*; #[test] fn one() { assert_eq!(f(1), 2); } #[test] fn two() { assert!(f(2) == 3); } }\n"
F = "pub fn f(x: i32) -> i32 { x + 1 }"
OFFERED = ["tiny", "early-bird", "helper", "broken", "gone", 'old = "2"']
HELPER = """use proc_macro::TokenStream;
#[proc_macro_derive(Loose)]
pub fn loose(item: TokenStream) -> TokenStream {
    let name = item.into_iter().skip_while(|t| !matches!(t.to_string().as_str(), "struct" | "enum")).nth(1).unwrap();
    format!("impl PartialEq for {name} {{ fn eq(&self, _: &{name}) -> bool {{ true }} }}").parse().unwrap()
}
"""


def vendored(folder: Path, name: str, code: str, version: str = "1.0.0", more: str = "") -> None:
    (folder / name / "src").mkdir(parents=True)
    text = f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n{more}'
    (folder / name / "Cargo.toml").write_text(text)
    (folder / name / "src/lib.rs").write_text(code)
    (folder / name / ".cargo-checksum.json").write_text('{"files":{},"package":null}')


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vendor folder: plain, with a dependency and a build script, a derive macro, one that runs before main, a broken one."""
    folder = tmp_path_factory.mktemp("vendor")
    vendored(folder, "base", "pub const ONE: i32 = 1;")
    vendored(
        folder,
        "tiny",
        'pub fn one() -> i32 { base::ONE + include!(concat!(env!("OUT_DIR"), "/zero.rs")) }\n'
        "#[derive(Debug, Clone, PartialEq)] pub struct Day(pub i32);\n"
        "impl PartialEq<i32> for Day { fn eq(&self, o: &i32) -> bool { self.0 == *o } }\n"
        "#[doc(hidden)] pub mod __private { pub use std::fs; }\n"
        "#[macro_export] macro_rules! same { ($($t:tt)*) => { $($t)* } }",
        more='[dependencies]\nbase = "1"\n',
    )
    (folder / "tiny/build.rs").write_text(
        'fn main() { std::fs::write(format!("{}/zero.rs", std::env::var("OUT_DIR").unwrap()), "0").unwrap(); }'
    )
    vendored(
        folder,
        "early-bird",
        '#[macro_export] macro_rules! first { ($f:ident) => { #[used] #[unsafe(link_section = ".init_array")]'
        ' static G: extern "C" fn() = { extern "C" fn g() { $f() } g }; } }',
    )
    vendored(folder, "helper", HELPER, more="[lib]\nproc-macro = true\n")
    vendored(folder, "broken", "pub fn f() -> u8 { true }")
    vendored(folder, "old", "", version="1.3.0")
    return folder


@pytest.fixture(scope="module")
def strict(shelf: Path) -> Iterator[RustToolchain]:
    made = RustToolchain(limits=LIMITS, vendor=shelf)
    yield made
    made.close()


def wanting(*crates: str, tests: str = TESTS, reference: str = "", crate: str = "") -> Task:
    check = RustCheck(tests=tests, crates=list(crates or OFFERED), crate=crate)
    return Task(language="rust", statement="f", reference=reference, check=check)


@pytest.mark.parametrize("mode", ["strict", "cargo"])
def test_answers_use_offered_crates_and_no_others(shelf: Path, mode: str) -> None:
    toolchain = RustToolchain(verdict=mode, limits=LIMITS, vendor=shelf)  # type: ignore[arg-type]
    answers = [
        "pub fn f(x: i32) -> i32 { x + tiny::one() }",
        "extern crate tiny; use tiny::one as unit; pub fn f(x: i32) -> i32 { x + unit() }",
        "#[tiny::nothing] pub fn f(x: i32) -> i32 { x + 1 }",
        "pub fn f(x: i32) -> i32 { x - tiny::one() }",
        "pub fn f(x: i32) -> i32 { x + base::ONE }",
        "use missing_crate::one; " + F,
        "/// `gone::x`\npub fn f(gone: i32) -> i32 { let broken = gone; broken + 1 }",
    ]
    try:
        verdicts = toolchain.judge([(wanting(), a) for a in answers])
    finally:
        toolchain.close()
    assert [v.passed for v in verdicts] == [True, True, False, False, False, False, True], [
        v.detail for v in verdicts
    ]
    assert Outcome.ERROR not in [v.outcome for v in verdicts]
    assert verdicts[3].stages[0].passed and not verdicts[4].stages[0].passed


def test_a_crate_that_is_not_there_is_an_error_that_says_why(strict: RustToolchain, shelf: Path) -> None:
    uses = {
        "gone": "it is not in the folder",
        "broken": "broken does not build",
        "old": "the folder has 1.3.0",
    }
    verdicts = strict.judge([(wanting(), f"use {name}::f as _;\n{F}") for name in uses])
    assert [v.outcome for v in verdicts] == [Outcome.ERROR] * 3
    for verdict, reason in zip(verdicts, uses.values(), strict=True):
        assert reason in verdict.detail and str(shelf) in verdict.detail
    bare = RustToolchain(limits=LIMITS)
    try:
        without, named = bare.judge([(wanting(), F), (wanting(), "use tiny::one as _; " + F)])
    finally:
        bare.close()
    assert without.passed and named.outcome is Outcome.ERROR and "sandbox.rust_vendor" in named.detail


def test_crates_whose_point_is_to_run_before_main_cannot_be_offered(strict: RustToolchain) -> None:
    (verdict,) = strict.judge([(wanting("ctor", "tiny"), "#[ctor::ctor] fn early() {} " + F)])
    assert verdict.outcome is Outcome.ERROR and "before main" in verdict.detail


def test_crates_forge_no_pass(strict: RustToolchain) -> None:
    side = "#[derive(Debug%s)] pub struct Side(pub i32); pub fn turn(_: Side) -> Side { Side(0) } "
    tests = "#[cfg(test)] mod tests { use super::*; #[test] fn t() { assert_eq!(turn(Side(1)), Side(2)); } }"
    turn = wanting(tests=tests)
    thief = 'fn steal() { let mut s = String::new(); while std::io::stdin().read_line(&mut s).unwrap_or(0) > 0 {} print!("{s}"); } '
    attacks = [
        (wanting(), thief + "early_bird::first!(steal); pub fn f(_: i32) -> i32 { 0 }"),
        (wanting(), 'pub fn f(_: i32) -> i32 { tiny::__private::fs::read("x").is_ok() as i32 }'),
        (wanting(), "extern crate tiny as test; pub fn f(_: i32) -> i32 { 0 }"),
        (wanting(), "extern crate base as tiny; pub fn f(_: i32) -> i32 { 0 }"),
        (turn, side % ", helper::Loose"),
        (turn, "use helper::Loose as PartialEq; " + side % ", PartialEq"),
        (turn, "use helper::*; " + side % ", Loose"),
        (
            turn,
            side % "" + "tiny::same! { impl PartialEq for Side { fn eq(&self, _: &Side) -> bool { true } } }",
        ),
    ]
    verdicts = strict.judge(attacks)
    assert [
        (a, v.detail) for (_, a), v in zip(attacks, verdicts, strict=True) if v.passed or v.stages[2].passed
    ] == []
    assert Outcome.ERROR not in [v.outcome for v in verdicts]
    assert verdicts[0].detail == "code that runs before main"
    honest = side.replace("Side(0)", "Side(2)")
    honest_verdicts = strict.judge([(turn, "use tiny::*; " + honest % ", PartialEq"), (turn, "use helper::Loose; " + honest.replace("pub struct", "pub struct") % ", PartialEq" + " #[derive(Loose)] pub struct Other;")])  # fmt: skip
    assert [v.passed for v in honest_verdicts] == [True, True], [v.detail for v in honest_verdicts]


def test_types_of_crates_compare_as_the_crate_says(strict: RustToolchain) -> None:
    tests = "#[cfg(test)] mod tests { use super::*; #[test] fn t() { assert_eq!(day(), 3); assert_eq!(day(), tiny::Day(3)); } }"
    task = wanting("tiny", tests=tests)
    lying = "#[derive(Debug)] pub struct D; impl PartialEq<i32> for D { fn eq(&self, _: &i32) -> bool { true } } impl PartialEq<tiny::Day> for D { fn eq(&self, _: &tiny::Day) -> bool { true } } pub fn day() -> D { D }"
    right, wrong, forged = strict.judge(
        [
            (task, "pub fn day() -> tiny::Day { tiny::Day(3) }"),
            (task, "pub fn day() -> tiny::Day { tiny::Day(4) }"),
            (task, lying),
        ]
    )
    assert right.passed and not wrong.passed and not forged.passed, right.detail


def test_assertion_macros_of_crates_become_the_harness_own(strict: RustToolchain) -> None:
    tests = "use sums::*;\nuse pretty_assertions::assert_eq;\n#[test] fn t() { assert_eq!(f(1), 2); }\n"
    task = wanting("pretty_assertions", tests=tests, crate="sums")
    lying = "#[derive(Debug)] pub struct A; impl PartialEq<i32> for A { fn eq(&self, _: &i32) -> bool { true } } pub fn f(_: i32) -> A { A }"
    honest, forged = strict.judge([(task, F), (task, lying)])
    assert honest.passed and not forged.passed, honest.detail


def test_crates_are_told_from_other_uses_of_their_names() -> None:
    names = {"rand", "time", "itertools", "anyhow"}
    text = 'use {rand, itertools::Itertools as _}; fn f(time: u8) { // anyhow::x\n let t = time; g("anyhow::y"); }'
    assert crates_named(text, names) == {"rand", "itertools"}
    assert crates_named("fn f() { m!(time::now()); ::anyhow::bail!(1) }", names) == {"time", "anyhow"}
    assert crates_named("fn f() { self.time.rand(); }", names) == set()


def test_derives_of_crates_are_doubted_only_where_they_may_change_equality() -> None:
    names = {"serde", "derivative"}
    assert (
        doubtful_types(
            '#[derive(Debug, PartialEq, serde::Serialize)] #[serde(rename = "x")] struct A;', names
        )
        == set()
    )
    assert doubtful_types(
        "#[derive(derivative::Derivative)] #[derivative(PartialEq)] struct A(u8);", names
    ) == {"A"}
    assert doubtful_types("use derivative::*; #[derive(PartialEq)] struct A(#[odd] u8);", names) == {"A"}
