"""The *stdio* check for Python: the answer runs as a program, once per case; its output is compared in this process.

If the task has a checker, that decides instead, in a tester process, after the last case.
"""

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from strop_verify.core.checks import StdioCase, StdioCheck
from strop_verify.core.errors import WorkerDied
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.jailed import JailedProcess
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Capture, Pump
from strop_verify.verification.python.checker import WAITING, judge_rows, row
from strop_verify.verification.python.child import (
    Child,
    Findings,
    cause_of_death,
    fork,
    outcome_of_exception,
    reap,
)
from strop_verify.verification.python.codec import Malformed, encode
from strop_verify.verification.python.compare import same_output
from strop_verify.verification.python.wire import FrameReader, frame


class Words:
    """Reads the few frames of a program: built or not, an uncaught exception. Its output decides the result."""

    def __init__(self) -> None:
        self.reader = FrameReader(1 << 16)
        self.heard = self.built = self.ended = False
        self.error: tuple[Outcome, str] | None = None

    def feed(self, data: bytes) -> None:
        """Takes the next bytes."""
        self.ended = self.ended or not data
        try:
            self.reader.feed(data)
            while (message := self.reader.next()) is not None:
                self._handle(message)
        except Malformed as error:
            self.error, self.ended = (Outcome.TAMPERED, str(error)), True

    def _handle(self, message: dict[str, Any]) -> None:
        if not self.heard and "jail" in message:
            raise WorkerDied(f"the process could not be confined: {message['jail']}")
        self.heard = True
        if not self.built and "built" in message:
            self.built = True
        else:
            self.error = outcome_of_exception(message.get("x", message.get("build")))


def run_stdio(
    check: StdioCheck, answer: str, zygote: JailedProcess, tester: Callable[[], JailedProcess], limits: Limits
) -> Findings:
    """One candidate per case, all under one budget of CPU and wall time. Raises WorkerDied or VerificationError."""
    findings, began = Findings(len(check.cases), "case"), time.monotonic()
    judge = OutputJudge(check)
    for case in check.cases:
        started = time.monotonic()
        pump = Pump(limits, used=findings.cpu, began=began)
        outcome, message = _run_case(case, judge, answer, zygote, pump, findings)
        if not findings.built or outcome in (Outcome.TIMED_OUT, Outcome.TAMPERED):
            findings.stop = (outcome, message)
            break
        findings.add(outcome, message, time.monotonic() - started)
    judge_rows(check.checker, judge.waiting, findings, tester, limits)
    return findings


def wrong_output(output: str) -> str:
    """The message of a test whose output is wrong, with the beginning of that output."""
    return f"wrong output: {output.rstrip()}"


class OutputJudge:
    """Judges whole outputs, or keeps them in `waiting` for the task's checker."""

    def __init__(self, check: StdioCheck) -> None:
        self.check = check
        self.waiting: list[tuple[int, list[bytes]]] = []

    def __call__(self, number: int, case: StdioCase, output: str) -> tuple[Outcome, str]:
        """The outcome of test `number`; with a checker the placeholder that `judge_rows` replaces."""
        if self.check.checker:
            self.waiting.append((number, row(case.stdout, encode(output), case.stdin)))
            return Outcome.FAILED, WAITING
        if same_output(case.stdout, output, self.check.tolerance):
            return Outcome.PASSED, ""
        return Outcome.FAILED, wrong_output(output)


def _run_case(
    case: StdioCase, judge: OutputJudge, answer: str, zygote: JailedProcess, pump: Pump, findings: Findings
) -> tuple[Outcome, str]:
    limits = pump.limits
    output, errors, words = Capture(16 * limits.output_bytes), Capture(limits.output_bytes), Words()
    job = frame({"code": answer, "entry": ""})
    stdin = case.stdin.encode("utf-8", errors="surrogateescape")
    with closing(
        fork(zygote, limits, "program", lambda new: pump.write(new.channel.fileno(), job), stdin)
    ) as child:
        gone = _converse(child, pump, output, errors, words)
        end = reap(zygote, kill=not gone)
        pump.drain(child.output)
        pump.drain(child.errors)
    shown = Capture(limits.output_bytes)
    shown(bytes(output.kept))
    room = limits.output_bytes - len(findings.output)
    findings.account(end, *((shown, errors) if room > 0 else ()))
    findings.output = findings.output[: limits.output_bytes]
    findings.built = findings.built or words.built
    end.check_begun(heard=words.heard)
    if not words.built and words.error:
        findings.build_error = words.error[1]
    flooded = output.seen > output.limit
    too_much = (Outcome.FAILED, f"printed more than {output.limit} bytes") if flooded else None
    if words.error and words.error[0] is Outcome.TAMPERED:
        return words.error
    if not gone or end.status < 0 or end.killed:
        return too_much or cause_of_death(end, pump, (errors,))
    if end.status != 0:
        return words.error or (Outcome.FAILED, f"exited with status {end.status}")
    return too_much or judge(len(findings.results), case, output.text)


def _converse(child: Child, pump: Pump, output: Capture, errors: Capture, words: Words) -> bool:
    """Reads from the program until it closes every stream (True) or exceeds its budget or an output limit (False)."""
    pump.watch(child.pid, fresh=True)
    pump.read(child.output, output)
    pump.read(child.errors, errors)
    channel = child.channel.fileno()
    pump.read(channel, words.feed)
    while not (words.ended and output.ended and errors.ended):
        if words.error and words.error[0] is Outcome.TAMPERED:
            return False
        if output.seen > output.limit or errors.flood or not pump.step():
            return False
    return True
