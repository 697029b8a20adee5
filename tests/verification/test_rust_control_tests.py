"""False controls of Rust tests: what stands in the place of expected values, and how right and lying crates end."""

import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop_verify.code.trees import parse, text_of, walk
from strop_verify.verification.project.rust_control_tests import rust_controls
from strop_verify.verification.project.rust_values import altered

TESTS = """
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn sums() {
        assert_eq!(double(4), 8);
        assert_eq!(-510, double(-255), "of {}", 255);
        for at in [1, 2] { assert!(double(at) == at * 2); }
        assert!(double(3) == 6, "three");
    }
    #[test]
    fn texts() {
        assert_eq!(name(), "twice");
        assert_eq!(both(1), Some(vec!["a", "b"]));
        assert_eq!(first("xyz"), 'x')
    }
    /// Says no.
    #[test]
    #[should_panic]
    fn panics() { low(-1); }
    #[test]
    fn results() -> Result<(), String> { assert_eq!(double(4), 8); Ok(()) }
    #[test]
    fn ends() { assert!(name().len() > 2); // bye
    }
}
"""
RIGHT = """
pub fn double(x: i64) -> i64 { x * 2 }
pub fn name() -> &'static str { "twice" }
pub fn both(_: u8) -> Option<Vec<&'static str>> { Some(vec!["a", "b"]) }
pub fn first(x: &str) -> char { x.chars().next().unwrap() }
pub fn low(x: i64) { assert!(x > 0) }
"""
LIARS = {
    "all": "true",
    "even": "other % 2 == 0",
    "small": "other.abs() < 600",
    "greater": "*other > self.0 - 9",
}
NAMES = [f"twice::tests::{name}" for name in ("sums", "texts", "panics", "results", "ends")]


def others(value: str, seed: int) -> list[str]:
    macro = next(n for n in walk(parse(f"fn f() {{ m!({value}); }}")) if n.type == "token_tree")
    return altered(macro.children[1:-1], random.Random(seed))


@given(value=st.integers(0, 2**63 - 1), seed=st.integers(0, 99), suffix=st.sampled_from(["", "i64", "u64"]))
def test_an_odd_and_an_even_number_stand_beside_a_number(value: int, seed: int, suffix: str) -> None:
    found = others(f"{value}{suffix}", seed)
    numbers = [int(text.removesuffix(suffix) if suffix else text) for text in found]
    assert 2 <= len(numbers) <= 4 and value not in numbers and min(numbers) >= 0
    assert {(n - value) % 2 for n in numbers} == {0, 1}
    assert max(numbers) <= max(value, 127)


@pytest.mark.parametrize(
    "value",
    [
        '"a b"',
        '""',
        r'"\n"',
        "true",
        "'x'",
        "1.5",
        "-7",
        "Some(3)",
        "vec![1, 2]",
        '"é".to_string()',
        "0xffu8",
    ],
)
def test_each_other_value_differs_in_one_literal(value: str) -> None:
    for seed in range(20):
        found = others(value, seed)
        assert found and value not in found and all(not parse(f"fn f() {{ {v}; }}").has_error for v in found)


@pytest.mark.parametrize("value", ["x", "Shape::Dot(1)", "f(2)", "None", "SIZE + 1", "a.len()", "b", "_"])
def test_what_is_no_value_of_the_text_stays(value: str) -> None:
    assert others(value, 0) == []


def outcomes(
    folder: Path, code: str, seed: int, *, literals: bool = True
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Whether each false control passed, and each true one."""
    source, program = folder / "lib.rs", folder / "tests"
    made = rust_controls(
        {"src/lib.rs": (code + TESTS).encode()}, NAMES, random.Random(seed), literals=literals
    )
    texts, true = made.files, made.true
    source.write_text(texts["src/lib.rs"])
    command = [
        "rustc",
        "--test",
        "--edition",
        "2021",
        "--crate-name",
        "twice",
        str(source),
        "-o",
        str(program),
    ]
    subprocess.run(command, check=True, capture_output=True)
    said = subprocess.run([program], capture_output=True, text=True, check=False).stdout
    passed = {
        line.split()[1] for line in said.splitlines() if line.startswith("test ") and line.endswith(" ok")
    }
    assert set(true) == set(NAMES)
    return (
        {test: test.removeprefix("twice::") in passed for test in true},
        {test: control.removeprefix("twice::") in passed for test, control in true.items()},
    )


@pytest.mark.rust(3)
@pytest.mark.needs("cargo")
@pytest.mark.parametrize("literals", [True, False])
def test_of_a_right_crate_the_true_pass_and_the_false_fail(tmp_path: Path, literals: bool) -> None:
    for seed in range(3):
        false, true = outcomes(tmp_path, RIGHT, seed, literals=literals)
        assert not any(false.values()) and all(true.values()), (false, true)


@pytest.mark.rust(3)
@pytest.mark.needs("cargo")
@pytest.mark.parametrize("name", LIARS)
def test_a_number_that_lies_is_held_for_a_wrong_one(tmp_path: Path, name: str) -> None:
    lying = RIGHT.replace("-> i64 { x * 2 }", "-> Number { Number(x * 2) }") + (
        "#[derive(Debug)] pub struct Number(i64);\n"
        f"impl PartialEq<i64> for Number {{ fn eq(&self, other: &i64) -> bool {{ {LIARS[name]} }} }}\n"
        "impl PartialEq<Number> for i64 { fn eq(&self, other: &Number) -> bool { other == self } }\n"
    )
    for seed in range(3):
        false, _ = outcomes(tmp_path, lying, seed)
        assert false["twice::tests::sums"] and not false["twice::tests::texts"]


def test_a_control_test_keeps_its_attributes_and_stands_beside_the_test() -> None:
    made = rust_controls({"src/lib.rs": TESTS.encode()}, NAMES, random.Random(0), literals=True)
    texts, true = made.files, made.true
    functions = [n for n in walk(parse(texts["src/lib.rs"])) if n.type == "function_item"]
    assert (
        len(functions) == 2 * len(NAMES)
        and len({text_of(n.child_by_field_name("name")) for n in functions}) == 10
    )
    assert texts["src/lib.rs"].count("#[should_panic]") == 2 and texts["src/lib.rs"].count("#[test]") == 10
    assert all(test.rpartition("::")[0] == control.rpartition("::")[0] for test, control in true.items())
