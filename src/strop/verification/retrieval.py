"""`RetrievalToolchain`: answers that name places, compared with those that matter. Nothing is run.

The score is the mean of F0.5 over files and over lines (`strop.core.ranges`), and the answer passes where it is 1. A
text that names no places, or cannot be read, is *no answer*. Time is linear in the answer.
"""

import time
from collections.abc import Sequence

from strop.core.checks import RetrievalCheck
from strop.core.ranges import read_ranges, score
from strop.core.task import Task
from strop.core.verdict import Outcome, Stage, TestResult, Verdict

MAX_ANSWER = 1 << 16
"""Characters of an answer; a longer one is none."""


class RetrievalToolchain:
    """Implements `strop.core.protocols.Toolchain` for checks of kind retrieval."""

    batch = 1

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict a job."""
        return [_compared(task.check.only(RetrievalCheck), answer) for task, answer in jobs]

    def close(self) -> None:
        """Nothing to end."""


def _compared(check: RetrievalCheck, answer: str) -> Verdict:
    began = time.monotonic()
    try:
        if len(answer) > MAX_ANSWER:
            raise ValueError(f"the answer is longer than {MAX_ANSWER} characters")
        found = read_ranges(answer)
        why = "" if found else "the answer names no place"
    except ValueError as error:
        found, why = {}, str(error)
    agreed = score(found, check.truth)
    right = agreed.mean == 1
    outcome = Outcome.NO_ANSWER if why else Outcome.PASSED if right else Outcome.FAILED
    detail = why or ("" if right else f"F0.5 of files {agreed.files:.3f}, of lines {agreed.lines:.3f}")
    seconds = time.monotonic() - began
    return Verdict(
        outcome=outcome,
        stages=[Stage(name="test", passed=right, seconds=seconds)],
        tests=[TestResult(id="places", outcome=outcome, message=detail, seconds=seconds)],
        detail=detail,
        seconds=seconds,
        score=agreed.mean,
    )
