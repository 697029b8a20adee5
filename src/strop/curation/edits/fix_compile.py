"""Programs that do not build, with the compiler's message, judged by their task's own check.

Out of tasks with a reference and a broken program (`metadata.broken`): those of `strop build rust-fix`, and any whose
check has a build stage, such as C by a command check with `gcc`. Verified: the broken program fails in the build stage,
and the oracle's edit passes.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import NamedTuple

from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.core.window import ahead
from strop.curation.edits import EditSettings
from strop.curation.engine.tally import ErrorBudget, LeftOut, Tally
from strop.tasks.edit_tasks import Unfit, as_edit

FAMILY = "fix-compile"
IN_FLIGHT = 64
"""Programs that are judged at one time."""
LONGEST_MESSAGE = 4000
"""Characters of a compiler's message that are shown."""


class _Work(NamedTuple):
    task: Task
    edit: Task
    broken: Future[Verdict]
    mended: Future[Verdict]


def fix_compile(
    tasks: Iterable[Task],
    verifier: Verifier,
    settings: EditSettings,
    tally: Tally,
    done: Callable[[int], None],
) -> Iterator[Task]:
    """The tasks, in order. Raises TooManyErrors when more than 5 % of the programs could not be verified."""
    budget = ErrorBudget()
    for work in ahead(_all_begun(tasks, verifier, settings, tally, done), IN_FLIGHT):
        broken, mended = work.broken.result(), work.mended.result()
        budget.see(broken if mended.scored else mended)
        with tally.leaving_out("left_out", done):
            made = _judged(work, broken, mended)
            done(1)
            yield tally.keep(made)


def _all_begun(
    tasks: Iterable[Task],
    verifier: Verifier,
    settings: EditSettings,
    tally: Tally,
    done: Callable[[int], None],
) -> Iterator[_Work]:
    for task in tasks:
        tally.considered += 1
        with tally.leaving_out("left_out", done):
            yield _begun(task, verifier, settings)


def _begun(task: Task, verifier: Verifier, settings: EditSettings) -> _Work:
    broken = task.metadata.get("broken")
    if not isinstance(broken, str) or not broken.strip():
        raise LeftOut("no broken program")
    try:
        edit = as_edit(task, settings.format)
    except Unfit as error:
        raise LeftOut(str(error)) from error
    return _Work(task, edit, verifier.submit(task, broken), verifier.submit(edit, edit.reference))


def _judged(work: _Work, broken: Verdict, mended: Verdict) -> Task:
    """The task that a broken program makes. Raises LeftOut."""
    if not (broken.scored and mended.scored):
        raise LeftOut("could not be verified")
    build = broken.stage("build")
    if build is None or build.passed or broken.passed:
        raise LeftOut("the broken program builds")
    if not mended.passed:
        raise LeftOut("the reference does not pass")
    given = work.task.metadata.get("message")
    message = given if isinstance(given, str) and given.strip() else build.output or broken.detail
    metadata = {name: value for name, value in work.edit.metadata.items() if name != "message"}
    statement = _statement(work.task, message)
    return work.edit.model_copy(update={"family": FAMILY, "statement": statement, "metadata": metadata})


def _statement(task: Task, message: str) -> str:
    text = message.strip("\n")[:LONGEST_MESSAGE].rstrip()
    purpose = (task.statement or task.prompt or "").strip()
    parts = [
        "This program does not compile. Mend it.",
        purpose,
        f"The compiler says:\n\n{text}" if text else "",
    ]
    return "\n\n".join(filter(None, parts))
