"""Answers that bring their own tests: these must notice a fault, and not by crashing alone."""

import pytest

from strop.core.checks import RustCheck
from strop.core.task import Task
from strop.verification.pool.pool import VerifierPool

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
