"""Whether tests that an answer brought itself may count: by their text, and by faults that they notice."""

from collections.abc import Callable, Sequence

from strop.core.verdict import Verdict
from strop.verification.rust.case import Case

MUTANTS = 6
"""Faulty copies of an answer that its tests are tried on."""


def static_reason(answer: str) -> str | None:
    """Why the tests cannot count, from their text; None when they may."""
    from strop.verification.strength import own_tests_hold

    return own_tests_hold(answer, "rust")


def weigh(
    cases: Sequence[Case], run: Callable[[list[Case], Sequence[tuple[Case, str]]], list[Verdict]]
) -> None:
    """Refuses those that passed with tests that notice no fault. `run` judges (owner, text) pairs."""
    from strop.verification.strength import judge, mutants

    passed = [case for case in cases if case.build and case.test and not case.refused]
    made = {case.number: mutants(case.answer, "rust", seed=0, limit=MUTANTS) for case in passed}
    texts = [(case, mutant.text) for case in passed for mutant in made[case.number]]
    verdicts = iter(run(list(passed), texts)) if texts else iter(())
    for case in passed:
        mine = made[case.number]
        if mine:
            strength = judge(mine, [next(verdicts) for _ in mine])
            if not strength.holds:
                case.refused = strength.reasons[0]
                case.test = False
