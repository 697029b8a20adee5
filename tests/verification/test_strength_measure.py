"""Strength measured with real compilers and interpreters, in the jail."""

import subprocess

import pytest

from strop_verify.code.mutate.mutants import mutants
from strop_verify.core.verdict import Outcome, Stage, Verdict
from strop_verify.sandbox import Limits, run_command
from strop_verify.verification.strength import judge, killed
from strop_verify.verification.strength.measure import neutral

LIMITS = Limits(
    cpu_seconds=20, wall_seconds=60, memory_bytes=4 * 2**30, file_bytes=64 * 2**20, open_files=256
)
NO_BUILD = 77

RUST = """\
pub fn grade(points: u32) -> Option<char> {{
    if points > 100 {{ return None; }}
    if points >= 90 {{ Some('A') }} else if points >= 50 {{ Some('B') }} else {{ Some('F') }}
}}
pub fn total(points: &[u32]) -> u32 {{
    let mut sum = 0;
    for i in 0..points.len() {{ sum += points[i] * 2; }}
    sum
}}
#[cfg(test)]
mod tests {{
    use super::*;
    #[test]
    fn works() {{ {} }}
}}
"""
GOOD_RUST = """assert_eq!(grade(101), None); assert_eq!(grade(100), Some('A')); assert_eq!(grade(90), Some('A'));
assert_eq!(grade(89), Some('B')); assert_eq!(grade(50), Some('B')); assert_eq!(grade(49), Some('F'));
assert_eq!(total(&[1, 2, 3]), 12);"""


def verdict(status: int, expired: str) -> Verdict:
    if status == NO_BUILD:
        return Verdict(outcome=Outcome.FAILED, stages=[Stage(name="build", passed=False)])
    outcome = Outcome.TIMED_OUT if expired else Outcome.PASSED if status == 0 else Outcome.FAILED
    stages = [Stage(name="build", passed=True), Stage(name="test", passed=outcome is Outcome.PASSED)]
    return Verdict(outcome=outcome, stages=stages)


def run_rust(texts: list[str]) -> list[Verdict]:
    said = subprocess.run(
        ["rustc", "--print", "sysroot"], capture_output=True, text=True, timeout=300, check=True
    )
    root = said.stdout.strip()
    build = (
        f"{root}/bin/rustc --edition 2021 --test -Awarnings -Ccodegen-units=1 lib.rs -o t || exit {NO_BUILD}"
    )
    argv = ["/bin/sh", "-c", f"{build}; ulimit -t 2; ./t --test-threads=1 || exit 1"]
    results = [
        run_command(argv, files={"lib.rs": t}, limits=LIMITS, profile="build", read=[root],
                    environment={"PATH": "/usr/bin:/bin"})
        for t in texts
    ]  # fmt: skip
    return [verdict(r.status, r.expired) for r in results]


@pytest.mark.rust
def test_neutral_rust_evaluates_and_passes() -> None:
    body = (
        'assert_eq!(grade(1), None, "no {}", 1); assert_ne!(total(&[]), 0); assert!(grade(9).is_none(), "x");'
        "match grade(3) { Some(c) => assert_eq!(c, 'x'), None => assert!(false) }"
    )
    code = "#![allow(dead_code)]\n" + RUST.format(body) + "#[test] #[should_panic] fn p() { total(&[1]); }\n"
    loose = neutral(code)
    crash = neutral(code.replace("grade(1)", "grade([1, 2][total(&[4]) as usize])"))
    assert [v.outcome for v in run_rust([code, loose, crash])] == [
        Outcome.FAILED,
        Outcome.PASSED,
        Outcome.FAILED,
    ]


def stages(outcome: Outcome, **passed: bool) -> Verdict:
    return Verdict(outcome=outcome, stages=[Stage(name=n, passed=p) for n, p in passed.items()])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (stages(Outcome.FAILED, build=False), None),
        (stages(Outcome.FAILED, build=True, test=False), True),
        (stages(Outcome.PASSED, build=True, test=True), False),
        (stages(Outcome.FAILED, build=True, lint=False, test=True), False),
        (stages(Outcome.FAILED, build=True, lint=False, test=False), True),
        (stages(Outcome.FAILED, build=True, lint=False), None),
        (stages(Outcome.TIMED_OUT, build=True, test=False), True),
        (stages(Outcome.TIMED_OUT, build=True), True),
        (stages(Outcome.TIMED_OUT, build=False), None),
        (stages(Outcome.ERROR, build=True), None),
        (stages(Outcome.TAMPERED, build=True, test=False), None),
        (stages(Outcome.OUT_OF_MEMORY, build=True, test=False), True),
        (stages(Outcome.PASSED), False),
    ],
)
def test_what_counts_as_killed(given: Verdict, expected: bool | None) -> None:
    assert killed(given) is expected


def test_errors_count_neither_way() -> None:
    made = mutants(RUST.format(GOOD_RUST), "rust", seed=0, limit=3)
    strength = judge(made, [Verdict(outcome=Outcome.ERROR, detail="the jail broke")] * 3)
    assert strength.made == 3 and strength.compiled == 0 and strength.score is None and strength.holds
    with pytest.raises(ValueError):
        judge(made, [])
