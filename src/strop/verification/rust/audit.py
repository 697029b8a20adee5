"""The running audit: a sample of the answers that were judged together, judged again by cargo."""

from typing import TYPE_CHECKING

from strop.verification.rust.cargo import Cargo
from strop.verification.rust.case import RustAnswer

if TYPE_CHECKING:
    from strop.sandbox import Work


def differences(case: RustAnswer, cargo: Cargo, work: "Work") -> str:
    """Where cargo says otherwise of this answer, in words; empty when it agrees. Raises SandboxError."""
    again = RustAnswer(0, case.task, case.check, case.answer, case.scan, None, crates=case.crates)
    cargo.judge(again, work)
    pairs = [
        (stage, bool(getattr(case, stage)), bool(getattr(again, stage)))
        for stage in ("build", "lint", "test")
    ]
    return ", ".join(f"{stage} {ours}, cargo {theirs}" for stage, ours, theirs in pairs if ours != theirs)
