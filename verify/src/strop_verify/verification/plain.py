"""Judges Python test code in one process with the answer, as it was written to run, where two are not enough.

In two processes (`verification.python`), answer and tests exchange values. Test code may do more: patch a library, read
a docstring or a log, compare with `is`, change what it passed. So

- an answer is judged in one process if the reference fails in two or, without one, the test code visibly needs that;
- an answer that fails in two processes because an object does not cross can pass with the nearest plain value, if it
  also passes unchanged in one process;
- an answer that passes in two processes must also pass in one if the tests can tell an object from a copy
  (`beyond_values`; a suite always can) and the reference, if any, passes there.

    apart    in two processes
    watched  in one process, with canaries and control tests, like a project's tests (`verification.project`)
    plain    in one process, with the tests alone; enough if the controls do not fit the reference
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from strop_verify.code.python import source as pysource
from strop_verify.core.checks import AssertsCheck, ProjectCheck, PytestCheck
from strop_verify.core.errors import SandboxError, TaskFault, VerificationError, WorkerDied
from strop_verify.core.snapshots import Files, digest_of
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.packages import PackageSite
from strop_verify.verification import asserts_file
from strop_verify.verification.project.backend import PATIENCE
from strop_verify.verification.project.controls import PytestControls
from strop_verify.verification.project.needs import needs_of
from strop_verify.verification.project.process import TestsProcess
from strop_verify.verification.project.runs import (
    EVERYTHING,
    CompileCache,
    ProjectRun,
    RunRequest,
    as_bytes,
    ending,
    with_room,
)
from strop_verify.verification.project.support import SupportPart
from strop_verify.verification.project.toolchain import verdict_of
from strop_verify.verification.python.toolchain import PythonToolchain
from strop_verify.verification.secret_rng import drawn
from strop_verify.verification.settings import Settings

_OPEN = 2
"""Number of processes kept running, one for each set of packages that tests import."""
_KNOWN = 4096
_TEST_SECONDS, _LOADING = 5.0, 10.0
"""CPU seconds per test, and for import and collection."""
_WALL = 60.0
"""Wall seconds of a run in addition to an answer's limit."""
_RUNS = 3

_ABSENT = """class Absent:
    def __init__(self, *args, **kwargs): raise NotImplementedError


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent
"""
"""Stands in for a missing reference: every name exists, but using one raises."""


class PlainControls(PytestControls):
    """Controls for an answer that is a whole module: they include no code from outside the tests."""

    @cached_property
    def support(self) -> dict[SupportPart, tuple[str, ...]]:
        """Always empty."""
        return {}


class SuiteBackend:
    """Implements `project.backend.Backend` on a process that small projects use one after another."""

    def __init__(self, base: Files, process: TestsProcess, settings: Settings) -> None:
        self.wall_seconds = settings.limits.wall_seconds + _WALL
        self._base, self._process, self._limits = base, process, settings.limits

    def run(
        self,
        request: RunRequest = EVERYTHING,
        *,
        files: Mapping[str, str] | None = None,
        removed: Collection[str] = (),
    ) -> ProjectRun:
        """See `project.backend.Backend`."""
        seconds = request.seconds or _TEST_SECONDS
        request = replace(request, seconds=seconds, patience=PATIENCE, loading=_LOADING)
        limits = ending(with_room(self._limits, cpu=_LOADING, wall=_WALL), request.until)
        self._process.take(self._base, CompileCache())
        return self._process.run(request, limits, files=as_bytes(files or {}), removed=removed)

    def close(self) -> None:
        """Does nothing: the process is shared."""


class PythonVerifier:
    """Implements `strop_verify.core.protocols.Toolchain` for tasks whose language is python."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._apart = PythonToolchain(settings)
        self.wall_seconds = self._apart.wall_seconds
        self._processes: OrderedDict[PackageSite, TestsProcess] = OrderedDict()
        self._late = False
        self._known: OrderedDict[bytes, bool] = OrderedDict()
        """Findings about references, by digest of the task and the question."""

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job. Raises WorkerDied if one of our processes broke, VerificationError for a bad task."""
        return [self._judge(task, answer) for task, answer in jobs]

    def close(self) -> None:
        """Ends its processes; the next job starts fresh ones. Safe to call twice and from any thread."""
        self._apart.close()
        processes, self._processes = self._processes, OrderedDict()
        for process in processes.values():
            process.close()

    def _judge(self, task: Task, answer: str) -> Verdict:
        if why := task.check.never_fails():
            raise TaskFault(f"no answer can fail the test code: {why}")
        try:
            apart, may_differ = self._apart.judged(task, answer)
        except WorkerDied:
            raise
        except VerificationError:
            if not self._parts(task):
                raise
            return self._beside(task, answer)
        if apart.passed:
            return self._confirmed(task, answer, apart) if may_differ else apart
        if self._parts(task):
            return self._beside(task, answer)
        if not may_differ or not self._plain(task, answer).passed:
            return apart
        near, _ = self._apart.judged(task, answer, near=True)
        return near if near.passed else apart

    def _confirmed(self, task: Task, answer: str, apart: Verdict) -> Verdict:
        """The pass `apart`, or the verdict in one process if that fails although a reference would pass there."""
        plain = self._plain(task, answer)
        stands = plain.passed or plain.outcome is Outcome.TIMED_OUT or not self._fits(task)
        return apart if stands else plain

    def _beside(self, task: Task, answer: str) -> Verdict:
        """The verdict in one process: a pass must also pass the controls, unless the task's reference does not."""
        plain = self._plain(task, answer)
        if not plain.passed:
            return plain
        watched = self._watched(task, answer)
        return plain if not watched.passed and self._only_plain(task) else watched

    def _parts(self, task: Task) -> bool:
        """Whether one process is needed: the reference passes only there or, without one, the test code shows it."""
        if not isinstance(task.check, PytestCheck | AssertsCheck):
            return False
        if not task.reference.strip():
            return task.check.shares_process()

        def found() -> bool:
            passes = self._apart.passes(task, task.reference)
            self._late |= passes is None
            return passes is False

        return self._found(task, "parts", found) and self._fits(task)

    def _fits(self, task: Task) -> bool:
        """Whether the reference passes in one process, or there is none."""
        if not task.reference.strip():
            return True
        return self._found(task, "fits", lambda: self._plain(task, task.reference).passed)

    def _only_plain(self, task: Task) -> bool:
        """Whether the reference passes in one process, but fails the controls."""
        if not task.reference.strip() or not self._fits(task):
            return False
        return self._found(task, "only plain", lambda: not self._watched(task, task.reference).passed)

    def _found(self, task: Task, what: str, find: Callable[[], bool]) -> bool:
        """A finding about a task, remembered unless a run timed out, as on a busy machine."""
        parts = (what, task.id, task.check.model_dump_json(), task.reference)
        key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
        if key not in self._known:
            self._late = False
            made = find()
            if self._late:
                return made
            self._known[key] = made
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return self._known[key]

    def _watched(self, task: Task, answer: str) -> Verdict:
        check, base, backend, until = self._opened(task, answer)
        rng, tests = drawn(task.id, answer, "watched"), check.failing
        controls = PlainControls(check, base, tests, backend, until, rng)
        return self._verdict(check, lambda: controls.run(lambda one: verdict_of(one, tests, 0.0).passed))

    def _plain(self, task: Task, answer: str) -> Verdict:
        check, _, backend, until = self._opened(task, answer)
        request = RunRequest(tests=check.failing, until=until)
        return self._verdict(check, lambda: backend.run(request, files=check.files))

    def _opened(self, task: Task, answer: str) -> tuple[ProjectCheck, Files, SuiteBackend, float]:
        """Sets up the answer as an edit of a project that holds the tests and, in the answer's place, the reference."""
        check = task.check
        if isinstance(check, AssertsCheck):
            above, path, files = check.preamble, f"{asserts_file.MODULE}.py", asserts_file.files_of(check)
            tests = [f"{asserts_file.NAME}::{asserts_file.TEST}"]
        else:
            suite = check.only(PytestCheck)
            above, path, tests, files = "", suite.path, list(dict.fromkeys(suite.tests)), suite.files
        texts = task.reference, answer
        reference, edit = (pysource.below(above, text) if above else text for text in texts)
        base = {name: text.encode("utf-8", "surrogatepass") for name, text in files.items()}
        base[path] = (reference if reference.strip() else _ABSENT).encode("utf-8", "surrogatepass")
        backend = SuiteBackend(base, self._process(base), self._settings)
        edited = ProjectCheck(project="", digest=digest_of(base), files={path: edit}, failing=tests)
        return edited, base, backend, time.monotonic() + _RUNS * backend.wall_seconds

    def _process(self, base: Files) -> TestsProcess:
        site = needs_of(base).site
        process = self._processes.pop(site, None)
        if process is None or process.closed:
            process = TestsProcess(base, replace(self._settings, packages=""), CompileCache())
        self._processes[site] = process
        while len(self._processes) > _OPEN:
            self._processes.popitem(last=False)[1].close()
        return process

    def _verdict(self, check: ProjectCheck, run: Callable[[], ProjectRun]) -> Verdict:
        began = time.monotonic()
        try:
            verdict = verdict_of(run(), check.failing, time.monotonic() - began)
        except (SandboxError, WorkerDied) as error:
            self.close()
            raise WorkerDied(str(error)) from error
        self._late |= verdict.outcome is Outcome.TIMED_OUT
        return verdict.model_copy(update={"trust": "same-process"}) if verdict.passed else verdict
