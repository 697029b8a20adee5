"""One candidate process as the trainer sees it: forked by a zygote, reached through pipes, reaped with a cause."""

import contextlib
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Literal

from strop_verify.core.errors import WorkerDied
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict
from strop_verify.sandbox.jailed import JailedProcess
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Capture, Pump
from strop_verify.sandbox.streams import input_file, output_pipe
from strop_verify.verification.python.candidate_client import at_line
from strop_verify.verification.python.wire import NOT_BEGUN


@dataclass
class Child:
    """Descriptors of a live candidate, all of them the trainer's ends."""

    pid: int
    channel: socket.socket
    output: int
    """Read end of its standard output (and error, for functions)."""
    errors: int = -1

    def close(self) -> None:
        """Closes every descriptor that is still open."""
        self.channel.close()
        for fd in (self.output, self.errors):
            if fd >= 0:
                os.close(fd)
        self.output = self.errors = -1


@dataclass(frozen=True)
class ExitStatus:
    """How a candidate ended. `status` is negative for a signal; `killed`: it was alive and the zygote killed it."""

    status: int
    killed: bool
    cpu: float  # seconds
    peak: int  # bytes

    def check_begun(self, *, heard: bool) -> None:
        """Raises WorkerDied for a candidate that never reached its answer; `heard`: it sent a frame."""
        if not heard and self.status == NOT_BEGUN:
            raise WorkerDied("a candidate could not begin")


@lru_cache(maxsize=8)
def _as_dict(limits: Limits) -> dict[str, Any]:
    return asdict(limits)


def fork(
    zygote: JailedProcess,
    limits: Limits,
    kind: Literal["function", "program", "module"],
    meanwhile: Callable[[Child], None] = lambda child: None,
    stdin: bytes = b"",
) -> Child:
    """A new candidate, with `stdin` for a program. Raises WorkerDied if the zygote broke, OSError without descriptors.

    `meanwhile` is called before the zygote replies, with a child whose `pid` is 0, to send its job early.
    """
    with contextlib.ExitStack() as clean, contextlib.ExitStack() as ours_on_error:
        channel, far = socket.socketpair()
        clean.callback(far.close)
        ours_on_error.callback(channel.close)
        streams, theirs = [-1, -1], [input_file(stdin)] if kind == "program" else []
        for fd in theirs:
            clean.callback(os.close, fd)
        for place in range(2 if kind == "program" else 1):
            streams[place], far_end = output_pipe()
            ours_on_error.callback(os.close, streams[place])
            clean.callback(os.close, far_end)
            theirs.append(far_end)
        request = {"op": "fork", "kind": kind, "limits": _as_dict(limits)}
        child = Child(0, channel, *streams)
        zygote.send(request, [far.fileno(), *theirs])
        try:
            meanwhile(child)
        finally:
            child.pid = zygote.receive()["pid"]
        ours_on_error.pop_all()
    return child


def reap(zygote: JailedProcess, *, kill: bool) -> ExitStatus:
    """Ends and reaps the zygote's candidate. Raises WorkerDied."""
    reply = zygote.ask({"op": "reap", "kill": kill})
    return ExitStatus(reply["status"], reply["killed"], reply["cpu"], reply["peak"])


@dataclass
class Findings:
    """An answer's results so far; they become the verdict."""

    count: int
    """Number of tests in the task."""
    prefix: str
    built: bool = False
    build_error: str = ""
    results: list[TestResult] = field(default_factory=list)
    stop: tuple[Outcome, str] | None = None
    """What stopped the tests before the last one."""
    changed: bool = False
    """Whether calls changed arguments of the tests in place."""
    objects: bool = False
    """Whether the tests of a suite got values from the answer's objects."""
    uncrossed: bool = False
    """Whether a test needed something that does not cross."""
    output: str = ""
    truncated: bool = False
    cpu: float = 0.0
    peak: int = 0

    @property
    def passed(self) -> bool:
        """Whether all `count` tests were seen to pass."""
        return len(self.results) == self.count and all(r.outcome is Outcome.PASSED for r in self.results)

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of all results so far, and of what stopped the tests."""
        return [result.outcome for result in self.results] + ([self.stop[0]] if self.stop else [])

    def late(self, limits: Limits) -> bool:
        """Whether it timed out without using up its CPU time, as on a busy machine."""
        return Outcome.TIMED_OUT in self.outcomes and self.cpu < limits.cpu_seconds

    def add(self, outcome: Outcome, message: str = "", seconds: float = 0.0) -> None:
        """Adds the next test's result."""
        name = f"{self.prefix} {len(self.results)}"
        self.results.append(TestResult(id=name, outcome=outcome, message=message[:300], seconds=seconds))

    def fail(self, number: int, message: str, outcome: Outcome = Outcome.FAILED) -> None:
        """Changes the outcome of a test."""
        changed = {"outcome": outcome, "message": message}
        self.results[number] = self.results[number].model_copy(update=changed)

    def check_memory(self, limits: Limits) -> None:
        """Fails an answer that raised its address-space limit, as for stacks, and used more memory than allowed."""
        if self.peak > limits.memory_bytes and self.results:
            text = f"used more than {limits.memory_bytes >> 20} MiB"
            self.fail(len(self.results) - 1, text, Outcome.OUT_OF_MEMORY)

    def account(self, end: ExitStatus, *captures: Capture) -> None:
        """Adds what a candidate used and printed."""
        self.cpu += end.cpu
        self.peak = max(self.peak, end.peak)
        self.output += "".join(c.text for c in captures)
        self.truncated = self.truncated or any(c.seen > c.limit for c in captures)

    def verdict(self, seconds: float) -> Verdict:
        """The verdict: passed only if every one of `count` tests was seen to pass."""
        if self.stop and len(self.results) < self.count:
            self.add(*self.stop)
        while len(self.results) < self.count:
            self.add(Outcome.FAILED, "not run")
        outcome, detail = _worst(self.results)
        stages = [Stage(name="build", passed=self.built, output=self.build_error)]
        if self.built:
            passed = outcome is Outcome.PASSED
            stages.append(Stage(name="test", passed=passed, seconds=seconds, truncated=self.truncated))
        return Verdict(
            outcome=outcome,
            stages=stages,
            tests=self.results,
            output=self.output,
            detail=detail,
            seconds=seconds,
            cpu_seconds=self.cpu,
            peak_bytes=self.peak,
        )


_GRAVITY = (Outcome.TAMPERED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.FAILED)


def _worst(results: list[TestResult]) -> tuple[Outcome, str]:
    if not results:
        return Outcome.ERROR, "the task has no test"
    for outcome in _GRAVITY:
        for result in results:
            if result.outcome is outcome:
                return outcome, f"{result.id}: {result.message}"[:300]
    return Outcome.PASSED, ""


def worse(known: TestResult | None, new: TestResult) -> TestResult:
    """The result of a test that is reported again: a known outcome other than passed stays."""
    if known is None or known.outcome is Outcome.PASSED:
        return new
    return new.model_copy(update={"outcome": known.outcome})


def cause_of_death(end: ExitStatus, pump: Pump, captures: tuple[Capture, ...] = ()) -> tuple[Outcome, str]:
    """Why a candidate ended before it had answered everything."""
    limits = pump.limits
    if any(c.flood for c in captures):
        return Outcome.FAILED, f"printed more than {16 * limits.output_bytes} bytes"
    if pump.expired == "cpu" or end.status == -signal.SIGXCPU or end.cpu >= limits.cpu_seconds:
        return Outcome.TIMED_OUT, f"used more than {limits.cpu_seconds:g} CPU seconds"
    if pump.expired == "wall":
        return Outcome.TIMED_OUT, f"took more than {limits.wall_seconds:g} seconds"
    if end.killed:
        return Outcome.TAMPERED, "closed its channel and did not exit"
    if end.status == -signal.SIGKILL:
        return Outcome.OUT_OF_MEMORY, "killed by the kernel"
    if end.status < 0:
        return Outcome.FAILED, f"died by {_signal_name(-end.status)}"
    return Outcome.FAILED, f"exited with status {end.status} before it had answered"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have none
        return f"signal {number}"


def outcome_of_exception(description: object, line: object = 0) -> tuple[Outcome, str]:
    """Outcome and message for ["Class", "text"] from a candidate, and the line where it was raised."""
    if not (isinstance(description, list) and [type(part) for part in description] == [str, str]):
        return Outcome.TAMPERED, "a malformed exception"
    name, text = (part[:250] for part in description)
    outcome = Outcome.OUT_OF_MEMORY if name == "MemoryError" else Outcome.FAILED
    return outcome, at_line(f"{name}: {text}".rstrip(": "), line)
