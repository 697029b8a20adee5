"""`PythonToolchain`: Python answers judged by jailed worker processes, one at a time.

Threat model: the answer is hostile code of the trainer's user. It runs in a process of its own that a zygote forks for
it, and that process never holds an expected value, test code, another answer or a descriptor but its own pipes; it
sends return values, and trusted code decides. Not covered: bugs of the kernel; what `strop doctor` reports as open; an
answer that recognises test inputs.
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from strop.core.checks import AssertsCheck, CasesCheck, Check, PytestCheck, StdioCheck
from strop.core.errors import VerificationError, WorkerDied
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.sandbox.jailed import JailedProcess
from strop.sandbox.jails import choose
from strop.sandbox.limits import Limits
from strop.verification.python.asserts import run_asserts
from strop.verification.python.cases import run_cases
from strop.verification.python.child import Findings
from strop.verification.python.stdio import run_stdio
from strop.verification.python.suite.check import SuiteReport, open_runner, run_pytest
from strop.verification.python.suite.second_look import TOO_EQUAL, Alteration, lies, sensitive
from strop.verification.settings import Settings

TESTER_MEMORY = 1 << 30
"""Address space of a tester process, in bytes."""
_KNOWN = 512
"""Tasks whose reference's comparisons are remembered."""


class PythonToolchain:
    """Implements `strop.core.protocols.Toolchain` for tasks whose language is python.

    Its zygote, tester and runner start when they are first asked for. Used by one thread, which must also start it.
    """

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._zygote: JailedProcess | None = None
        self._tester: JailedProcess | None = None
        self._runner: JailedProcess | None = None
        self._sensitive: OrderedDict[bytes, list[dict[str, Alteration]]] = OrderedDict()
        """By digest of a suite and its reference, how altered calls show; see `second_look`."""

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict a job. Raises WorkerDied when a process of ours broke, VerificationError for a bad task."""
        verdicts = []
        for task, answer in jobs:
            began = time.monotonic()
            findings = self._findings(task.check, answer)
            if isinstance(task.check, PytestCheck) and findings.compares and findings.passed:
                self._look_again(task.check, task.reference, answer, findings, time.monotonic() - began)
            verdicts.append(findings.verdict(time.monotonic() - began))
        return verdicts

    def _findings(self, check: Check, answer: str) -> Findings:
        limits = self.settings.limits
        if isinstance(check, CasesCheck):
            return run_cases(check, answer, self._forks(), self.tester, limits)
        if isinstance(check, AssertsCheck):
            return run_asserts(check, answer, self._forks(), self.tester(), limits)
        if isinstance(check, StdioCheck):
            return run_stdio(check, answer, self._forks(), self.tester, limits)
        if isinstance(check, PytestCheck):
            return self._suite(check, answer, limits, None).findings
        raise VerificationError(f"python answers are not judged by a check of kind {check.kind!r}")

    def _suite(
        self, check: PytestCheck, answer: str, limits: Limits, alter: dict[str, Alteration] | None
    ) -> SuiteReport:
        wire = None if alter is None else {name: one.wire() for name, one in alter.items()}
        return run_pytest(check, answer, self._forks(), self._suites(), limits, wire)

    def _look_again(
        self, check: PytestCheck, reference: str, answer: str, findings: Findings, seconds: float
    ) -> None:
        """Fails a passed answer whose objects compare as before in altered tests. Nothing else here changes a verdict.

        Its runs may take four times the `seconds` of the first one and one more, or what is left of the limit.
        """
        if not reference.strip() or reference == answer:
            return
        limits = self.settings.limits
        wall = max(limits.wall_seconds - seconds, min(limits.wall_seconds, 4 * seconds + 1))
        try:
            for alterations in self._sensitive_tests(check, reference):
                began = time.monotonic()
                chosen = check.model_copy(update={"tests": list(alterations)})
                report = self._suite(chosen, answer, replace(limits, wall_seconds=wall), alterations)
                findings.cpu += report.findings.cpu
                wall -= time.monotonic() - began
                if lied := lies(report):
                    number = next(n for n, result in enumerate(findings.results) if result.id == lied[0])
                    told = {"outcome": Outcome.FAILED, "message": TOO_EQUAL}
                    findings.results[number] = findings.results[number].model_copy(update=told)
                if lied or wall <= 0:
                    return
        except WorkerDied:  # the verdict stands; the next answer finds fresh processes
            self.close()

    def _sensitive_tests(self, check: PytestCheck, reference: str) -> list[dict[str, Alteration]]:
        """Raises WorkerDied; then nothing is remembered."""
        digest = hashlib.sha256(
            f"{check.model_dump_json()}\0{reference}".encode("utf-8", "surrogatepass")
        ).digest()
        known = self._sensitive.get(digest)
        if known is None:
            limits = self.settings.limits

            def run(tests: list[str], alter: dict[str, Alteration]) -> SuiteReport:
                return self._suite(check.model_copy(update={"tests": tests}), reference, limits, alter)

            try:
                known = sensitive(check, run, limits.wall_seconds)
            except WorkerDied:
                raise
            except VerificationError:
                known = []
            self._sensitive[digest] = known
            while len(self._sensitive) > _KNOWN:
                self._sensitive.popitem(last=False)
        self._sensitive.move_to_end(digest)
        return known

    def _forks(self) -> JailedProcess:
        if self._zygote is None:
            self._zygote = self._started("strop.verification.python.zygote")
        return self._zygote

    def tester(self) -> JailedProcess:
        """The running tester, started when there is none or it was closed."""
        if self._tester is None or self._tester.closed:
            self._tester = self._started("strop.verification.python.tester", str(TESTER_MEMORY))
        return self._tester

    def _suites(self) -> JailedProcess:
        if self._runner is None or self._runner.closed:
            self._runner = open_runner(self.settings.jail, self.settings.allow_unsafe)
        return self._runner

    def _started(self, module: str, *arguments: str) -> JailedProcess:
        return JailedProcess(
            module,
            choose(self.settings.jail),
            allow_unsafe=self.settings.allow_unsafe,
            arguments=arguments,
            hash_seed=self.settings.hash_seed,
        )

    def close(self) -> None:
        """Ends its processes; the next job starts fresh ones. Safe to call twice and from any thread."""
        for process in (self._zygote, self._tester, self._runner):
            if process is not None:
                process.close()
        self._zygote = self._tester = self._runner = None
