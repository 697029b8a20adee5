"""Carries out the effects that environments ask for: verdicts by the verifier, programs in jails of its own."""

import queue
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from strop.core.errors import NotStarted, SandboxError
from strop.core.play import Effect, Ran, Result, Run, Verify
from strop.core.protocols import Verifier
from strop.sandbox import Box, Limits, open_box

BOXES = 2
"""Programs that run at the same time."""
NOT_STARTED = 127
"""The status of what can't be started, as in a shell."""
_OUTPUT = 1 << 16
"""Most bytes that a program may print."""
OpenBox = Callable[[], Box]


class Effects:
    """Of the plays of one call. Jails start with the first program."""

    def __init__(self, verifier: Verifier, open_one: OpenBox = open_box) -> None:
        self._verifier, self._open_one = verifier, open_one
        self._threads: ThreadPoolExecutor | None = None
        self._free: queue.SimpleQueue[Box] = queue.SimpleQueue()
        self._boxes: list[Box] = []

    def submit(self, effect: Effect) -> "Future[Result]":
        """Begins at once. The future raises VerificationError or SandboxError where something of ours broke."""
        if isinstance(effect, Verify):
            return self._verifier.submit(effect.task, effect.answer)
        if self._threads is None:
            self._threads = ThreadPoolExecutor(BOXES, thread_name_prefix="program")
        return self._threads.submit(self._run, effect)

    def close(self) -> None:
        """Ends every jail, and programs that still run with it."""
        if self._threads is None:
            return
        self._threads.shutdown(wait=False, cancel_futures=True)
        for box in self._boxes:
            box.close()
        self._threads.shutdown()
        for box in self._boxes:  # one may have been opened meanwhile
            box.close()

    def _run(self, effect: Run) -> Ran:
        try:
            box = self._free.get_nowait()
        except queue.Empty:
            box = self._open_one()
            self._boxes.append(box)
        limits = Limits(
            cpu_seconds=effect.seconds,
            wall_seconds=3 * effect.seconds,
            memory_bytes=effect.memory_bytes,
            output_bytes=_OUTPUT,
        )
        try:
            with box.work(effect.files) as work:
                result = work.run(effect.argv, stdin=effect.stdin.encode(), profile="build", limits=limits)
        except (NotStarted, ValueError) as error:  # the policy may have chosen program, files and input
            return Ran(status=NOT_STARTED, output="", errors=str(error), expired="", seconds=0.0)
        except (SandboxError, OSError) as error:
            raise SandboxError(f"a program could not be run: {error}") from error
        finally:
            self._free.put(box)  # one that broke has ended, and starts anew
        return Ran(
            status=result.status,
            output=result.stdout.decode(errors="replace"),
            errors=result.stderr.decode(errors="replace"),
            expired=result.expired,
            seconds=result.seconds,
        )
