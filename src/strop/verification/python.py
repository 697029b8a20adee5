"""`PythonVerifier`: Python answers judged by jailed worker processes, many at a time.

Threat model: the answer is hostile code of the trainer's user. It runs in a process of its own that a zygote forks for
it, and that process never holds an expected value, test code, another answer or a descriptor but its own pipes; it
sends return values, and trusted code decides. Not covered: bugs of the kernel; what `strop doctor` reports as open; an
answer that recognises test inputs.
"""

import queue
import threading
import time
from concurrent.futures import Future
from types import TracebackType

from strop.core.errors import StropError, VerificationError, WorkerDied
from strop.core.task import AssertsCheck, CasesCheck, StdioCheck, Task
from strop.core.verdict import Outcome, Verdict
from strop.sandbox.limits import Limits
from strop.verification.asserts import run_asserts
from strop.verification.cases import run_cases
from strop.verification.child import Findings
from strop.verification.server import Server
from strop.verification.stdio import run_stdio

PENDING = 4096
"""Answers that may wait; `submit` blocks when there are more, so that memory stays bounded."""
TESTER_MEMORY = 1 << 30
"""Address space of a tester process, in bytes."""
_Job = tuple[Task, str, "Future[Verdict]"]


class Worker:
    """One zygote and, once asserts are asked for, one tester. Used by one thread, which must also start it."""

    def __init__(self, limits: Limits, allow_unsafe: bool) -> None:
        self.limits = limits
        self.allow_unsafe = allow_unsafe
        self._zygote: Server | None = None
        self._tester: Server | None = None

    def judge(self, task: Task, answer: str) -> Findings:
        """Runs the task's check. Raises WorkerDied when a process of ours broke, VerificationError for a bad task."""
        check = task.check
        if isinstance(check, CasesCheck):
            return run_cases(check, answer, self.zygote(), self.limits)
        if isinstance(check, AssertsCheck):
            return run_asserts(check, answer, self.zygote(), self.tester(), self.limits)
        if isinstance(check, StdioCheck):
            return run_stdio(check, answer, self.zygote(), self.limits)
        raise VerificationError(f"python has no verifier for checks of kind {check.kind!r}")

    def zygote(self) -> Server:
        """The running fork server, started when there is none."""
        if self._zygote is None:
            self._zygote = Server("strop.verification.zygote", allow_unsafe=self.allow_unsafe)
        return self._zygote

    def tester(self) -> Server:
        """The running tester, started when there is none or it was closed."""
        if self._tester is None or self._tester.closed:
            arguments = (str(TESTER_MEMORY),)
            self._tester = Server(
                "strop.verification.tester", allow_unsafe=self.allow_unsafe, arguments=arguments
            )
        return self._tester

    def close(self) -> None:
        """Ends both processes; the next use starts fresh ones. Safe from any thread."""
        for server in (self._zygote, self._tester):
            if server is not None:
                server.close()
        self._zygote = self._tester = None


class PythonVerifier:
    """Implements `strop.core.protocols.Verifier` for tasks whose language is python. Also a context manager.

    `workers`: worker processes, each one answer at a time. `allow_unsafe`: go on where the host has neither Landlock
    nor seccomp. Worker processes start with the first answer.
    """

    def __init__(self, *, workers: int, limits: Limits, allow_unsafe: bool = False) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self.limits = limits
        self._jobs: queue.Queue[_Job | None] = queue.Queue(PENDING)
        self._closed = threading.Event()
        self._workers = [Worker(limits, allow_unsafe) for _ in range(workers)]
        self._threads = [
            threading.Thread(target=self._serve, args=(worker,), name=f"strop-verify-{number}", daemon=True)
            for number, worker in enumerate(self._workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, task: Task, answer: str) -> "Future[Verdict]":
        """Starts verification and returns at once (blocks while 4096 answers wait). The future never raises."""
        future: Future[Verdict] = Future()
        if self._closed.is_set():
            future.set_result(error_verdict("the verifier is closed"))
        elif task.language != "python":
            future.set_result(error_verdict(f"this verifier judges python, not {task.language}"))
        elif not answer.strip():
            future.set_result(Verdict(outcome=Outcome.NO_ANSWER, detail="the answer is empty"))
        else:
            self._jobs.put((task, answer, future))
            if self._closed.is_set():
                self._refuse_waiting()
        return future

    def verify(self, task: Task, answer: str) -> Verdict:
        """Verifies one answer and waits for it."""
        return self.submit(task, answer).result()

    def close(self) -> None:
        """Ends every process; answers that wait get outcome *error*. Safe to call twice."""
        self._closed.set()
        self._refuse_waiting()
        for worker in self._workers:
            worker.close()
        for thread in self._threads:
            thread.join()
        self._refuse_waiting()

    def __enter__(self) -> "PythonVerifier":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _refuse_waiting(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is not None and job[2].set_running_or_notify_cancel():
                job[2].set_result(error_verdict("the verifier was closed"))
        for _ in self._threads:
            try:
                self._jobs.put_nowait(None)
            except queue.Full:
                break

    def _serve(self, worker: Worker) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                task, answer, future = job
                if future.set_running_or_notify_cancel():
                    future.set_result(self._verdict(worker, task, answer))
                if self._closed.is_set():
                    break
        finally:
            worker.close()

    def _verdict(self, worker: Worker, task: Task, answer: str) -> Verdict:
        """Judges, once more in a fresh worker if ours broke; then the cause is the verdict's detail."""
        began, cause = time.monotonic(), ""
        for _ in range(2):
            if self._closed.is_set():
                return error_verdict("the verifier was closed", time.monotonic() - began)
            try:
                return worker.judge(task, answer).verdict(time.monotonic() - began)
            except (WorkerDied, OSError) as error:
                cause = str(error)
                worker.close()
            except StropError as error:
                return error_verdict(str(error), time.monotonic() - began)
            except Exception as error:
                cause = f"{type(error).__name__}: {error}"
                worker.close()
        return error_verdict(cause, time.monotonic() - began)


def error_verdict(cause: str, seconds: float = 0.0) -> Verdict:
    """Outcome *error* with its cause: ours, never the model's."""
    return Verdict(outcome=Outcome.ERROR, detail=cause[:500], seconds=seconds)
