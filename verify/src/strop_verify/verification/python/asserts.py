"""The *asserts* check: a tester process runs the task's own test code against a proxy of the candidate's function."""

import socket
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from strop_verify.core.checks import AssertsCheck
from strop_verify.core.errors import TaskFault, VerificationError, WorkerDied
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.jailed import JailedProcess
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Capture, Pump
from strop_verify.verification.python.child import (
    Child,
    ExitStatus,
    Findings,
    cause_of_death,
    fork,
    outcome_of_exception,
    reap,
)
from strop_verify.verification.python.wire import FrameReader, frame

_TESTER_SECONDS = 1.0
"""Maximum wall seconds for a tester to notice that its candidate was killed, before it is killed too."""
_PAST = 0.25
"""How many of these seconds may lie past the job's limit."""
_LEAST = 0.1
"""Minimum wall seconds that the tester gets."""


class TesterReport:
    """Reads the frames of a tester, which is trusted; see `strop_verify.verification.python.tester` for their form."""

    def __init__(self, begun: Callable[[int], None] = lambda pid: None) -> None:
        """`begun` is called with the process id of a tester that reports one."""
        self._begun = begun
        self.findings = Findings(0, "test")
        self.reader = FrameReader()
        self.broken = ""
        self.alone = False
        """Whether it broke before the answer was called."""
        self.done = self.hung_up = False
        self.fault: str | None = None

    @property
    def over(self) -> bool:
        """Whether no more frames are expected."""
        return self.done or self.hung_up or bool(self.broken)

    def feed(self, data: bytes) -> None:
        """Takes the next bytes from the tester."""
        self.hung_up = self.hung_up or not data
        self.reader.feed(data)
        while (message := self.reader.next()) is not None:
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        if "pid" in message:
            self._begun(message["pid"])
        elif "broken" in message:
            self.broken, self.alone = message["broken"], message.get("alone") is True
        elif "plan" in message:
            self.findings.count = message["plan"]
        elif message.get("stage") == "built":
            self.findings.built = True
        elif message.get("stage") in ("build", "load"):
            self.findings.stop = outcome_of_exception(message["x"])
            if not self.findings.built:
                self.findings.build_error = self.findings.stop[1]
        elif "test" in message:
            text = message["x"]
            bad = Outcome.OUT_OF_MEMORY if text.startswith("MemoryError") else Outcome.FAILED
            self.findings.add(Outcome.PASSED if message["ok"] else bad, text, message["s"])
        elif "done" in message:
            self.done = True
            self.fault = message["done"]
            self.findings.changed = message.get("changed") is True
            self.findings.uncrossed = message.get("uncrossed") is True


def run_asserts(
    check: AssertsCheck,
    answer: str,
    zygote: JailedProcess,
    tester: JailedProcess,
    limits: Limits,
    *,
    changes: bool = True,
    near: bool = False,
) -> Findings:
    """Judges one candidate with the tester, which is closed if it does not finish by itself.

    `changes`: whether changes that calls make to their arguments reach the tests. `near`: whether plain values replace
    objects that do not cross. Raises WorkerDied if our own process broke, VerificationError if the test code did.
    """
    output, pump = Capture(limits.output_bytes), Pump(limits)
    report = TesterReport(lambda pid: pump.watch(pid, fresh=True))
    about = {"code": answer, "entry": check.entry_point, "helpers": check.helpers, "test": check.code}
    job = frame({**about, "changes": changes, "near": near, "result_bytes": limits.result_bytes})
    ours, theirs = socket.socketpair()

    def hand_over(new: Child) -> None:
        tester.send({"op": "job"}, [theirs.fileno(), new.channel.fileno()])
        pump.write(ours.fileno(), job)

    with ours, theirs, closing(fork(zygote, limits, "function", hand_over)) as child:
        theirs.close()
        child.channel.close()
        pump.watch(child.pid, fresh=True)
        pump.read(child.output, output)
        pump.read(ours.fileno(), report.feed)
        while not report.over and not output.flood and pump.step():
            pass
        end = reap(zygote, kill=report.fault != "gone")
        let_finish(report, ours, pump)
        if not report.done and not report.broken.startswith("test code"):
            tester.close()
        pump.drain(child.output)
    findings = report.findings
    findings.account(end, output)
    stop, whole = stopped(report, output, pump, end), report.done and not report.fault
    if findings.stop is None and not (whole and len(findings.results) == findings.count):
        findings.count = max(findings.count, len(findings.results) + 1)
        findings.stop = stop
    return findings


def let_finish(report: TesterReport, channel: socket.socket, pump: Pump) -> None:
    """After the candidate's death: reads what the tester still sends, until `_PAST` seconds past the limit."""
    left = pump.began + pump.limits.wall_seconds + _PAST - time.monotonic()
    seconds = min(_TESTER_SECONDS, max(_LEAST, left))
    patience = Pump(Limits(cpu_seconds=1e6, wall_seconds=seconds))
    patience.read(channel.fileno(), report.feed)
    while not report.over and patience.step():
        pass


def stopped(report: TesterReport, output: Capture, pump: Pump, end: ExitStatus) -> tuple[Outcome, str]:
    """Why the tests did not finish. Raises WorkerDied or VerificationError if the answer is not to blame."""
    if report.broken and not pump.expired:
        if not report.broken.startswith("test code"):
            raise WorkerDied(report.broken)
        raise TaskFault(report.broken) if report.alone else VerificationError(report.broken)
    if report.hung_up and not report.done and not pump.expired:
        raise WorkerDied("the tester ended in the middle of a job")
    if report.findings.stop is None:
        end.check_begun(heard=report.findings.built)
    fault = report.fault or ""
    if fault.startswith("malformed"):
        return Outcome.TAMPERED, fault
    if fault.startswith(("oversize", "setup")):
        return Outcome.FAILED, fault
    return cause_of_death(end, pump, (output,))
