"""Answers that bring their own tests: these must notice a fault, and not by crashing alone."""

import pytest

from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.verification.pool.pool import VerifierPool

pytestmark = pytest.mark.rust
TASK = Task(statement="s", language="rust", check=RustCheck())
CODE = """pub fn before(v: &[i32], i: usize) -> i32 {
    v[i - 1]
}
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn first() {
        let x = before(&[7], 1);
        CLAIM
    }
}
"""


LOOP = """pub fn total(points: &[u32]) -> u32 {
    let mut sum = 0;
    for i in 0..points.len() { sum += points[i] * 2; }
    sum
}
#[cfg(test)]
mod tests {
    #[test]
    fn works() { CLAIM }
}
"""


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("assert_eq!(super::total(&[1, 2, 3]), 12);", None),
        ("assert!(super::total(&[1]) < 1000);", "the tests notice"),
        ("super::total(&[1, 2]); assert!(true);", "no assertion depends"),
    ],
)
def test_tests_that_say_nothing_do_not_count(verifier: VerifierPool, claim: str, reason: str | None) -> None:
    verdict = verifier.verify(TASK, LOOP.replace("CLAIM", claim))
    assert verdict.passed is (reason is None) and (reason is None or reason in verdict.detail), verdict


def test_only_tests_that_notice_a_fault_count(verifier: VerifierPool) -> None:
    claims = {
        "assert_eq!(x, 7);": None,
        "assert!(x == x);": "",
        "assert!(x < 100 || x > -100);": "crashes",
        "assert!(true);": "",
        "let _ = x;": "",
    }
    futures = [verifier.submit(TASK, CODE.replace("CLAIM", claim)) for claim in claims]
    for (claim, reason), future in zip(claims.items(), futures, strict=True):
        verdict = future.result()
        assert verdict.passed is (reason is None), (claim, verdict)
        assert verdict.stage("build").passed, (claim, verdict)
        assert reason is None or reason in verdict.detail, (claim, verdict)
