"""Is a task fit to train on? Its reference must pass, and answers that know nothing must fail.

A trivial answer that passes is worse than a missing task: the policy finds it and learns it.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any

from pydantic import Field

from strop.core.ids import canonical_json
from strop.core.protocols import Verifier
from strop.core.records import Record
from strop.core.task import AssertsCheck, CasesCheck, StdioCheck, Task
from strop.core.verdict import Verdict

MIN_TESTS = 6
CONSTANTS: tuple[Any, ...] = (None, 0, 1, "", [], {}, True, False)
IN_FLIGHT = 256
"""Most answers that wait for the verifier at one time."""


class TaskAudit(Record):
    """What an audit says of one task."""

    task_id: str
    source: str = ""
    ok: bool
    reasons: list[str] = Field(default_factory=list)
    """Why it is not fit, one line each."""


def audit(tasks: Sequence[Task], verifier: Verifier, *, min_tests: int = MIN_TESTS) -> list[TaskAudit]:
    """One audit a task, in order.

    Checked: the reference passes; the empty answer and every answer of `trivial_answers` fail; there are `min_tests`
    tests, some shown and some hidden, and no hidden one can be read off the prompt. Asserts are one opaque test, so
    only the answers are tried on them. An outcome *error* is a reason as well: nothing is known then.
    """
    reasons = [list(form_reasons(task, min_tests)) for task in tasks]
    waiting: list[tuple[int, str, Future[Verdict]]] = []

    def collect(keep: int) -> None:
        while len(waiting) > keep:
            number, what, future = waiting.pop(0)
            reason = _answer_reason(what, future.result())
            if reason:
                reasons[number].append(reason)

    for number, task in enumerate(tasks):
        if task.reference.strip():
            waiting.append((number, "", verifier.submit(task, task.reference)))
        else:
            reasons[number].append("no reference: nobody has shown that it can be solved")
        for what, answer in trivial_answers(task):
            waiting.append((number, what, verifier.submit(task, answer)))
        collect(IN_FLIGHT)
    collect(0)
    return [
        TaskAudit(task_id=task.id, source=task.source, ok=not found, reasons=found)
        for task, found in zip(tasks, reasons, strict=True)
    ]


def trivial_answers(task: Task) -> Iterator[tuple[str, str]]:
    """(name, answer): empty; constants; the first shown expected value; the first argument returned as it came."""
    yield "the empty answer", ""
    if isinstance(task.check, StdioCheck):
        shown = [c.stdout for c in task.check.cases if c.shown]
        for text in dict.fromkeys(["", "0", "1", *shown[:1]]):
            yield f"the constant answer print({text!r})", f"print({text!r}, end='')\n"
        yield "the echo of its input", "import sys\nprint(sys.stdin.read(), end='')\n"
        return
    if not isinstance(task.check, CasesCheck | AssertsCheck):
        return  # suites and other languages: the empty answer has to do
    name = task.check.entry_point
    values = list(CONSTANTS)
    if isinstance(task.check, CasesCheck):
        values += [c.expected for c in task.check.cases if c.shown][:1]
    for body in dict.fromkeys(f"return {value!r}" for value in values):
        yield f"the constant answer `{body}`", f"def {name}(*args, **kwargs):\n    {body}\n"
    yield "returning the first argument", f"def {name}(*args, **kwargs):\n    return args[0]\n"


def form_reasons(task: Task, min_tests: int = MIN_TESTS) -> Iterator[str]:
    """What is wrong with a task that can be seen without running anything."""
    if not (task.statement.strip() or task.prompt):
        yield "no statement"
    if isinstance(task.check, StdioCheck):
        cases = [(c.stdin, c.shown) for c in task.check.cases]
    elif isinstance(task.check, CasesCheck):
        cases = [(canonical_json([c.args, c.kwargs]), c.shown) for c in task.check.cases]
    else:
        return
    shown = {given for given, is_shown in cases if is_shown}
    hidden = [given for given, is_shown in cases if not is_shown]
    if len(set(given for given, _ in cases)) < min_tests:
        yield f"{len(set(given for given, _ in cases))} different tests, fewer than {min_tests}"
    if not shown:
        yield "no test is shown"
    if not hidden:
        yield "no test is hidden"
    repeated = sum(given in shown for given in hidden) + len(hidden) - len(set(hidden))
    if repeated:
        yield f"{repeated} hidden tests repeat another test"
    if isinstance(task.check, CasesCheck) and (told := _told(task, task.check)):
        yield f"{told} hidden tests stand in the statement"


def _told(task: Task, check: CasesCheck) -> int:
    """How many hidden calls the statement spells out."""
    calls = [f"{check.entry_point}({', '.join(map(repr, c.args))})" for c in check.cases if not c.shown]
    return sum(call in task.statement for call in calls)


def _answer_reason(what: str, verdict: Verdict) -> str:
    """Why a verdict speaks against the task; `what` is empty for the reference."""
    if not verdict.scored:
        return f"{what or 'the reference'} could not be verified: {verdict.detail}"
    if what:
        return f"{what} passes" if verdict.passed else ""
    if verdict.passed:
        return ""
    failed = [f"{t.id}: {t.message}" for t in verdict.tests if t.outcome != "passed"]
    return f"the reference does not pass ({verdict.outcome}): {verdict.detail or '; '.join(failed[:1])}"
