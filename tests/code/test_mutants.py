"""Mutants: where they are put, where never, and what no text may do to them."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale import some

from strop_verify.code.mutate.mutants import Mutant, mutants
from strop_verify.code.trees import Source
from strop_verify.core.errors import UserError
from strop_verify.verification.strength import count_assertions, own_tests_hold

RUST = """\
//! Sums, with a ü in front.
#[derive(Debug, Clone, PartialEq)]
#[repr(align(8))]
pub struct Sum { total: i64, parts: [i64; 4] }
const SIZE: usize = 4;
impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, "sum {}", self.total + 1) }
}
impl Sum {
    pub fn new() -> Self { Sum { total: 0, parts: [0; SIZE] } }
    pub fn add(&mut self, x: i64) -> Result<i64, String> {
        if x < 0 || x == 13 { return Err("not that one".to_string()); }
        for i in 0..SIZE { if self.parts[i] == 0 { self.parts[i] = x; break; } }
        self.total += x * 2 - 1;
        Ok(self.total)
    }
}
pub fn steps(mut n: u64) -> usize {
    let mut count = 0;
    while n != 1 { n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 }; count += 1; }
    count
}
pub fn never_called(a: i32) -> i32 { a + 1 }
fn helper_of_steps() -> bool { true }
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { let mut s = Sum::new(); assert_eq!(s.add(3), Ok(5)); assert!(s.add(-1).is_err()); }
    #[test]
    fn counts() { assert_eq!(steps(6), 8); }
}
"""

PYTHON = """\
import functools

LIMIT = 3

@functools.lru_cache(maxsize=8)
def steps(n: int = 4) -> int:
    \"\"\"Steps to 1, where ü is not 2.\"\"\"
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count

def kind(n):
    if n < 0 and n != -5:
        raise ValueError("below 0")
    for i in range(2, n):
        if n % i == 0:
            return "composite"
    return "prime"

def never_called(a):
    return a + 1

def test_steps():
    assert steps(6) == 8

def test_kind():
    assert kind(7) == "prime"
    assert kind(9) == "composite"
"""

TEXTS = {"rust": RUST, "python": PYTHON}


def every(language: str) -> list[Mutant]:
    return mutants(TEXTS[language], language, seed=1, limit=500)


@pytest.mark.parametrize("language", ["rust", "python"])
def test_each_differs_parses_and_says_where(language: str) -> None:
    code = TEXTS[language]
    found = every(language)
    assert len(found) > 12
    assert len({m.text for m in found} | {code}) == len(found) + 1
    for mutant in found:
        start, end = mutant.span
        assert code[start:end] == mutant.before
        assert mutant.text == code[:start] + mutant.after + code[end:]
        assert code.count("\n", 0, start) + 1 == mutant.line
        assert not Source(mutant.text, language).root.has_error
        if language == "python":
            ast.parse(mutant.text)


@pytest.mark.parametrize("language", ["rust", "python"])
def test_only_code_that_tests_reach(language: str) -> None:
    code = TEXTS[language]
    allowed = [code.index("fn add" if language == "rust" else "def steps"), code.index("fn never_called")
               if language == "rust" else code.index("def never_called")]  # fmt: skip
    early = code.index("pub fn new") if language == "rust" else allowed[0]
    for mutant in every(language):
        assert early <= mutant.span[0] < allowed[1], str(mutant)
        assert "ü" not in mutant.before or mutant.operator == "return value"


def test_what_is_left_alone_in_rust() -> None:
    changed = [RUST[slice(*m.span)] for m in every("rust")]
    assert '"not that one"' not in changed  # a message
    assert "!=" not in changed  # decides whether the loop ends
    assert "SIZE" not in changed
    assert not any(m.line <= 8 for m in every("rust"))  # attributes, types, const, Display


def test_what_is_left_alone_in_python() -> None:
    code = PYTHON
    for mutant in every("python"):
        line = code.splitlines()[mutant.line - 1]
        assert "lru_cache" not in line and "raise" not in line and '"""' not in line and "while" not in line
        assert "def " not in line


def test_operators_that_are_expected() -> None:
    assert {m.operator for m in every("rust")} >= {
        "return value", "negated condition", "boundary", "comparison", "arithmetic", "constant", "boolean", "range",
        "deletion",
    }  # fmt: skip
    assert {m.operator for m in every("python")} >= {
        "return value", "negated condition", "boundary", "comparison", "boolean", "range", "constant",
    }  # fmt: skip


def test_display_is_reached_by_what_shows_it() -> None:
    shown = RUST.replace("assert_eq!(steps(6), 8);", 'assert_eq!(Sum::new().to_string(), "sum 1");')
    lines = {m.line for m in mutants(shown, "rust", seed=0, limit=500)}
    assert 19 not in lines and 7 not in lines  # steps is no longer reached; the macro of `fmt` is left alone


def test_tests_that_macros_make_reach_code_too() -> None:
    code = "fn f(x: i32) -> i32 { x + 1 }\nfn g(x: i32) -> i32 { x + 2 }\n"
    code += "macro_rules! t { ($n:ident, $e:expr) => { #[test] fn $n() { assert_eq!($e, 2); } } }\nt!(one, f(1));\n"
    assert {m.line for m in mutants(code, "rust", seed=0)} == {1}


def test_chosen_ones_are_spread() -> None:
    chosen = mutants(RUST, "rust", seed=3, limit=8)
    assert len(chosen) == 8
    assert len({m.operator for m in chosen}) >= 5
    assert any(m.line >= 18 for m in chosen) and any(m.line < 18 for m in chosen)


@pytest.mark.parametrize("language", ["rust", "python"])
def test_same_for_the_same_seed(language: str) -> None:
    code = TEXTS[language]
    assert mutants(code, language, seed=5) == mutants(code, language, seed=5)
    assert len({tuple(m.text for m in mutants(code, language, seed=s)) for s in range(6)}) > 1


def test_generic_arithmetic_is_left_alone() -> None:
    code = "fn sum<T: std::ops::Add<Output = T>>(a: T, b: T) -> T { a + b }"
    code += "#[test] fn t() { assert_eq!(sum(1, 2), 3); }"
    assert mutants(code, "rust", seed=0) == []


def test_nothing_to_change() -> None:
    assert mutants("", "rust", seed=0) == []
    assert mutants("fn main() {}", "rust", seed=0) == []
    assert mutants("x" * 100_000, "python", seed=0) == []
    with pytest.raises(UserError, match="fortran"):
        mutants("end", "fortran", seed=0)


PIECES = st.sampled_from(
    [
        "fn f", "(", ")", "{", "}", "<", ">", "let x = ", "1", "if ", "#[test]", "#[cfg(", "assert!", ";", "\n", "  ",
        "assert_eq!(f(1), 2)", "\"", "'", "mod tests ", "def test_a():\n", "    assert f(1)\n", "return ", "..", "&&",
        "||", "=", "ü", "//", "/*", "class T", "r#\"", "macro_rules! m ", "=>", "while ", "for i in ", "range(1, 2)",
        "\x00", "\ud800", "use super::*;", "-> i32 ", "-> Result<(), ()> ", "x as usize ", "match x ", "not ", "in ",
    ]
)  # fmt: skip
TEXT = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=200))


@given(code=TEXT, language=st.sampled_from(["rust", "python"]), seed=st.integers(0, 3))
def test_no_text_raises(code: str, language: str, seed: int) -> None:
    assert count_assertions(code) >= 0
    own_tests_hold(code)
    whole = not Source(code, language).root.has_error
    for mutant in mutants(code, language, seed=seed):
        assert mutant.text != code
        assert code[slice(*mutant.span)] == mutant.before
        assert not (whole and Source(mutant.text, language).root.has_error)


@pytest.mark.parametrize(
    "code",
    some(
        [
            "fn f() -> i32 {1}" * 1_500 + "#[test] fn t() { f(); }",
            "".join(f"fn f{i}() -> bool {{ f{i + 1}() }}" for i in range(1_500)) + "#[test] fn t() { f0(); }",
            "(" * 60_000,
            "#[test] fn t() {" + "{" * 30_000,
            "#[test] fn t() { f()" + ".unwrap()" * 6_000 + "; }",
            "fn f() {}" * 6_000,
            "#[test] fn t() { assert!(" + "!" * 60_000,
            "#[test]fn t(){f();}" * 3_000,
            "fn f() {" * 7_000,
            "fn f() -> i32 { "
            + "if x < 1 { return 1; } " * 2_500
            + "} #[test] fn t() { assert_eq!(f(), 1); }",
            "#[cfg(" + "not(" * 15_000,
            "#[test] fn t() { let " + "x = f(); let y = x; let " * 2_500 + "}",
        ],
        3,
    ),
    ids=lambda code: code[:24],
)
def test_long_hostile_texts_end(code: str) -> None:
    own_tests_hold(code)
    count_assertions(code)
    mutants(code, "rust", seed=0)


@pytest.mark.parametrize(
    "code",
    some(
        [
            "[" * 60_000,
            "def test_a():\n    " + "f(" * 20_000,
            "def test_a():\n" + "    assert f(1)\n" * 4_000,
            "".join(f"def f{i}(): return f{i + 1}()\n" for i in range(1_800)) + "def test_a(): f0()\n",
            "x = " * 16_000,
            "def test_a():\n    assert " + "not " * 15_000 + "f",
            "def test_a():\n    x" + ".f()" * 15_000,
            "class A:\n" + "".join(" " * i + "class A:\n" for i in range(1, 330)),
        ],
        3,
    ),
    ids=lambda code: code[:24],
)
def test_long_hostile_python_ends(code: str) -> None:
    mutants(code, "python", seed=0)
