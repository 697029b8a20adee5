"""`ProjectToolchain`: judges an edit of a project by the project's own tests.

Threat model: the edited code runs in the same process as its tests (docs/verification.md describes the consequences).
It cannot reach another run, a later run or this process; it does not get the snapshot, and so not the files as they
were before the task was made. Results come signed over a separate channel; neither exit status nor output counts. A
pass is believed only if canaries beside the tests end as required, and if a run of control tests in another order and
a run of false controls alone agree.
"""

import json
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from strop_verify.core.checks import ProjectCheck
from strop_verify.core.errors import SandboxError, VerificationError, WorkerDied
from strop_verify.core.snapshots import Files
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict
from strop_verify.verification.project.backend import ROOM_WALL, Backend, open_backend
from strop_verify.verification.project.controls import CargoControls, PytestControls
from strop_verify.verification.project.layout import refusal
from strop_verify.verification.project.runs import ProjectRun
from strop_verify.verification.project.snapshot import load_snapshot, locate_packages
from strop_verify.verification.project.support import SupportPart, asserting, changed, support_of
from strop_verify.verification.python.child import Findings
from strop_verify.verification.secret_rng import drawn
from strop_verify.verification.settings import Settings

_OPEN = 4
"""Maximum number of projects whose processes a toolchain keeps running."""
_TEST_SECONDS = 5.0
_RUNS = 2
"""Time limit for all runs of an edit together, as a multiple of one run's."""
CHANGES_TESTS = "the edit changes tests"


class ProjectToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for checks of kind project, which ignore the answer's text."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self.wall_seconds = _RUNS * (settings.limits.wall_seconds + ROOM_WALL)
        self._settings = settings
        self._backends: OrderedDict[tuple[str, str, str], Backend] = OrderedDict()

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job. Raises WorkerDied if our own process broke, VerificationError for a bad check."""
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
            if task.language == "python" and (own := self._support(check, base, tests, backend)):
                return _refused(check, str(own), Outcome.TAMPERED)
            until = time.monotonic() + _RUNS * backend.wall_seconds
            edit = json.dumps([sorted(check.files.items()), sorted(check.removed)])
            rng = drawn(task.id, edit, "project")
            controls = CargoControls if task.language == "rust" else PytestControls
            run = controls(check, base, tests, backend, until, rng).run(
                lambda one: verdict_of(one, tests, 0.0).passed
            )
        except (SandboxError, WorkerDied) as error:
            self.close()
            raise WorkerDied(str(error)) from error
        verdict = verdict_of(run, tests, time.monotonic() - began)
        return verdict.model_copy(update={"trust": "same-process"}) if verdict.passed else verdict

    def _support(
        self, check: ProjectCheck, base: Files, tests: list[str], backend: Backend
    ) -> SupportPart | None:
        """A part of the tests outside their files that the edit changes."""
        pieces = changed(support_of(check.digest, base, tests), base, check.files, check.removed)
        own = asserting(check.digest, base, tests, backend) if pieces else {}
        return next((piece for piece in pieces if piece in own), None)

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
    """The verdict on a run: passed only if every test was reported as passed and the run finished untampered."""
    findings = Findings(len(tests), "test")
    findings.built = not run.uncollected or any(name in run.results for name in tests)
    findings.build_error = run.uncollected[:300] if not findings.built else ""
    outcome, cause = run.stop or (Outcome.FAILED, "the test was not reported")
    unfinished = run.stop is not None and all(name in run.results for name in tests)
    for name in tests:
        result = run.results.get(name)
        if unfinished and name == tests[-1]:
            result = None  # all tests were reported, but the run did not finish
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


def _refused(check: ProjectCheck, path: str, outcome: Outcome = Outcome.FAILED) -> Verdict:
    cause = f"{CHANGES_TESTS}: {path}"
    tests = [TestResult(id=name, outcome=Outcome.FAILED, message="not run") for name in check.failing]
    stage = Stage(name="build", passed=False, output=cause)
    return Verdict(outcome=outcome, stages=[stage], tests=tests, detail=cause)
