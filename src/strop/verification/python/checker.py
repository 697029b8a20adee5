"""Special judges: asks a tester process to run a task's checker on what an answer returned or printed.

The checker is trusted, what it looks at is not (see `verification.python.checking`). A checker at fault is a
VerificationError (outcome *error*). One that does not end on an answer's result is tried on the expected value: if it
ends there, the result is at fault. Both lie within the job's time: half a second past its wall limit they are over.
"""

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strop.core.errors import VerificationError, WorkerDied
from strop.core.verdict import Outcome, TestResult
from strop.sandbox.jailed import JailedProcess
from strop.sandbox.limits import Limits
from strop.sandbox.pump import Pump
from strop.verification.python.child import Findings
from strop.verification.python.codec import Unencodable, encode
from strop.verification.python.wire import FrameReader, frame

WAITING = "not judged"
"""Message of a test whose result waits for the checker; its outcome is *failed* until then."""
_PAST = 0.5
"""Wall seconds past the job's limit in which a checker may still work."""
_LEAST = 0.1
"""Wall seconds that a checker gets at the least."""
_Row = tuple[int, list[bytes]]


@dataclass
class _Answers:
    reader: FrameReader = field(default_factory=FrameReader)
    rows: list[dict[str, Any]] = field(default_factory=list)
    broken: str = ""
    over: bool = False
    done: bool = False
    expired: str = ""
    """Which of its limits ended it: cpu, wall, or none."""

    def feed(self, data: bytes) -> None:
        self.over = self.over or not data
        self.reader.feed(data)
        while (message := self.reader.next()) is not None:
            if "row" in message:
                self.rows.append(message)
            else:
                self.broken = message.get("broken", "")
                self.done = self.over = True


def row(expected: Any, result: bytes, *others: Any) -> list[bytes]:
    """Bytes of a checker's arguments: `others` and `expected` are trusted values, `result` is the bytes of a value."""
    try:
        return [*(encode(value) for value in (*others, expected)), result]
    except Unencodable as error:
        raise VerificationError(f"a case's values cannot be sent: {error}") from None


def judge_rows(
    code: str,
    rows: Sequence[_Row],
    findings: Findings,
    tester: Callable[[], JailedProcess],
    limits: Limits,
    began: float,
) -> None:
    """Puts the checker's outcome into `findings.results` for each (index, row).

    The checker has the CPU time of `limits` to itself, and half of the wall time that is left since `began`
    (time.monotonic() at the start of the job); the other half is for finding out who is at fault if that is over. Where
    it does not suffice for that, because the answer took it, the answer has timed out.

    Raises VerificationError when the checker is at fault, WorkerDied when the tester broke.
    """
    if not rows:
        return
    answers = _ask(code, [wire for _, wire in rows], tester(), _within(limits, began, 0.5))
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
        rest = _within(limits, began, 1.0)
        probe = _ask(code, [[*wire[:-1], wire[-2]]], tester(), rest)
        if not probe.done and (probe.expired == "cpu" or rest.wall_seconds >= limits.wall_seconds / 4):
            raise VerificationError("checker: it does not come to an end on the expected value")
        _put(findings, index, Outcome.TIMED_OUT, "the checker did not come to an end on the result")


def _within(limits: Limits, began: float, part: float) -> Limits:
    """The limits with this part of the wall time that is left."""
    left = limits.wall_seconds + _PAST - (time.monotonic() - began)
    return replace(limits, wall_seconds=max(_LEAST, part * left))


def _put(findings: Findings, index: int, outcome: Outcome, message: str) -> None:
    old: TestResult = findings.results[index]
    findings.results[index] = old.model_copy(update={"outcome": outcome, "message": message})


def _ask(code: str, rows: list[list[bytes]], tester: JailedProcess, limits: Limits) -> _Answers:
    """Closes the tester when it does not finish in time."""
    ours, theirs = socket.socketpair()
    answers, pump = _Answers(), Pump(limits)
    with ours, theirs:
        tester.send({"op": "job"}, [theirs.fileno()])
        theirs.close()
        pump.watch(tester.pid, fresh=False)
        pump.read(ours.fileno(), answers.feed)
        pump.write(ours.fileno(), frame({"checker": code, "rows": rows}))
        while not answers.over and pump.step():
            pass
    answers.expired = pump.expired
    if not answers.done:
        tester.close()
        if not pump.expired:
            raise WorkerDied("the tester ended in the middle of a checker's job")
    if answers.broken:
        raise VerificationError(answers.broken)
    return answers
