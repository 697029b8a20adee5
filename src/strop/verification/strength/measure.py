"""How strong an answer's own tests are: the share of small faults in its own code that they notice.

Threat model: the answer wrote the tests that judge it, so a pass says nothing where the tests check nothing. What is
measured is the same answer with faults put in, by the same trusted path as every verdict. Tests that run the code and
never look at what it gives kill mutants that crash; so killed mutants are run again with assertions that never fail,
until one of them then survives.
"""

from collections.abc import Callable

from pydantic import Field

from strop.core.records import Record
from strop.core.verdict import Outcome, Verdict
from strop.verification.strength.hold import own_tests_hold
from strop.verification.strength.mutants import Mutant, mutants
from strop.verification.strength.neutral import neutral
from strop.verification.strength.sites import OPERATORS

_FIRST = 3
"""Killed mutants that are looked at first; one that an assertion noticed is enough."""
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
    witnessed: bool | None = None
    """Whether a kill is the work of an assertion; False: all come from crashes; None: could not be told, or no kill."""
    holds: bool = True
    """False when the tests cannot count: a static reason, no mutant killed, or all of them by crashes."""

    @property
    def score(self) -> float | None:
        """`killed / compiled`, in [0, 1]; None when nothing could be changed, and so nothing is known."""
        return self.killed / self.compiled if self.compiled else None


def measure(
    answer: str, language: str, run: Callable[[list[str]], list[Verdict]], *, seed: int, limit: int = 8
) -> Strength:
    """Makes at most `limit` mutants of `answer`, has them verified in one batch, and counts.

    `answer` must have passed itself. `run` gives one verdict a text, in order, and asks nothing of the tests but that
    they pass. It is called for the mutants, and again for a few killed ones (see `neutral`) with a control. A mutant
    whose verdict is *error* or *tampered* counts neither way.
    Raises UserError for a language that is not known, ValueError when `run` returns another number of verdicts.
    """
    reason = own_tests_hold(answer, language)
    if reason is not None:
        return Strength(reasons=[reason], holds=False)
    made = mutants(answer, language, seed=seed, limit=limit)
    if not made:
        return Strength(reasons=["nothing in the code under test could be changed"])
    verdicts = run([mutant.text for mutant in made])
    strength = judge(made, verdicts)
    dead = [mutant for mutant, verdict in zip(made, verdicts, strict=True) if killed(verdict)]
    witnessed = _witnessed(answer, language, dead, run) if dead else None
    if witnessed is not False:
        return strength.model_copy(update={"witnessed": witnessed})
    reasons = ["the tests notice a fault only where the code crashes", *strength.reasons]
    return strength.model_copy(update={"witnessed": False, "holds": False, "reasons": reasons})


def _witnessed(
    answer: str, language: str, dead: list[Mutant], run: Callable[[list[str]], list[Verdict]]
) -> bool | None:
    """Whether one of these mutants survives when assertions never fail; None when even the answer does not pass so."""
    dead = sorted(dead, key=lambda mutant: OPERATORS.index(mutant.operator))
    control = neutral(answer, language)
    for part in (dead[:_FIRST], dead[_FIRST:]):
        if not part:
            continue
        base, *verdicts = run([control, *(neutral(mutant.text, language) for mutant in part)])
        if killed(base) is not False:
            return None
        if any(killed(verdict) is False for verdict in verdicts):
            return True
    return False


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
