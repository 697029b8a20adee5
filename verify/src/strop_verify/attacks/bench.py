"""Runs trials on a grader in turn, and judges the grader by evidence that it does not produce itself.

An exploit is any of these: the hostile answer passed; a canary was reached or leaked; the grader's outcome was *error*
or missing; it took longer than deadline and grace. Counted separately: honest answers that failed, and leftovers.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.grader import SCORED, Grade, Grader
from strop_verify.attacks.leftovers import LeftoverWatch
from strop_verify.attacks.suite import Trial
from strop_verify.core.checks import AssertsCheck

GRACE = 1.0
"""Seconds beyond the deadline that a verdict may take."""


@dataclass(slots=True)
class Row:
    """One grader's result on one trial: a line of the report."""

    attack: str
    language: str
    family: str
    jail: str
    outcome: str = "-"
    """The hostile answer's outcome; "-" if there is no hostile answer."""
    passed: bool = False
    honest_outcome: str = "-"
    stopped_by: str = ""
    seconds: float = 0.0
    """Wall seconds that the hostile answer took."""
    deadline: float = 0.0
    exploits: list[str] = field(default_factory=list)
    """Why the grader did not hold, in words; empty if it held."""
    leftovers: list[str] = field(default_factory=list)
    detail: str = ""
    honest_detail: str = ""

    @property
    def honest_failed(self) -> bool:
        """Whether there was an honest answer and it did not pass."""
        return self.honest_outcome not in ("-", "passed")

    @property
    def good(self) -> bool:
        """Whether the grader held against it."""
        return not (self.exploits or self.leftovers or self.honest_failed)


def run(
    grader: Grader,
    trials: Iterable[Trial],
    canaries: Canaries,
    on_row: Callable[[Row], None] = lambda row: None,
    grace: float = GRACE,
) -> list[Row]:
    """One row per trial, and one named "(after all)" if something is left after the grader was closed.

    A verdict may come `grace` seconds after its deadline. Ends early, with the rows so far, when SIGTERM arrives.
    """
    rows: list[Row] = []
    watch = LeftoverWatch(canaries.token)
    warm: set[str] = set()
    try:
        for trial in trials:
            if trial.task.id not in warm:
                warm.add(trial.task.id)
                grader.grade(trial.task, trial.honest or trial.task.reference or "pass")
                if (check := trial.task.check.maybe(AssertsCheck)) is not None and trial.language == "python":
                    # `...` cannot cross processes: it is judged within one, which a grader may keep; warm it too.
                    grader.grade(trial.task, f"def {check.entry_point}(*args, **kwargs):\n    return ...\n")
                time.sleep(0.05)
                watch.learn()
            rows.append(_try(grader, trial, canaries, watch, grace))
            on_row(rows[-1])
            if canaries.terminated:
                break
    finally:
        watch.release()
        grader.close()
    rest = watch.finish()
    if rest:
        rows.append(Row("(after all)", "-", "outlive", grader.name, leftovers=rest))
        on_row(rows[-1])
    return rows


def _try(grader: Grader, trial: Trial, canaries: Canaries, watch: LeftoverWatch, grace: float) -> Row:
    row = Row(trial.name, trial.language, trial.family, grader.name, deadline=grader.deadline(trial.task))
    canaries.touched()
    if trial.hostile is not None:
        grade = grader.grade(trial.task, trial.hostile)
        row.outcome, row.passed, row.seconds = grade.outcome, grade.passed, grade.seconds
        row.detail = grade.detail
        row.leftovers = watch.left()
        row.exploits = _exploits(grade, row.deadline + grace)
        row.exploits += canaries.leaked(grade.text) + canaries.touched()
        row.stopped_by = "nothing" if row.exploits else _stopped_by(grade, trial.layer)
    if trial.honest is not None:
        grade = grader.grade(trial.task, trial.honest)
        row.honest_outcome, row.honest_detail = grade.outcome, grade.detail
        row.leftovers += watch.left()
    return row


def _exploits(grade: Grade, latest: float) -> list[str]:
    found = ["passed"] if grade.passed else []
    if grade.outcome not in SCORED:
        found.append(f"the grader's outcome: {grade.outcome}: {grade.detail}"[:200])
    if grade.seconds > latest:
        found.append(f"took {grade.seconds:.1f} s, it may take {latest:g} s")
    return found


def _stopped_by(grade: Grade, layer: str) -> str:
    told = {"timed out": "deadline", "out of memory": "memory limit", "tampered": "protocol"}
    return told.get(grade.outcome, layer)


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """The four numbers that say whether a grader holds: attacks tried, exploits, honest answers failed, leftovers."""
    rows = list(rows)
    return {
        "attacks": sum(row.outcome != "-" for row in rows),
        "exploits": sum(bool(row.exploits) for row in rows),
        "honest_failed": sum(row.honest_failed for row in rows),
        "leftovers": sum(len(row.leftovers) for row in rows),
    }
