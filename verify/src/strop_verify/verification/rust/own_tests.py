"""Decides whether an answer's own tests count, by the faults that they notice."""

from collections.abc import Callable, Mapping, Sequence

from strop_verify.core.verdict import Verdict
from strop_verify.verification.rust.case import RustAnswer

MUTANTS = 6
"""Maximum number of mutants of an answer on which its tests are run."""
WITNESSES = 3
"""Number of killed mutants that are run first with assertions that never fail."""
Run = Callable[[Sequence[tuple[RustAnswer, str]], bool], list[Verdict]]


def weigh(cases: Sequence[RustAnswer], run: Run) -> None:
    """Refuses passed answers whose tests notice no fault, or only faults that crash.

    run  judges (owner, text) pairs; its flag says whether the text of the tests also decides
    """
    from strop_verify.code.mutate.mutants import mutants
    from strop_verify.verification.strength import controls, judge, killers, witnessed

    passed = [case for case in cases if case.build and case.test and not case.refused]
    made = {case.number: mutants(case.answer, "rust", seed=0, limit=MUTANTS) for case in passed}
    verdicts = _each(passed, {n: [mutant.text for mutant in mine] for n, mine in made.items()}, run, True)
    dead = {}
    for case in passed:
        mine = made[case.number]
        strength = judge(mine, verdicts[case.number])
        if mine and not strength.holds:
            _refuse(case, strength.reasons[0])
        elif mine and strength.compiled:
            dead[case.number] = killers(mine, verdicts[case.number])
    for part in (slice(WITNESSES), slice(WITNESSES, None)):
        asked = [case for case in passed if dead.get(case.number, [])[part]]
        texts = {case.number: controls(case.answer, dead[case.number][part]) for case in asked}
        found = _each(asked, texts, run, False)
        for case in asked:
            if witnessed(found[case.number]) is not False:
                del dead[case.number]
    for case in passed:
        if case.number in dead:
            _refuse(case, "the tests notice a fault only where the code crashes")


def _each(
    cases: Sequence[RustAnswer], texts: Mapping[int, Sequence[str]], run: Run, static: bool
) -> dict[int, list[Verdict]]:
    """The verdicts on each case's texts, all judged together."""
    pairs = [(case, text) for case in cases for text in texts[case.number]]
    verdicts = iter(run(pairs, static) if pairs else [])
    return {case.number: [next(verdicts) for _ in texts[case.number]] for case in cases}


def _refuse(case: RustAnswer, reason: str) -> None:
    case.refused = reason
    case.test = False
