"""`PythonToolchain`: Python answers judged by jailed worker processes, one at a time.

Threat model: the answer is hostile code of the trainer's user. It runs in a process of its own that a zygote forks for
it, and that process never holds an expected value, test code, another answer or a descriptor but its own pipes; it
sends return values, and trusted code decides. Not covered: bugs of the kernel; what `strop doctor` reports as open; an
answer that recognises test inputs.
"""

import time
from collections.abc import Sequence

from strop.core.checks import AssertsCheck, CasesCheck, Check, PytestCheck, StdioCheck
from strop.core.errors import VerificationError
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.sandbox.jailed import JailedProcess
from strop.sandbox.jails import choose
from strop.verification.python.asserts import run_asserts
from strop.verification.python.cases import run_cases
from strop.verification.python.child import Findings
from strop.verification.python.stdio import run_stdio
from strop.verification.python.suite.check import open_runner, run_pytest
from strop.verification.settings import Settings

TESTER_MEMORY = 1 << 30
"""Address space of a tester process, in bytes."""


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

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict a job. Raises WorkerDied when a process of ours broke, VerificationError for a bad task."""
        verdicts = []
        for task, answer in jobs:
            began = time.monotonic()
            findings = self._findings(task.check, answer)
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
            return run_pytest(check, answer, self._forks(), self._suites(), limits)
        raise VerificationError(f"python answers are not judged by a check of kind {check.kind!r}")

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
