"""Decides whether an answer on which the grader broke is to blame.

A control answer to the same task (its reference, else one that does nothing) is judged in fresh processes, to show that
the grader works. Then the answer itself is judged once more, if requested; a verdict from this run stands. If
the grader breaks again, or the answer is not tried again, the answer is *failed* if the control answer got a verdict,
else *error*. So no answer can turn its own failure into *error*, which is left out of the loss. A fault of the task is
*error*, whichever run found it.

If the toolchain states its limit (`wall_seconds`), all of this ends `GRACE_SECONDS` after it, counted from the start of
the run that broke, but gets at least `LEAST_SECONDS`. An answer that has used up its time by then is *timed out*: the
control answer had less than the limit, so nothing is known about the grader.
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
"""Enough for a control answer."""
_CLOSE_SECONDS = 0.05
"""Pause between repeated closes after the deadline, since a process may just be starting."""
_DETAIL = 500
"""Maximum characters of a detail."""
_HARMLESS = {
    "python": "pass\n",
    "rust": "fn harmless() {}\n",
    "c": "int main(void) { return 0; }\n",
    "javascript": ";\n",
}
"""Answers that do nothing, for tasks without a reference."""


class Attribution(NamedTuple):
    """The verdict of an answer on which the grader broke."""

    verdict: Verdict
    judged: bool
    """Whether it comes from a run of the answer itself."""


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
    """The verdict of an answer on which the grader broke, as `error` says.

    began   start of that run, by `time.monotonic`
    again   whether the answer is tried once more
    closed  whether the verdict is no longer wanted
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
        outcome = Outcome.FAILED
        detail = f"the grader broke on this answer but not on a control answer: {detail}"
    elif expired.is_set() and limit is not None and window is not None and window < limit:
        outcome = Outcome.TIMED_OUT
        detail = f"the grader broke on this answer, which left too little time to look again: {detail}"
    elif control in causes:
        detail = f"{detail} (on a control answer: {causes[control]})"
    return Attribution(error.model_copy(update={"outcome": outcome, "detail": detail[:_DETAIL]}), False)


@contextlib.contextmanager
def _deadline(toolchain: Toolchain, seconds: float | None) -> Iterator[threading.Event]:
    """Ends a toolchain's processes after `seconds`, and any that start later in the block; yields an event for it."""
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
        with lock:  # waits for a running close; none follows
            over.set()


def cause_of(error: Exception) -> str:
    """An error as text, with its class unless it is one of ours or the system's."""
    known = isinstance(error, StropError | OSError) and str(error)
    return str(error) if known else f"{type(error).__name__}: {error}"


def close_all(toolchains: Iterable[Toolchain]) -> None:
    """Ends the toolchains' processes, ignoring errors."""
    for toolchain in toolchains:
        with contextlib.suppress(Exception):
            toolchain.close()
