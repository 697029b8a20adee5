"""`PythonToolchain`: judges Python answers with jailed worker processes, one at a time.

Threat model: the answer is hostile code of the trainer's user. It runs in its own process, forked by a zygote. That
process never holds an expected value, test code, another answer or any descriptor but its own pipes; it sends return
values, and trusted code decides. Not covered: kernel bugs; what `strop doctor` reports as open; recognised test inputs.
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from strop_verify.code.python import source as pysource
from strop_verify.core.checks import AssertsCheck, CasesCheck, Check, PytestCheck, StdioCheck
from strop_verify.core.errors import VerificationError, WorkerDied
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.jailed import JailedProcess
from strop_verify.sandbox.jails import choose
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.controls import SECOND_LOOK_LIMITS
from strop_verify.verification.python.asserts import run_asserts
from strop_verify.verification.python.cases import run_cases
from strop_verify.verification.python.child import Findings
from strop_verify.verification.python.stdio import run_stdio
from strop_verify.verification.python.suite.check import SuiteReport, open_runner, run_pytest
from strop_verify.verification.python.suite.second_look import Alteration, Round, SuiteControls, find_rounds
from strop_verify.verification.secret_rng import drawn
from strop_verify.verification.settings import Settings

TESTER_MEMORY = 1 << 30
"""Address space of a tester process, in bytes."""
_KNOWN = 512
"""Maximum number of findings about references that are remembered."""
CHANGED = "it passes only by changing its arguments, and the reference does not need that"
_Found = TypeVar("_Found")


class PythonToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for tasks whose language is python.

    Its zygote, tester and runner start on first use. Used by one thread, which must also start it.
    """

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.wall_seconds = settings.limits.wall_seconds
        """Time within which an answer gets its verdict, not counting second looks at a pass."""
        self._zygote: JailedProcess | None = None
        self._tester: JailedProcess | None = None
        self._runner: JailedProcess | None = None
        self._found: OrderedDict[bytes, Any] = OrderedDict()
        """Findings about references: `_remembered`."""

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job. Raises WorkerDied if one of our processes broke, VerificationError for a bad task."""
        return [self.judged(task, answer)[0] for task, answer in jobs]

    def judged(self, task: Task, answer: str, *, near: bool = False) -> tuple[Verdict, bool]:
        """The verdict, and whether tests in one process with the answer may give another. Raises like `judge`.

        A failed build or second look, tampering and exceeded limits are final. `near`: in tests written in Python,
        plain values replace what does not cross (`verification.python.nearest`).
        """
        self._start(task.check)  # not part of the answer's time
        began = time.monotonic()
        findings = self._findings(task.check, answer, near=near)
        findings.check_memory(self.settings.limits)
        passed = findings.passed
        if passed and (findings.changed or findings.objects):
            self._look_again(task, answer, findings, near)
        verdict = findings.verdict(time.monotonic() - began)
        usual = verdict.outcome in (Outcome.PASSED, Outcome.FAILED) and findings.built
        stands = not usual or verdict.passed != passed
        return verdict, not stands and (task.check.beyond_values() if passed else findings.uncrossed)

    def passes(self, task: Task, answer: str, *, changes: bool = True) -> bool | None:
        """Whether a trusted answer passes, with time for a busy machine; None if it was late. Raises WorkerDied."""
        try:
            findings = self._findings(task.check, answer, self._reference_limits, changes=changes)
        except WorkerDied:
            raise
        except VerificationError:
            return False
        return None if findings.late(self.settings.limits) else findings.stop is None and findings.passed

    def _findings(
        self,
        check: Check,
        answer: str,
        limits: Limits | None = None,
        *,
        changes: bool = True,
        near: bool = False,
    ) -> Findings:
        limits = limits or self.settings.limits
        if isinstance(check, CasesCheck | AssertsCheck | StdioCheck):
            answer = pysource.below(check.preamble, answer)
        if isinstance(check, CasesCheck):
            return run_cases(check, answer, self._forks(), self.tester, limits)
        if isinstance(check, AssertsCheck):
            forks, tester = self._forks(), self.tester()
            return run_asserts(check, answer, forks, tester, limits, changes=changes, near=near)
        if isinstance(check, StdioCheck):
            return run_stdio(check, answer, self._forks(), self.tester, limits)
        if isinstance(check, PytestCheck):
            forks, suites = self._forks(), self._suites()
            return run_pytest(check, answer, forks, suites, limits, changes=changes, near=near).findings
        raise VerificationError(f"a check of kind {check.kind!r} does not judge Python answers")

    def _look_again(self, task: Task, answer: str, findings: Findings, near: bool) -> None:
        """Fails a passed answer that passes only by changing its arguments, or whose objects give the same values in
        altered tests. Nothing else here changes a verdict.

        Each run has the full limits of an answer, however long the first one took, and findings about a reference
        depend only on its task. So the verdict does not depend on what else is judged.
        """
        if not task.reference.strip() or task.reference == answer:
            return
        try:
            if findings.changed:
                self._without_changes(task, answer, findings, near)
            if findings.passed and findings.objects and isinstance(task.check, PytestCheck):
                self._with_altered_calls(task, task.check, answer, findings, near)
        except WorkerDied:  # the verdict stands; the next answer starts fresh processes
            self.close()

    @property
    def _reference_limits(self) -> Limits:
        """Limits of a reference, which a busy machine must not cut short."""
        limits = self.settings.limits
        return replace(limits, wall_seconds=SECOND_LOOK_LIMITS * limits.wall_seconds)

    def _without_changes(self, task: Task, answer: str, findings: Findings, near: bool) -> None:
        """Judges the answer without copying its changes to arguments, if the reference passes that way."""
        pure = partial(self.passes, task, task.reference, changes=False)
        if self._remembered("pure", task, pure, bad=False):
            again = self._findings(task.check, answer, changes=False, near=near)
            findings.cpu += again.cpu
            bad = next((n for n, outcome in enumerate(again.outcomes) if outcome is not Outcome.PASSED), None)
            if bad is not None:
                findings.fail(bad, CHANGED, again.outcomes[bad])

    def _with_altered_calls(
        self, task: Task, check: PytestCheck, answer: str, findings: Findings, near: bool
    ) -> None:
        def run(code: str, limits: Limits, near: bool, alter: Mapping[str, Alteration]) -> SuiteReport:
            wire = {name: one.wire() for name, one in alter.items()}
            return run_pytest(check, code, self._forks(), self._suites(), limits, wire, near=near)

        def find() -> list[Round]:
            reference = partial(run, task.reference, self._reference_limits, False)
            return find_rounds(reference, drawn(task.id, "", "altered calls"))

        if rounds := self._remembered("altered", task, find, bad=list[Round]()):
            limits, rng = self.settings.limits, drawn(task.id, answer, "second look")
            seconds = SECOND_LOOK_LIMITS * limits.wall_seconds
            SuiteControls(partial(run, answer, limits, near), rounds, rng, seconds).confirm(findings)

    def _remembered(
        self, what: str, task: Task, find: Callable[[], _Found | None], *, bad: _Found
    ) -> _Found | None:
        """What `find` returns for a task's reference, or `bad` if it cannot be judged, remembered unless it is None."""
        parts = (what, task.id, task.check.model_dump_json(), task.reference)
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
        if digest not in self._found:
            try:
                made = find()
            except WorkerDied:
                raise
            except VerificationError:
                made = bad
            if made is None:
                return None
            self._found[digest] = made
            while len(self._found) > _KNOWN:
                self._found.popitem(last=False)
        self._found.move_to_end(digest)
        found: _Found = self._found[digest]
        return found

    def _start(self, check: Check) -> None:
        if isinstance(check, CasesCheck | AssertsCheck | StdioCheck | PytestCheck):
            self._forks()
        if isinstance(check, AssertsCheck):
            self.tester()
        if isinstance(check, PytestCheck):
            self._suites()

    def _forks(self) -> JailedProcess:
        if self._zygote is None:
            self._zygote = self._started("strop_verify.verification.python.zygote")
        return self._zygote

    def tester(self) -> JailedProcess:
        """The running tester; starts one if there is none or it was closed."""
        if self._tester is None or self._tester.closed:
            module = "strop_verify.verification.python.tester"
            self._tester = self._started(module, str(TESTER_MEMORY), forks=True)
        return self._tester

    def _suites(self) -> JailedProcess:
        if self._runner is None or self._runner.closed:
            self._runner = open_runner(self.settings.jail, self.settings.allow_unsafe)
        return self._runner

    def _started(self, module: str, *arguments: str, forks: bool = False) -> JailedProcess:
        return JailedProcess(
            module,
            choose(self.settings.jail),
            allow_unsafe=self.settings.allow_unsafe,
            arguments=arguments,
            forks=forks,
            hash_seed=self.settings.hash_seed,
        )

    def close(self) -> None:
        """Ends its processes; the next job starts fresh ones. Safe to call twice and from any thread."""
        for process in (self._zygote, self._tester, self._runner):
            if process is not None:
                process.close()
        self._zygote = self._tester = self._runner = None
