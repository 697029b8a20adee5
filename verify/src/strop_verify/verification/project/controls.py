"""Runs an edit's tests with canaries beside them, then control tests in fresh processes, which must agree."""

import math
import random
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

from strop_verify.core.checks import ProjectCheck
from strop_verify.core.snapshots import Files
from strop_verify.core.verdict import Outcome
from strop_verify.verification.controls import Controls, ControlTests, wrongly_ended
from strop_verify.verification.project.backend import Backend
from strop_verify.verification.project.canaries import python_canaries, rust_canaries
from strop_verify.verification.project.control_tests import python_controls
from strop_verify.verification.project.expression_values import Recorded, recorded_of
from strop_verify.verification.project.runs import ProjectRun, RunRequest, as_bytes
from strop_verify.verification.project.rust_control_tests import rust_controls
from strop_verify.verification.project.support import SupportPart, asserting, bypassed, names_of

NONE: Mapping[str, str] = {}
Draw = Callable[[bool], ControlTests]
"""Draws controls of the edited project (True), or the same ones of the unedited project (False)."""


@dataclass(frozen=True)
class ProjectControls(Controls[ProjectRun, ProjectRun]):
    """An edit, the tests that judge it, and their controls."""

    check: ProjectCheck
    base: Files
    tests: list[str]
    """Test ids that the check names, in its order."""
    backend: Backend
    until: float
    """Deadline of runs with the edit; runs of the unedited project, on which the verdict also depends, have none."""
    rng: random.Random
    """Randomness for this edit."""
    canaries: ClassVar[Callable[..., ControlTests]]
    """Makes the canaries that run beside the tests in their first run."""

    def run(self, passed: Callable[[ProjectRun], bool]) -> ProjectRun:
        """Runs the tests; a pass is believed only if the controls agree."""
        draw = self._drawn(partial(self.canaries, tests=self.tests))
        canaries = draw(True)
        first = self._run(canaries, [*self.tests, *canaries.must])
        if first.tampered or not passed(first):
            return first
        if odd := wrongly_ended(first.results, canaries.must):  # do they end that way without the edit too?
            like = draw(False)
            usual = self._run(like, list(like.must), edited=False)
            if found := canaries.blamed(odd, like, usual.results):
                return _forged(first, found)
        return self.confirm(first)

    @abstractmethod
    def confirm(self, first: ProjectRun) -> ProjectRun:
        """`first` if its control tests agree, else a run that says why not; includes the costs of all runs."""

    def _drawn(self, make: Callable[..., ControlTests], seed: int | None = None) -> Draw:
        drawn = self.rng.getrandbits(64) if seed is None else seed
        return lambda edited: make(tree=self.edited if edited else self.base, rng=random.Random(drawn))

    @cached_property
    def edited(self) -> Files:
        """The project's files with the edit."""
        changed = {**self.base, **as_bytes(self.check.files)}
        return {path: data for path, data in changed.items() if path not in self.check.removed}

    def _run(
        self,
        controls: ControlTests,
        tests: Collection[str],
        beside: Mapping[str, str] = NONE,
        *,
        ordered: bool = False,
        edited: bool = True,
        reach: bool = False,
    ) -> ProjectRun:
        """`ordered`: in an order other than the project's. `reach`: also records which code is called."""
        order, until = self.rng.getrandbits(32) | 1 if ordered else 0, self.until if edited else math.inf
        request = RunRequest(tests=tests, beside=list(controls.files), order=order, until=until, reach=reach)
        files, removed = (self.check.files, self.check.removed) if edited else (NONE, ())
        return self.backend.run(request, files={**files, **beside, **controls.files}, removed=removed)


class PytestControls(ProjectControls):
    """Control tests in fresh processes, in another order each time; first in new files, then in the tests' own files.

    In their own files the failing tests' false controls run alone in a process: code that takes whatever it meets first
    for correct is caught there, since it meets wrong values. Tests whose true controls did not pass repeat them there.
    """

    canaries = staticmethod(python_canaries)

    def confirm(self, first: ProjectRun) -> ProjectRun:
        """See `ProjectControls.confirm`."""
        runs, lost, beside = [first], self.tests, NONE
        names = names_of(self.support)
        for truth in (None, False, True):
            chosen = list(dict.fromkeys([*self.check.failing, *lost])) if truth is False else lost
            made = partial(python_controls, tests=chosen, recorded=self.recorded, support=names)
            draw = self._drawn(partial(made, truth=truth))
            controls = draw(True)
            plain = [test for test in chosen if truth is not False and test not in controls.true]
            if not (plain or controls.must):
                continue
            run = self._run(controls, [*plain, *controls.must], beside, ordered=True)
            runs.append(run)
            if odd := _told(run, controls, broke_off=run.stop is not None):
                like = draw(False)
                usual = self._run(like, like.must, ordered=True, edited=False)
                if found := controls.blamed(odd, like, usual.results):
                    return _with_costs_of(_forged(run, found), runs)
            if truth is None:
                lost = [test for test in lost if not run.passed(controls.true.get(test, test))]
                beside = controls.files  # keep the files of the first run
                if run.tampered:
                    break
            elif not truth and run.stop:
                like = draw(False)
                if not self._run(like, like.must, ordered=True, edited=False).stop:
                    return _with_costs_of(replace(run, results=first.results), runs)
        else:
            run.results |= {
                test: run.results[control].model_copy(update={"id": test})
                for test, control in controls.true.items()
                if control in run.results
            }
            lost = [test for test in lost if not run.passed(test)]
        if not lost and not run.tampered:
            if around := self._around():
                return _with_costs_of(_stopped(first, f"{around} does not run in a test that calls it"), runs)
            return _with_costs_of(first, runs)
        run.results |= {test: result for test, result in first.results.items() if test not in lost}
        return _with_costs_of(run, runs)

    def _around(self) -> SupportPart | None:
        """Code that tests call to assert in the unedited project but do not reach with the edit."""
        return bypassed(
            self.support, self.edited, lambda tests: self._run(ControlTests(), tests, reach=True).reached
        )

    @cached_property
    def support(self) -> Mapping[SupportPart, tuple[str, ...]]:
        """Code outside the tests that asserts for them."""
        return asserting(self.check.digest, self.base, self.tests, self.backend)

    @cached_property
    def recorded(self) -> Recorded:
        """Values that the tests compute without the project's code, recorded in the unedited project."""
        found = recorded_of(self.check.digest, self.base, self.tests, self.backend)
        return replace(found, changed=frozenset({*self.check.files, *self.check.removed}))


class CargoControls(ProjectControls):
    """Control tests for the failing tests and half of the passing ones; false ones have the tests' own names."""

    canaries = staticmethod(rust_canaries)

    def confirm(self, first: ProjectRun) -> ProjectRun:
        """If a true control does not pass, the controls are drawn once more; then the tests themselves decide."""
        runs = [first]
        chosen = [*self.check.failing, *(test for test in self.check.passing if self.rng.random() < 0.5)]
        for _ in range(2):
            run, true = self._swapped(chosen, runs)
            if run.stop is not None and (run.tampered or not run.uncollected):
                return _with_costs_of(run, runs)
            if all(run.passed(true.get(test, test)) for test in self.tests):
                return _with_costs_of(first, runs)
        runs.append(self._run(ControlTests(), self.tests))
        return _with_costs_of(runs[-1], runs)

    def _swapped(self, chosen: list[str], runs: list[ProjectRun]) -> tuple[ProjectRun, dict[str, str]]:
        """A run of controls, and the true ones by test. Tampered if a false one passed that fails without the edit.

        If they end wrongly in the unedited project too, the tests' literals are left unchanged in a second try.
        """
        seed = self.rng.getrandbits(64)
        for literals in (True, False):
            draw = self._drawn(partial(rust_controls, tests=chosen, literals=literals), seed)
            controls = draw(True)
            tests = [*self.tests, *controls.true.values()]
            run = self._run(controls, tests)
            runs.append(run)
            odd = _told(run, controls, broke_off=run.stop is not None and not run.uncollected)
            if not odd:
                break
            like = draw(False)
            runs.append(self._run(like, tests, edited=False))
            if found := controls.blamed(odd, like, runs[-1].results):
                stop = (Outcome.FAILED, "does not build if its tests change")
                bad = replace(run, uncollected="", stop=stop) if run.uncollected else _forged(run, found)
                return bad, controls.true
        return run, controls.true


def _told(run: ProjectRun, controls: ControlTests, *, broke_off: bool) -> list[str]:
    """False controls reported as passed or not at all; none if a run broke off and reported none as passed."""
    odd = wrongly_ended(run.results, controls.false)
    return [] if broke_off and not any(map(run.passed, odd)) else odd


def _forged(run: ProjectRun, test: str) -> ProjectRun:
    word = "was not reported" if test not in run.results else "ended the wrong way"
    return _stopped(run, f"a canary or control test {word}: the tests' results were forged")


def _stopped(run: ProjectRun, cause: str) -> ProjectRun:
    return replace(run, tampered=cause, stop=(Outcome.TAMPERED, cause))


def _with_costs_of(last: ProjectRun, runs: Collection[ProjectRun]) -> ProjectRun:
    cpu, peak = sum(run.cpu_seconds for run in runs), max(run.peak_bytes for run in runs)
    return replace(last, cpu_seconds=cpu, peak_bytes=peak)
