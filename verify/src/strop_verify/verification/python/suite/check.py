"""The trainer's side of the *pytest* check: starts candidate and runner, sends the task's files, reads the results.

The answer is never written to disk. Passed means that every test of `check.tests` was reported as passed over a channel
that only the runner holds; the answer's process holds only its own channel.
"""

import builtins
import json
import socket
import sys
from contextlib import closing
from dataclasses import asdict
from typing import Any

from strop_verify.core.checks import PytestCheck
from strop_verify.core.errors import VerificationError
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.verdict import Outcome, TestResult
from strop_verify.sandbox.jailed import JailedProcess, WorkFolder
from strop_verify.sandbox.jails import choose
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.packages import TESTS, PackageSite, site_of
from strop_verify.sandbox.pump import Capture, Pump
from strop_verify.sandbox.work import safe_name
from strop_verify.verification.python.asserts import TesterReport, let_finish, stopped
from strop_verify.verification.python.candidate_client import GONE
from strop_verify.verification.python.child import fork, reap, worse
from strop_verify.verification.python.names import bound_names, module_names
from strop_verify.verification.python.suite.altered_calls import COLLECTION
from strop_verify.verification.python.wire import frame
from strop_verify.verification.secret_rng import drawn

RUNNER_MEMORY = 2 << 30
"""Address space of a runner's child, in bytes."""
BOX = "/box"
"""Name of the work directory in verdicts, since its path may be random."""


class SuiteReport(TesterReport):
    """Reads a runner's frames and keeps the results by test id."""

    def __init__(self, work: str) -> None:
        super().__init__()
        self._work = work
        self.tests: dict[str, TestResult] = {}
        self.uncollected = ""
        self.said: dict[str, str] = {}
        """For each test, what objects of the answer returned: the entries of `SuiteCalls.said`, one per line."""
        self.calls: dict[str, list[str]] = {}
        self.before: dict[str, list[int]] = {}
        """For each test, how many of its calls came before each of these entries, except for new objects."""
        self.altered: set[str] = set()

    def _handle(self, message: dict[str, Any]) -> None:
        if "test" in message:
            self._note(message)
            text = message["x"].replace(self._work, BOX)
            if text == GONE:  # the candidate's exit decides the cause and the test's outcome
                return
            bad = Outcome.OUT_OF_MEMORY if text.startswith("MemoryError") else Outcome.FAILED
            outcome = Outcome.PASSED if message["ok"] is True else bad
            name = message["test"]
            result = TestResult(id=name, outcome=outcome, message=text, seconds=message["s"])
            self.tests[name] = worse(self.tests.get(name), result)
        elif "collected" in message:
            self.calls[COLLECTION] = message["collected"]
        elif "collect" in message:
            self.uncollected = (
                self.uncollected or f"{message['collect']}: {message['x']}".replace(self._work, BOX)[:300]
            )
        else:
            super()._handle(message)

    def _note(self, message: dict[str, Any]) -> None:
        name = message["test"]
        if "said" in message:
            self.said[name] = message["said"]
            self.findings.objects = True
        if message.get("altered"):
            self.altered.add(name)
        self.calls[name], self.before[name] = message.get("calls", []), message.get("before", [])


def open_runner(jail: str, allow_unsafe: bool) -> JailedProcess:
    """The process that runs suites, with a work directory. Raises VerificationError if pytest is not installed."""
    chosen, site = choose(jail), testing_site()
    return JailedProcess(
        "strop_verify.verification.python.suite.runner",
        chosen,
        allow_unsafe=allow_unsafe,
        arguments=(site.packages, json.dumps(site.read)),
        read=site.read,
        folder=WorkFolder(chosen, "strop-suite-"),
    )


def testing_site() -> PackageSite:
    """pytest and what it needs. Raises VerificationError if it is not installed."""
    site = site_of(TESTS)
    if "pytest" in site.lacking:
        raise VerificationError(
            "checks of kind 'pytest' need pytest, which is not installed here: pip install 'strop-verify[suites]'"
        )
    return site


def run_pytest(
    check: PytestCheck,
    answer: str,
    zygote: JailedProcess,
    runner: JailedProcess,
    limits: Limits,
    alter: dict[str, list[int | str]] | None = None,
    *,
    changes: bool = True,
    near: bool = False,
) -> SuiteReport:
    """Runs the suite once on one candidate. Raises WorkerDied if our process broke, VerificationError for a bad task.

    `changes`: whether what calls do to their arguments reaches the tests. `near`: whether plain values stand for
    objects of classes that the tests do not name.

    `alter`: calls of tests to make with other values (`second_look`); unless it is None, calls are recorded, even if it
    is empty. All tests run in any case, so that the answer cannot tell the runs apart.
    """
    altered = None if alter is None else list(alter.items())
    job = _job(check, answer, runner.work, limits) | {"alter": altered, "changes": changes, "near": near}
    report, output, pump = SuiteReport(runner.work), Capture(limits.output_bytes), Pump(limits)
    ours, theirs = socket.socketpair()
    with ours, theirs, closing(fork(zygote, limits, "module")) as child:
        bounds = Limits(limits.cpu_seconds + 1, limits.wall_seconds, RUNNER_MEMORY, open_files=256)
        request = {"op": "fork", "limits": asdict(bounds)}
        pid = runner.ask(request, [theirs.fileno(), child.channel.fileno()])["pid"]
        theirs.close()
        child.channel.close()
        pump.watch(child.pid, fresh=True)
        pump.watch(pid, fresh=True)
        pump.read(child.output, output)
        pump.read(ours.fileno(), report.feed)
        pump.write(ours.fileno(), frame(job))
        while not report.over and not output.flood and pump.step():
            pass
        end = reap(zygote, kill=report.fault != "gone")
        let_finish(report, ours, pump)
        reap(runner, kill=True)
        pump.drain(child.output)
    findings = report.findings
    findings.account(end, output)
    stop = stopped(report, output, pump, end)
    _conclude(check, report, stop if report.fault or not report.done else None)
    return report


def _job(check: PytestCheck, answer: str, work: str, limits: Limits) -> dict[str, Any]:
    if not check.tests:
        raise VerificationError("the pytest check names no tests")
    name = module_names(check.path)[0]
    if not check.path.endswith(".py") or name in sys.stdlib_module_names:
        raise VerificationError(f"the pytest check's path {check.path!r} is not an importable file")
    hidden = hidden_names(check.files)
    paths = list(dict.fromkeys(test.partition("::")[0] for test in check.tests))
    if absent := [path for path in paths if path not in check.files]:
        raise VerificationError(f"the pytest check has tests of {absent[0]!r}, which is not among its files")
    try:
        files = {safe_name(n): text for n, text in check.files.items() if n != check.path}
    except ValueError as error:
        raise VerificationError(str(error)) from None
    return {
        "code": answer,
        "path": check.path,
        "work": work,
        "files": list(files.items()),
        "paths": paths,
        "hidden": hidden,
        "result_bytes": limits.result_bytes,
        "draws": drawn(check.model_dump_json(), answer, "suite").randbytes(16),
    }


def hidden_names(files: dict[str, str]) -> list[str]:
    """Names that `from module import *` must not import: builtins and top-level names of the task's own files.

    Raises VerificationError if a file of the task is not valid Python.
    """
    names = set(dir(builtins))
    for path, text in files.items():
        if path.endswith(".py"):
            try:
                names |= bound_names(syntax_tree(text, path).body)
            except (SyntaxError, ValueError) as error:
                raise VerificationError(f"test code: {type(error).__name__}: {error}") from None
    return sorted(names)


def _conclude(check: PytestCheck, report: SuiteReport, stop: tuple[Outcome, str] | None) -> None:
    """Gives every expected test its result, and the cause to the first that was not reported."""
    findings = report.findings
    expected = list(dict.fromkeys(check.tests))
    findings.count = len(expected)
    cause = findings.stop or stop or (Outcome.FAILED, report.uncollected or "the test was not reported")
    for name in expected:
        if name in report.tests:
            findings.results.append(report.tests[name])
        else:
            outcome, message = cause
            findings.results.append(TestResult(id=name, outcome=outcome, message=message[:300]))
            if stop or findings.stop:
                cause = (Outcome.FAILED, "not run")
    findings.stop = None
