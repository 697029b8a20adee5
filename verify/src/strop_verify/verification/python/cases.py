"""The *cases* check: the candidate gets calls, this process compares what it returns. See `compare` for equality.

If the task has a checker, that decides instead, in a tester process, once the candidate is dead.
"""

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from strop_verify.core.checks import CasesCheck
from strop_verify.core.errors import VerificationError, WorkerDied
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.jailed import JailedProcess
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Capture, Pump
from strop_verify.verification.python.checker import WAITING, judge_rows, row
from strop_verify.verification.python.child import Findings, cause_of_death, fork, outcome_of_exception, reap
from strop_verify.verification.python.codec import Malformed, Oversize, Unencodable, encode
from strop_verify.verification.python.compare import matches, shown
from strop_verify.verification.python.decoder import DecodeTimeout, tree
from strop_verify.verification.python.unordered_equality import matches_in_any_order
from strop_verify.verification.python.wire import FrameReader, frame


class Conversation:
    """Judges the frames of one candidate: stages first, then one result per call, in order."""

    def __init__(self, check: CasesCheck, findings: Findings, limits: Limits, began: float) -> None:
        self.check = check
        self._compare = matches_in_any_order if check.any_order else matches
        self.findings, self.limits = findings, limits
        self.reader = FrameReader(limits.result_bytes, began + limits.wall_seconds)
        self.heard = self.loaded = self.hung_up = False
        self.last = time.monotonic()
        self.waiting: list[tuple[int, list[bytes]]] = []
        """Results for the checker: number of the test and its row."""

    @property
    def over(self) -> bool:
        """Whether no more frames are expected."""
        findings = self.findings
        return self.hung_up or findings.stop is not None or len(findings.results) == findings.count

    def feed(self, data: bytes) -> None:
        """Takes the next bytes from the candidate."""
        if not data:
            self.hung_up = True
            return
        try:
            self.reader.feed(data)
            while not self.over and (message := self.reader.next()) is not None:
                self._handle(message)
        except Oversize as error:
            self.findings.stop = (Outcome.FAILED, str(error))
        except DecodeTimeout:
            self.findings.stop = (Outcome.TIMED_OUT, f"took more than {self.limits.wall_seconds:g} seconds")
        except Malformed as error:
            self.findings.stop = (Outcome.TAMPERED, str(error))

    def _handle(self, message: dict[str, Any]) -> None:
        if not self.heard and "jail" in message:  # nothing of the answer has run yet: this frame is ours
            raise WorkerDied(f"the process could not be confined: {message['jail']}")
        self.heard = True
        if not self.findings.built:
            self.findings.built = "built" in message
            if not self.findings.built:
                self.findings.stop = outcome_of_exception(message.get("build"))
                self.findings.build_error = self.findings.stop[1]
        elif not self.loaded:
            self.loaded = "loaded" in message
            if not self.loaded:
                self.findings.stop = outcome_of_exception(message.get("load"))
        else:
            self._result(message)

    def _result(self, message: dict[str, Any]) -> None:
        number = len(self.findings.results)
        if message.get("i") != number:
            raise Malformed("a reply to another call")
        now = time.monotonic()
        seconds, self.last = now - self.last, now
        case = self.check.cases[number]
        if "x" in message:
            self.findings.add(*outcome_of_exception(message["x"], message.get("l")), seconds)
        elif type(why := message.get("u")) is str:
            self.findings.add(Outcome.FAILED, f"unencodable: {why}", seconds)
        elif type(value := message.get("v")) is not bytes:
            raise Malformed("neither a value nor an exception")
        else:
            returned = tree(value, self.reader.until)
            if self.check.checker:
                self.findings.add(Outcome.FAILED, WAITING, seconds)
                self.waiting.append((number, row(case.expected, value, case.args, case.kwargs)))
            elif self._compare(case.expected, returned, self.check.tolerance):
                self.findings.add(Outcome.PASSED, "", seconds)
            else:
                self.findings.add(Outcome.FAILED, f"returned {shown(returned)}", seconds)


def calls(check: CasesCheck) -> bytes:
    """Frames of all calls. Raises VerificationError if the task's arguments do not cross."""
    try:
        return b"".join(
            frame({"i": number, "a": [encode(a) for a in case.args], "k": encode(case.kwargs)})
            for number, case in enumerate(check.cases)
        )
    except Unencodable as error:
        raise VerificationError(f"a case's arguments cannot be sent: {error}") from None


def run_cases(
    check: CasesCheck, answer: str, zygote: JailedProcess, tester: Callable[[], JailedProcess], limits: Limits
) -> Findings:
    """One candidate for all cases; `tester` gives the process for a checker. Raises WorkerDied or VerificationError."""
    findings, began = Findings(len(check.cases), "case"), time.monotonic()
    request = frame({"code": answer, "entry": check.entry_point}) + calls(check)
    pump, output = Pump(limits), Capture(limits.output_bytes)
    with closing(
        fork(zygote, limits, "function", lambda new: pump.write(new.channel.fileno(), request))
    ) as child:
        talk = Conversation(check, findings, limits, began)
        pump.watch(child.pid, fresh=True)
        pump.read(child.output, output)
        pump.read(child.channel.fileno(), talk.feed)
        while not talk.over and not output.flood and pump.step():
            pass
        finished = len(findings.results) == findings.count
        end = reap(zygote, kill=finished or not talk.hung_up)
        pump.drain(child.output)
    findings.account(end, output)
    end.check_begun(heard=talk.heard)
    if not finished and findings.stop is None:
        findings.stop = cause_of_death(end, pump, (output,))
    judge_rows(check.checker, talk.waiting, findings, tester, limits)
    return findings
