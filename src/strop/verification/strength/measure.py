"""How strong an answer's own tests are: the share of small faults in its own code that they notice.

Threat model: the answer wrote the tests that judge it, so a pass says nothing where the tests check nothing. What is
measured is the same answer with faults put in, by the same trusted path as every verdict. Tests that run the code
without looking at what it gives kill only mutants that crash or hang; that much is left open.
"""

from collections.abc import Callable

from pydantic import Field

from strop.core.records import Record
from strop.core.verdict import Outcome, Verdict
from strop.verification.strength.hold import own_tests_hold
from strop.verification.strength.mutants import Mutant, mutants

_KILLS = frozenset({Outcome.FAILED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY})


class Strength(Record):
    """What mutation says of an answer's own tests."""

    made: int = 0
    """Mutants that were verified."""
    compiled: int = 0
    """Those whose build passed and whose tests came to a result."""
    killed: int = 0
    """Those of the compiled whose tests failed, hung or ran out of memory."""
    reasons: list[str] = Field(default_factory=list)
    """Why the tests cannot count, or which faults they missed; one line each."""
    holds: bool = True
    """False when the tests cannot count: a static reason, or mutants of which none was killed."""

    @property
    def score(self) -> float | None:
        """`killed / compiled`, in [0, 1]; None when nothing could be changed, and so nothing is known."""
        return self.killed / self.compiled if self.compiled else None


def measure(
    answer: str, language: str, run: Callable[[list[str]], list[Verdict]], *, seed: int, limit: int = 8
) -> Strength:
    """Makes at most `limit` mutants of `answer`, has them verified in one batch, and counts.

    `answer` must have passed itself. `run` gives one verdict a text, in order; it is not called when there is nothing
    to run. A mutant whose verdict is *error* or *tampered* counts neither way.
    Raises UserError for a language that is not known, ValueError when `run` returns another number of verdicts.
    """
    reason = own_tests_hold(answer, language)
    if reason is not None:
        return Strength(reasons=[reason], holds=False)
    made = mutants(answer, language, seed=seed, limit=limit)
    if not made:
        return Strength(reasons=["nothing in the code under test could be changed"])
    verdicts = run([mutant.text for mutant in made])
    return judge(made, verdicts)


def judge(made: list[Mutant], verdicts: list[Verdict]) -> Strength:
    """The strength that these verdicts on these mutants show."""
    told = [(mutant, killed(verdict)) for mutant, verdict in zip(made, verdicts, strict=True)]
    compiled = [(mutant, dead) for mutant, dead in told if dead is not None]
    missed = [f"not noticed: {mutant}" for mutant, dead in compiled if not dead]
    count = len(compiled) - len(missed)
    if compiled and not count:
        missed.insert(0, f"the tests notice none of {len(compiled)} faults put into the code")
    if not compiled:
        missed = ["no mutant came to a result"]
    return Strength(
        made=len(made), compiled=len(compiled), killed=count, reasons=missed, holds=not compiled or count > 0
    )


def killed(verdict: Verdict) -> bool | None:
    """Whether the tests noticed this mutant; None when it did not build, or no result of its tests was seen.

    The test stage says it; a failed lint does not. Without a test stage the outcome does.
    """
    build, test = verdict.stage("build"), verdict.stage("test")
    if verdict.outcome in (Outcome.ERROR, Outcome.TAMPERED, Outcome.NO_ANSWER):
        return None
    if build is not None and not build.passed:
        return None
    if test is not None:
        return not test.passed
    if verdict.outcome is Outcome.PASSED:
        return False
    lint = verdict.stage("lint")
    if build is None or (lint is not None and not lint.passed):
        return None
    return verdict.outcome in _KILLS
