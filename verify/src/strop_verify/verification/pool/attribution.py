"""A run of ours that broke over one answer: is the answer to blame?

A control answer to the same task (its reference, else one that does nothing) is judged in fresh processes: it proves
that ours works. Then the answer itself is, once more, where that was asked for. What it gets is its verdict. An answer
over which ours breaks again, or that is not tried again, is *failed* where the control answer got a verdict, and else
*error*. So no answer can turn its own failure into *error*, which leaves the loss. A fault of the task is *error*,
whoever's run found it.

Where the toolchain says its limit (`wall_seconds`), all of this ends `GRACE_SECONDS` past it, counted from the start of
the run that broke, but not within `LEAST_SECONDS`. An answer that has used its time up by then is *timed out*: the
control answer had less than the limit, so that nothing is known of ours.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from strop_verify.core.errors import StropError, TaskFault
from strop_verify.core.protocols import Toolchain
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

GRACE_SECONDS = 1.0
LEAST_SECONDS = 0.5
"""A control answer is quick."""
_CLOSE_SECONDS = 0.05
"""Between two closes after a deadline: a process may be starting right now."""
_DETAIL = 500
"""Most characters of a detail."""
_HARMLESS = {
    "python": "pass\n",
    "rust": "fn harmless() {}\n",
    "c": "int main(void) { return 0; }\n",
    "javascript": ";\n",
}
"""Answers that do nothing, for tasks without a reference."""


class Attribution(NamedTuple):
    """What came of it."""

    verdict: Verdict
    judged: bool
    """Whether the answer got this verdict by a run of its own."""


def judge_again(
    task: Task,
    answer: str,
    error: Verdict,
    toolchain: Toolchain,
    *,
    began: float,
    again: bool,
    closed: Callable[[], bool],
) -> Attribution:
    """The verdict of an answer over which ours broke, as `error` says.

    began   when that run did, as `time.monotonic` tells it
    again   whether the answer is tried once more
    closed  whether nobody wants to know any more
    """
    control = task.reference if task.reference.strip() else _HARMLESS.get(task.language, "")
    limit: float | None = getattr(toolchain, "wall_seconds", None)
    causes: dict[str, str] = {}
    error_of_task: list[str] = []
    window = None if limit is None else max(LEAST_SECONDS, began + limit + GRACE_SECONDS - time.monotonic())
    with _deadline(toolchain, window) as expired:

        def run(text: str) -> Verdict | None:
            if expired.is_set() or closed():
                return None
            try:
                (verdict,) = toolchain.judge([(task, text)])
            except TaskFault as fault:
                error_of_task.append(cause_of(fault))
                return None
            except Exception as fault:
                close_all([toolchain])
                causes[text] = cause_of(fault)
                return None
            if verdict.scored:
                return verdict
            causes[text] = verdict.detail
            return None

        def works() -> bool:
            return bool(control) and control != answer and run(control) is not None

        ours_works = works()
        if again:
            if (verdict := run(answer)) is not None:
                return Attribution(verdict, True)
            ours_works = ours_works or works()

    outcome, detail = Outcome.ERROR, error.detail
    if error_of_task:
        detail = error_of_task[0]
    elif ours_works:
        outcome, detail = (
            Outcome.FAILED,
            f"the grader broke on this answer, and not on a control answer: {detail}",
        )
    elif expired.is_set() and limit is not None and window is not None and window < limit:
        outcome = Outcome.TIMED_OUT
        detail = f"the grader broke on this answer, which left too little time to look again: {detail}"
    elif control in causes:
        detail = f"{detail} (on a control answer: {causes[control]})"
    return Attribution(error.model_copy(update={"outcome": outcome, "detail": detail[:_DETAIL]}), False)


@contextlib.contextmanager
def _deadline(toolchain: Toolchain, seconds: float | None) -> Iterator[threading.Event]:
    """Ends a toolchain's processes after so many seconds, and all that start later, until the block is left; gives an
    event that tells it.
    """
    over, expired, lock = threading.Event(), threading.Event(), threading.Lock()

    def wait() -> None:
        while not over.wait(_CLOSE_SECONDS if expired.is_set() else seconds):
            with lock:
                if not over.is_set():
                    expired.set()
                    close_all([toolchain])

    if seconds is not None:
        threading.Thread(target=wait, daemon=True).start()
    try:
        yield expired
    finally:
        with lock:  # a close that runs comes to its end, and none follows
            over.set()


def cause_of(error: Exception) -> str:
    """In words."""
    known = isinstance(error, StropError | OSError) and str(error)
    return str(error) if known else f"{type(error).__name__}: {error}"


def close_all(toolchains: Iterable[Toolchain]) -> None:
    """Ends their processes, whatever they say to it."""
    for toolchain in toolchains:
        with contextlib.suppress(Exception):
            toolchain.close()
