"""`ProjectToolchain`: an edit of a project judged by the project's own tests.

Threat model: the edited code runs in the same process as its tests (docs/project-checks.md says what follows). It
cannot reach another run, a later run or this process; it does not get the snapshot, so not what its files were before
the task was made. Results come signed over a channel of their own; neither exit status nor output counts. A pass is
believed only if canaries ended as they must beside the tests, and a run of control tests in another order agrees, as
does one of false controls alone.
"""

import json
import math
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from strop.core.checks import ProjectCheck
from strop.core.errors import SandboxError, VerificationError, WorkerDied
from strop.core.snapshots import Files
from strop.core.task import Task
from strop.core.verdict import Outcome, Stage, TestResult, Verdict
from strop.verification.draws import drawn
from strop.verification.project import rust_control_tests
from strop.verification.project.backend import ROOM_WALL, Backend, open_backend
from strop.verification.project.canaries import CanaryTests, canary_tests
from strop.verification.project.control_tests import ControlTests, controls_beside, controls_in_place
from strop.verification.project.layout import refusal
from strop.verification.project.recorded import Recorded, recorded_of
from strop.verification.project.runs import ProjectRun, RunRequest, as_bytes
from strop.verification.project.snapshot import load_snapshot, locate_packages
from strop.verification.python.child import Findings
from strop.verification.settings import Settings

_OPEN = 4
"""Projects whose processes a toolchain keeps running."""
_TEST_SECONDS = 5.0
_RUNS = 2
"""The runs of an edit take at most so many times what one of them may take."""
CHANGES_TESTS = "the edit changes tests"


@dataclass(frozen=True)
class Judged:
    """An edit and the tests that it is judged by."""

    check: ProjectCheck
    base: Files
    language: str
    tests: list[str]
    """Named by the check, in its order."""
    backend: Backend
    until: float
    """When the runs of the edit end at the latest; those of the unedited project, which decide too, do not."""
    rng: random.Random
    """What is drawn for this edit."""

    def run(self, passed: Callable[[ProjectRun], bool]) -> ProjectRun:
        """The tests' run; one that passed is believed only if a second one, of control tests, agrees."""
        seed = self.rng.getrandbits(64)
        changed: dict[str, str] = dict(self.check.files)
        first, canaries = self._plain(seed, changed, self.check.removed, self.tests)
        if first.tampered or not passed(first):
            return first
        if odd := _wrongly_ended(first, canaries.must):  # does the project itself bear them?
            fine, same = self._plain(seed, {}, (), (), edited=False)
            usual = {same.kinds[test] for test in same.must} - {
                same.kinds[t] for t in _wrongly_ended(fine, same.must)
            }
            if found := next((test for test in odd if canaries.kinds[test] in usual), ""):
                return _forged(first, found)
        return self._again(first) if self.language == "python" else self._repeated(first)

    def _again(self, first: ProjectRun) -> ProjectRun:
        """The control tests in a fresh process, in another order; those in drawn places first, then in the tests' own.

        In their own places the failing tests' false controls stand alone in a process: code that holds what it meets
        first for right holds what is wrong for right there.
        """
        seed = self.rng.getrandbits(64)
        tree = self._tree(self.check.files, self.check.removed)
        controls = controls_beside(tree, self.tests, random.Random(seed), self.recorded)
        plain = [test for test in self.tests if test not in controls.true]
        run = self._run_controls(controls, plain, self.check.files, self.check.removed)
        before = [first]
        if odd := self._forged_control(run, controls, seed):
            return _with_costs_of(_forged(run, odd), *before)
        lost = self._lost(run, controls)
        if not run.tampered:
            alone = list(dict.fromkeys([*self.check.failing, *lost]))
            files = {**self.check.files, **controls.files}  # it looks as before
            for truth, chosen in ((False, alone), *([(True, lost)] if lost else [])):
                seed = self.rng.getrandbits(64)
                controls = controls_in_place(tree, chosen, random.Random(seed), self.recorded, truth=truth)
                plain = [test for test in chosen if truth and test not in controls.true]
                if not (plain or controls.true or controls.false):
                    continue
                before.append(run)
                run = self._run_controls(controls, plain, files, self.check.removed)
                if odd := self._forged_control(run, controls, seed, chosen):
                    return _with_costs_of(_forged(run, odd), *before)
                if not truth and run.stop is not None and not self._stops(chosen, seed):
                    return _with_costs_of(replace(run, results=first.results), *before)
            run.results |= {
                test: run.results[control].model_copy(update={"id": test})
                for test, control in controls.true.items()
                if control in run.results
            }
            lost = [test for test in lost if not _passed(run, test)]
        if not lost and not run.tampered:
            return _with_costs_of(first, run, *before[1:])
        run.results |= {test: result for test, result in first.results.items() if test not in lost}
        return _with_costs_of(run, *before)

    @cached_property
    def recorded(self) -> Recorded:
        """Values of what the tests compute without the project, told by the unedited one."""
        found = recorded_of(self.check.digest, self.base, self.tests, self.backend)
        return found.without({*self.check.files, *self.check.removed})

    def _lost(self, run: ProjectRun, controls: ControlTests) -> list[str]:
        """Tests that did not pass this time."""
        return [test for test in self.tests if not _passed(run, controls.true.get(test, test))]

    def _run_controls(
        self,
        controls: ControlTests,
        plain: list[str],
        files: Mapping[str, str],
        removed: Collection[str],
        *,
        edited: bool = True,
    ) -> ProjectRun:
        tests = list(dict.fromkeys([*plain, *controls.true.values(), *controls.false.values()]))
        order = self.rng.getrandbits(32) | 1
        until = self.until if edited else math.inf
        request = RunRequest(tests=tests, beside=list(controls.files), order=order, until=until)
        return self.backend.run(request, files={**files, **controls.files}, removed=removed)

    def _forged_control(
        self, run: ProjectRun, controls: ControlTests, seed: int, tests: list[str] | None = None
    ) -> str:
        """A control that must fail, was told to have passed or not at all, and is right in the unchanged project."""
        odd = [test for test, control in controls.false.items() if _wrongly_ended(run, {control: False})]
        if run.stop is not None and not any(_passed(run, controls.false[test]) for test in odd):
            return ""  # it did not come to its end, so nothing is believed of it
        if not odd:
            return ""
        rng, tree = random.Random(seed), self._tree({}, ())
        told = self.recorded
        same = (
            controls_in_place(tree, tests, rng, told, truth=False)
            if tests
            else controls_beside(tree, self.tests, rng, told)
        )
        usual = self._run_controls(same, [], {}, (), edited=False)
        fine = [
            test
            for test in odd
            if test in same.false and not _wrongly_ended(usual, {same.false[test]: False})
        ]
        return controls.false[fine[0]] if fine else ""

    def _stops(self, tests: list[str], seed: int) -> bool:
        """Whether the unchanged project does not come to the end of these tests' false controls either."""
        same = controls_in_place(self._tree({}, ()), tests, random.Random(seed), self.recorded, truth=False)
        return self._run_controls(same, [], {}, (), edited=False).stop is not None

    def _repeated(self, first: ProjectRun) -> ProjectRun:
        """In Rust: control tests for the failing tests and of some others, the false ones under the tests' own names.

        If a true one does not pass, they are drawn once more, and then the tests themselves decide.
        """
        before = [first]
        chosen = [*self.check.failing, *(test for test in self.check.passing if self.rng.random() < 0.5)]
        for _ in range(2):
            run, true = self._swapped(chosen, self.rng.getrandbits(64), before)
            if run.stop is not None and (run.tampered or not run.uncollected):
                return _with_costs_of(run, *before)
            if all(_passed(run, true.get(test, test)) for test in self.tests):
                return _with_costs_of(first, run, *before[1:])
            before.append(run)
        request = RunRequest(tests=self.tests, until=self.until)
        return _with_costs_of(
            self.backend.run(request, files=self.check.files, removed=self.check.removed), *before
        )

    def _swapped(
        self, chosen: list[str], seed: int, before: list[ProjectRun]
    ) -> tuple[ProjectRun, dict[str, str]]:
        """A run of controls, and the true ones by test. Tampered if a false one passed that fails without the edit."""
        files, removed = self.check.files, self.check.removed
        for literals in (True, False):
            drawn_alike = partial(rust_control_tests.rust_controls, tests=chosen, literals=literals)
            texts, true = drawn_alike(self._tree(files, removed), rng=random.Random(seed))
            request = RunRequest(tests=[*self.tests, *true.values()], until=self.until)
            run = self.backend.run(request, files={**files, **texts}, removed=removed)
            odd = [test for test in true if _wrongly_ended(run, {test: False})]
            unfinished = run.stop is not None and not run.uncollected
            if not odd or (unfinished and not any(_passed(run, test) for test in odd)):
                break
            changed, also = drawn_alike(self._tree({}, ()), rng=random.Random(seed))
            usual = self.backend.run(replace(request, until=math.inf), files=changed)
            before.append(usual)
            real = [test for test in odd if test in also and not _wrongly_ended(usual, {test: False})]
            if real and run.uncollected:
                return replace(
                    run, uncollected="", stop=(Outcome.FAILED, "does not build if its tests change")
                ), true
            if real:
                return _forged(run, real[0]), true
            if not literals:
                break
            before.append(run)
        return run, true

    def _tree(self, files: Mapping[str, str], removed: Collection[str]) -> dict[str, bytes]:
        return {path: data for path, data in {**self.base, **as_bytes(files)}.items() if path not in removed}

    def _plain(
        self,
        seed: int,
        files: Mapping[str, str],
        removed: Collection[str],
        tests: Collection[str],
        *,
        edited: bool = True,
    ) -> tuple[ProjectRun, CanaryTests]:
        canaries = canary_tests(self._tree(files, removed), self.tests, self.language, random.Random(seed))
        until = self.until if edited else math.inf
        request = RunRequest(tests=[*tests, *canaries.must], beside=list(canaries.files), until=until)
        return self.backend.run(request, files={**files, **canaries.files}, removed=removed), canaries


def _forged(run: ProjectRun, test: str) -> ProjectRun:
    word = "was not reported" if test not in run.results else "did not end as it must"
    cause = f"a test of ours {word}: the tests' results were forged"
    return replace(run, tampered=cause, stop=(Outcome.TAMPERED, cause))


def _passed(run: ProjectRun, test: str) -> bool:
    return test in run.results and run.results[test].outcome is Outcome.PASSED


def _wrongly_ended(run: ProjectRun, must: Mapping[str, bool]) -> list[str]:
    """Canaries that did not end as they must. One that took too long or had no memory says nothing."""
    wrong = {test: Outcome.FAILED if passes else Outcome.PASSED for test, passes in must.items()}
    return [test for test in wrong if test not in run.results or run.results[test].outcome is wrong[test]]


def _with_costs_of(last: ProjectRun, *before: ProjectRun) -> ProjectRun:
    return replace(
        last,
        cpu_seconds=last.cpu_seconds + sum(run.cpu_seconds for run in before),
        peak_bytes=max(run.peak_bytes for run in (last, *before)),
    )


class ProjectToolchain:
    """Implements `strop.core.protocols.Toolchain` for checks of kind project. The answer itself is not looked at."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self.wall_seconds = _RUNS * (settings.limits.wall_seconds + ROOM_WALL)
        self._settings = settings
        self._backends: OrderedDict[tuple[str, str, str], Backend] = OrderedDict()

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict a job. Raises WorkerDied when a process of ours broke, VerificationError for a bad check."""
        return [self._judge(task) for task, _ in jobs]

    def close(self) -> None:
        """Ends its processes; the next job starts fresh ones. Safe to call twice and from any thread."""
        backends, self._backends = self._backends, OrderedDict()
        for backend in backends.values():
            backend.close()

    def _judge(self, task: Task) -> Verdict:
        check = task.check.only(ProjectCheck)
        if not check.failing and not check.passing:
            raise VerificationError("the project check names no tests")
        base = load_snapshot(check)
        check = check.model_copy(update={"packages": locate_packages(check.packages)})
        if refused := refusal(check, base, task.language):
            return _refused(check, refused)
        began = time.monotonic()
        tests = list(dict.fromkeys([*check.failing, *check.passing]))
        try:
            backend = self._backend(check, base, task.language)
            until = time.monotonic() + _RUNS * backend.wall_seconds
            edit = json.dumps([sorted(check.files.items()), sorted(check.removed)])
            rng = drawn(task.id, edit, "project")
            judged = Judged(check, base, task.language, tests, backend, until, rng)
            run = judged.run(lambda one: verdict_of(one, tests, 0.0).passed)
        except (SandboxError, WorkerDied) as error:
            self.close()
            raise WorkerDied(str(error)) from error
        verdict = verdict_of(run, tests, time.monotonic() - began)
        return verdict.model_copy(update={"trust": "same-process"}) if verdict.passed else verdict

    def _backend(self, check: ProjectCheck, base: Files, language: str) -> Backend:
        key = check.digest, check.packages, language
        backend = self._backends.pop(key, None)
        if backend is None:
            settings = replace(self._settings, packages=check.packages)
            backend = open_backend(language, base, settings, _TEST_SECONDS)
        self._backends[key] = backend
        while len(self._backends) > _OPEN:
            self._backends.popitem(last=False)[1].close()
        return backend


def verdict_of(run: ProjectRun, tests: list[str], seconds: float) -> Verdict:
    """Passed only when every test was reported as passed and the run came to its end untampered."""
    findings = Findings(len(tests), "test")
    findings.built = not run.uncollected or any(name in run.results for name in tests)
    findings.build_error = run.uncollected[:300] if not findings.built else ""
    outcome, cause = run.stop or (Outcome.FAILED, "the test was not reported")
    unfinished = run.stop is not None and all(name in run.results for name in tests)
    for name in tests:
        result = run.results.get(name)
        if unfinished and name == tests[-1]:
            result = None  # all tests were told, but the run did not come to its end
        if result is None or run.tampered:
            why = cause if run.stop else run.uncollected or cause
            result = TestResult(id=name, outcome=outcome, message=why[:300])
        findings.results.append(result.model_copy(update={"message": _kind(result)}))
    findings.cpu, findings.peak = run.cpu_seconds, run.peak_bytes
    return findings.verdict(seconds)


def _kind(result: TestResult) -> str:
    """Why a test failed without the values that it compared."""
    kind, colon, _ = result.message.partition(":")
    return "assertion failed" if kind == "AssertionError" and colon else result.message[:300]


def _refused(check: ProjectCheck, path: str) -> Verdict:
    cause = f"{CHANGES_TESTS}: {path}"
    tests = [TestResult(id=name, outcome=Outcome.FAILED, message="not run") for name in check.failing]
    stage = Stage(name="build", passed=False, output=cause)
    return Verdict(outcome=Outcome.FAILED, stages=[stage], tests=tests, detail=cause)
