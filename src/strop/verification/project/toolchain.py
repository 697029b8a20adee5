"""`ProjectToolchain`: an edit of a project judged by the project's own tests.

Threat model: the edited code runs in the same process as its tests (docs/project-checks.md says what follows). It
cannot reach another run, a later run or this process; it does not get the snapshot, so not what its files were before
the task was made. Results come signed over a channel of their own; neither exit status nor output counts. A pass is
believed only if canaries ended as they must beside the tests, and a second run in another order agrees.
"""

import random
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from strop.core.checks import ProjectCheck
from strop.core.errors import SandboxError, VerificationError, WorkerDied
from strop.core.task import Task
from strop.core.verdict import Outcome, Stage, TestResult, Verdict
from strop.verification.project import snapshot
from strop.verification.project.backend import Backend, open_backend
from strop.verification.project.canaries import CanaryTests, drawn
from strop.verification.project.layout import is_protected, layout_of, shadows
from strop.verification.project.runs import Request, Run, as_bytes
from strop.verification.python.child import Findings
from strop.verification.settings import Settings

_OPEN = 4
"""Projects whose processes a toolchain keeps running."""
_TEST_SECONDS = 5.0
CHANGES_TESTS = "the edit changes tests"


@dataclass(frozen=True)
class Judged:
    """An edit and the tests that it is judged by."""

    check: ProjectCheck
    base: snapshot.Files
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
    return replace(
        last,
        cpu_seconds=last.cpu_seconds + sum(run.cpu_seconds for run in before),
        peak_bytes=max(run.peak_bytes for run in (last, *before)),
    )


class ProjectToolchain:
    """Implements `strop.core.protocols.Toolchain` for checks of kind project. The answer itself is not looked at."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._backends: OrderedDict[tuple[str, str], Backend] = OrderedDict()

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
        base = load(check)
        if refused := refusal(check, base, task.language):
            return _refused(check, refused)
        began = time.monotonic()
        tests = list(dict.fromkeys([*check.failing, *check.passing]))
        try:
            backend = self._backend(check, base, task.language)
            judged = Judged(check, base, task.language, tests, backend)
            run = judged.run(lambda one: verdict_of(one, tests, 0.0).passed)
        except (SandboxError, WorkerDied) as error:
            self.close()
            raise WorkerDied(str(error)) from error
        verdict = verdict_of(run, tests, time.monotonic() - began)
        return verdict.model_copy(update={"trust": "same-process"}) if verdict.passed else verdict

    def _backend(self, check: ProjectCheck, base: snapshot.Files, language: str) -> Backend:
        key = check.digest, language
        backend = self._backends.pop(key, None)
        if backend is None:
            backend = open_backend(language, base, self._settings, _TEST_SECONDS)
        self._backends[key] = backend
        while len(self._backends) > _OPEN:
            self._backends.popitem(last=False)[1].close()
        return backend


def load(check: ProjectCheck) -> snapshot.Files:
    """The files of the check's snapshot. Raises VerificationError when it is missing or another one."""
    path = snapshot.locate(check.project)
    files, digest = _loaded(str(path), path.stat().st_mtime_ns)
    if digest != check.digest:
        raise VerificationError(
            f"the project's snapshot {path} is another one: its files have digest {digest}, "
            f"the task was made with {check.digest}"
        )
    return files


@lru_cache(maxsize=8)
def _loaded(path: str, changed: int) -> tuple[snapshot.Files, str]:
    files = snapshot.unpack(snapshot.locate(path))
    return files, snapshot.digest_of(files)


def refusal(check: ProjectCheck, base: snapshot.Files, language: str) -> str:
    """The file by which the edit would change what tests say, or an empty text."""
    named = {test.partition("::")[0] for test in (*check.failing, *check.passing)}
    layout = layout_of(base)
    for path in (*check.files, *check.removed):
        text = check.files.get(path)
        if text is not None and base.get(path) == text.encode("utf-8", "surrogatepass"):
            continue
        if path in named or is_protected(path, language):
            return path
        if language == "rust" and path.endswith(".rs") and _rust_tests(base.get(path)) != _rust_tests(text):
            return path
        if language == "python" and path not in base and shadows(path, layout.own, layout.roots):
            return path
    return ""


def _rust_tests(text: str | bytes | None) -> list[str]:
    from strop.verification.project.cargo import tests_within

    return tests_within(text.decode(errors="replace") if isinstance(text, bytes) else text or "")


def verdict_of(run: Run, tests: list[str], seconds: float) -> Verdict:
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
