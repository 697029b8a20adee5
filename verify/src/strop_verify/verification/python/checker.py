"""Special judges: asks a tester process to run a task's checker on what an answer returned or printed.

The checker is trusted, its input is not (see `verification.python.checking`). A checker that breaks is a
VerificationError (outcome *error*). One that does not finish on an answer's result is tried on the expected value: if
it finishes there, the result is to blame. Each has half of the wall limit, however long the answer took.
"""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strop_verify.core.errors import VerificationError, WorkerDied
from strop_verify.core.verdict import Outcome, TestResult
from strop_verify.sandbox.jailed import JailedProcess
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Pump
from strop_verify.verification.python.child import Findings
from strop_verify.verification.python.codec import Unencodable, encode
from strop_verify.verification.python.wire import FrameReader, frame

WAITING = "not judged"
"""Message of a test whose result waits for the checker; its outcome is *failed* until then."""
_Row = tuple[int, list[bytes]]


@dataclass
class _Answers:
    begun: Callable[[int], None]
    """Called with the tester's process id."""
    reader: FrameReader = field(default_factory=FrameReader)
    rows: list[dict[str, Any]] = field(default_factory=list)
    broken: str = ""
    over: bool = False
    done: bool = False

    def feed(self, data: bytes) -> None:
        self.over = self.over or not data
        self.reader.feed(data)
        while (message := self.reader.next()) is not None:
            if "pid" in message:
                self.begun(message["pid"])
            elif "row" in message:
                self.rows.append(message)
            else:
                self.broken = message.get("broken", "")
                self.done = self.over = True


def row(expected: Any, result: bytes, *others: Any) -> list[bytes]:
    """A checker's arguments as bytes: of the trusted values `others` and `expected`, and the encoded `result`."""
    try:
        return [*(encode(value) for value in (*others, expected)), result]
    except Unencodable as error:
        raise VerificationError(f"a case's values cannot be sent: {error}") from None


def judge_rows(
    code: str, rows: Sequence[_Row], findings: Findings, tester: Callable[[], JailedProcess], limits: Limits
) -> None:
    """Puts the checker's outcome for each (index, row) into `findings.results`.

    Raises VerificationError when the checker breaks, WorkerDied when the tester broke.
    """
    if not rows:
        return
    bounds = replace(limits, wall_seconds=limits.wall_seconds / 2)
    answers = _ask(code, [wire for _, wire in rows], tester(), bounds)
    for (index, _), message in zip(rows, answers.rows, strict=False):
        if "own" in message:
            raise VerificationError(f"checker: {message['own']}")
        if "forged" in message:
            _put(findings, index, Outcome.TAMPERED, message["forged"])
        elif message["ok"] is True:
            _put(findings, index, Outcome.PASSED, "")
        else:
            _put(findings, index, Outcome.FAILED, message["x"])
    if not answers.done:
        index, wire = rows[len(answers.rows)]
        if not _ask(code, [[*wire[:-1], wire[-2]]], tester(), bounds).done:
            raise VerificationError("checker: it does not finish on the expected value")
        _put(findings, index, Outcome.TIMED_OUT, "the checker did not finish on the result")


def _put(findings: Findings, index: int, outcome: Outcome, message: str) -> None:
    old: TestResult = findings.results[index]
    findings.results[index] = old.model_copy(update={"outcome": outcome, "message": message})


def _ask(code: str, rows: list[list[bytes]], tester: JailedProcess, limits: Limits) -> _Answers:
    """Sends the rows to the checker and returns its replies. Closes the tester if it does not finish in time."""
    ours, theirs = socket.socketpair()
    pump = Pump(limits)
    answers = _Answers(lambda pid: pump.watch(pid, fresh=True))
    with ours, theirs:
        tester.send({"op": "job"}, [theirs.fileno()])
        theirs.close()
        pump.read(ours.fileno(), answers.feed)
        pump.write(ours.fileno(), frame({"checker": code, "rows": rows}))
        while not answers.over and pump.step():
            pass
    if not answers.done:
        tester.close()
        if not pump.expired:
            raise WorkerDied("the tester ended in the middle of a checker's job")
    if answers.broken:
        raise VerificationError(answers.broken)
    return answers
