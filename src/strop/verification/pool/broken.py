"""A run of ours that broke over one answer: is the answer to blame?

A known good answer to the same task is judged in fresh processes: it proves that ours works. Then the answer itself is,
once more, where that was asked for. What it gets is its verdict. An answer over which ours breaks again, or that is
not tried again, is *failed* where the known good one got a verdict, and else *error*. So no answer can turn its own
failure into *error*, which leaves the loss.

Where the toolchain says its limit (`wall_seconds`), an alarm ends all of this `PAST` seconds past it, counted from the
start of the run that broke. An answer that has used its time up by then is *timed out*: the known good one had less
than the limit, so that nothing is known of ours. At the very end of the limit the alarm leaves `LEAST` seconds.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import NamedTuple

from strop.core.errors import StropError
from strop.core.protocols import Toolchain
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict

PAST = 1.0
"""Seconds past the limit in which everything ends."""
LEAST = 0.5
"""Seconds that there are at the least: a known good answer is quick."""
_AGAIN = 0.05
"""Seconds between two closes of an alarm that rang: a process may be starting right now."""
_DETAIL = 500
"""Most characters of a detail."""
_HARMLESS = {
    "python": "pass\n",
    "rust": "fn harmless() {}\n",
    "c": "int main(void) { return 0; }\n",
    "javascript": ";\n",
}
"""Answers that do nothing, for tasks without a reference."""


class Looked(NamedTuple):
    """What came of it."""

    verdict: Verdict
    judged: bool
    """Whether the answer got this verdict by a run of its own."""


def look_into(
    task: Task,
    answer: str,
    error: Verdict,
    toolchain: Toolchain,
    *,
    began: float,
    again: bool,
    closed: Callable[[], bool],
) -> Looked:
    """The verdict of an answer over which ours broke, as `error` says.

    began   when that run did, as `time.monotonic` tells it
    again   whether the answer is tried once more
    closed  whether nobody wants to know any more
    """
    known = task.reference if task.reference.strip() else _HARMLESS.get(task.language, "")
    limit: float | None = getattr(toolchain, "wall_seconds", None)
    said: dict[str, str] = {}
    window = None if limit is None else max(LEAST, began + limit + PAST - time.monotonic())
    with Deadline(toolchain, window) as alarm:

        def run(text: str) -> Verdict | None:
            if not text or alarm.rang or closed():
                return None
            try:
                (verdict,) = toolchain.judge([(task, text)])
            except Exception as error:
                close_all([toolchain])
                said[text] = cause_of(error)
                return None
            if verdict.scored:
                return verdict
            said[text] = verdict.detail
            return None

        works = known != answer and run(known) is not None
        verdict = run(answer) if again else None
        if verdict is not None:
            return Looked(verdict, True)
        works = works or (again and known != answer and run(known) is not None)
    if works:
        detail = f"the grader broke on this answer, and not on a known good one: {error.detail}"
        return Looked(error.model_copy(update={"outcome": Outcome.FAILED, "detail": detail[:_DETAIL]}), False)
    if alarm.rang and limit is not None and window is not None and window < limit:
        detail = f"the grader broke on this answer, which left too little time to look again: {error.detail}"
        return Looked(
            error.model_copy(update={"outcome": Outcome.TIMED_OUT, "detail": detail[:_DETAIL]}), False
        )
    if known in said:
        detail = f"{error.detail} (on a known good answer: {said[known]})"
        error = error.model_copy(update={"detail": detail[:_DETAIL]})
    return Looked(error, False)


class Deadline:
    """Ends a toolchain's processes after so many seconds, and all that start later, until the block is left."""

    def __init__(self, toolchain: Toolchain, seconds: float | None) -> None:
        self._toolchain = toolchain
        self._over = threading.Event()
        self._lock = threading.Lock()
        self.rang = False
        self._thread = threading.Thread(target=self._wait, args=(seconds,), daemon=True)
        self._set = seconds is not None

    def _wait(self, seconds: float) -> None:
        while not self._over.wait(_AGAIN if self.rang else seconds):
            with self._lock:
                if not self._over.is_set():
                    self.rang = True
                    close_all([self._toolchain])

    def __enter__(self) -> "Deadline":
        if self._set:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:  # a close that runs comes to its end, and none follows
            self._over.set()


def cause_of(error: Exception) -> str:
    """In words."""
    known = isinstance(error, StropError | OSError) and str(error)
    return str(error) if known else f"{type(error).__name__}: {error}"


def close_all(toolchains: Iterable[Toolchain]) -> None:
    """Ends their processes, whatever they say to it."""
    for toolchain in toolchains:
        with contextlib.suppress(Exception):
            toolchain.close()
