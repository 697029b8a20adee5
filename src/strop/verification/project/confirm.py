"""Whether a pass is believed: canaries ran beside the tests, and a second run in another order agrees."""

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from strop.core.checks import ProjectCheck
from strop.core.verdict import Outcome
from strop.verification.project.backend import Backend
from strop.verification.project.canaries import CanaryTests, drawn
from strop.verification.project.runs import Request, Run, as_bytes
from strop.verification.project.snapshot import Files


@dataclass(frozen=True)
class Judged:
    """An edit and the tests that it is judged by."""

    check: ProjectCheck
    base: Files
    language: str
    tests: list[str]
    """Named by the check, in its order."""
    backend: Backend

    def run(self, passed: Callable[[Run], bool]) -> Run:
        """The tests' run; one that passed is believed only if a second one agrees.

        Tests that do not bear the second run's order, or copies of themselves, are run a third time as at first.
        """
        first = self._attempt(passed)
        if first.tampered or not passed(first):
            return first
        second = self._attempt(passed, another=True)
        if second.tampered or passed(second):
            return _together(second, first)
        return _together(self._attempt(passed), first, second)

    def _attempt(self, passed: Callable[[Run], bool], *, another: bool = False) -> Run:
        rng = random.SystemRandom()
        seed, order = rng.getrandbits(64), rng.getrandbits(32) | 1 if another else 0
        changed: dict[str, str] = dict(self.check.files)
        run, canaries = self._once(seed, changed, self.check.removed, self.tests, copies=another, order=order)
        if run.tampered or not passed(run) or not (odd := _odd(run, canaries)):
            return run
        # does the project itself bear them?
        fine, same = self._once(seed, {}, (), (), copies=another, order=order)
        usual = {same.kinds[test] for test in same.must} - {same.kinds[test] for test in _odd(fine, same)}
        if found := next((test for test in odd if canaries.kinds[test] in usual), ""):
            word = "was not reported" if found not in run.results else "did not end as it must"
            run.tampered = f"a test of ours {word}: the tests' results were forged"
            run.stop = (Outcome.TAMPERED, run.tampered)
        return run

    def _once(
        self,
        seed: int,
        files: Mapping[str, str],
        removed: Collection[str],
        tests: Collection[str],
        *,
        copies: bool,
        order: int,
    ) -> tuple[Run, CanaryTests]:
        tree = {path: data for path, data in {**self.base, **as_bytes(files)}.items() if path not in removed}
        canaries = drawn(tree, self.tests, self.language, random.Random(seed), copies=copies)
        request = Request(tests=[*tests, *canaries.must], beside=list(canaries.files), order=order)
        return self.backend.run(request, files={**files, **canaries.files}, removed=removed), canaries


def _odd(run: Run, canaries: CanaryTests) -> list[str]:
    """Canaries that did not end as they must. One that took too long or had no memory says nothing."""
    wrong = {test: Outcome.FAILED if passes else Outcome.PASSED for test, passes in canaries.must.items()}
    return [test for test in wrong if test not in run.results or run.results[test].outcome is wrong[test]]


def _together(last: Run, *before: Run) -> Run:
    """The last run with what all of them used."""
    return replace(
        last,
        cpu_seconds=last.cpu_seconds + sum(run.cpu_seconds for run in before),
        peak_bytes=max(run.peak_bytes for run in (last, *before)),
    )
