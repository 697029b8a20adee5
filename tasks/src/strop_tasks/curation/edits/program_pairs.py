"""Faulty programs and their repairs, of three kinds:

1. programs that do not build, with the compiler's message: from tasks with a reference and a broken program
   (`metadata.broken`) whose check has a build stage. Verified: the broken program fails in that stage, the edit passes;
2. programs with removed lines, as in HumanEval-Infilling (Bavarian et al., arXiv 2207.14255: single-line and
   multi-line). Verified: the rest fails, and the lines pass;
3. pairs of a vulnerable and a fixed function: neighbouring rows of PrimeVul's paired files.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import chain
from typing import Any, NamedTuple

from strop.tasks.adapters import ADAPTERS
from strop.tasks.edit_tasks import Unfit, as_edit
from strop.tasks.formats import tasks_of
from strop_tasks.curation.edits import EditSettings
from strop_tasks.curation.engine.tally import ErrorBudget, LeftOut, Tally
from strop_verify.core.bounded_map import ahead
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

FAMILY = "fix-compile"
IN_FLIGHT = 64  # programs judged at a time
MOST_LINES = 4  # maximum lines of a hole
LONGEST_MESSAGE = 4000  # maximum characters of a compiler's message to show


class _Work(NamedTuple):
    task: Task
    edit: Task
    broken: Future[Verdict]
    mended: Future[Verdict]


def fix_compile(
    tasks: Iterable[Task], verifier: Verifier, settings: EditSettings, tally: Tally
) -> Iterator[Task]:
    """The tasks, in order. Raises TooManyErrors when more than 5 % of the programs could not be verified."""
    broken = ((task, task.metadata.get("broken")) for task in tasks)
    return _verified(broken, _uncompiled, verifier, settings, tally)


def infill(tasks: Iterable[Task], verifier: Verifier, settings: EditSettings, tally: Tally) -> Iterator[Task]:
    """Up to `settings.holes` tasks from each task, in order. Raises TooManyErrors like `fix_compile`."""
    holes = (hole for task in tasks for hole in _holes(task, settings))
    cut = ((hole, f"{hole.metadata['prefix']}{hole.metadata['suffix']}") for hole in holes)
    return _verified(cut, lambda work, broken: work.edit, verifier, settings, tally)


def _verified(
    pairs: Iterable[tuple[Task, Any]],
    made: Callable[[_Work, Verdict], Task],
    verifier: Verifier,
    settings: EditSettings,
    tally: Tally,
) -> Iterator[Task]:
    """Makes tasks from pairs of a task and a program that fails it; `made` may raise LeftOut."""
    budget = ErrorBudget()
    for work in ahead(_all_begun(pairs, verifier, settings, tally), IN_FLIGHT):
        broken, mended = work.broken.result(), work.mended.result()
        budget.see(broken if mended.scored else mended)
        with tally.leaving_out("left_out"):
            if not (broken.scored and mended.scored):
                raise LeftOut("could not be verified")
            if broken.passed:
                raise LeftOut("the broken program passes")
            if not mended.passed:
                raise LeftOut("the reference does not pass")
            task = made(work, broken)
            tally.done(1)
            yield tally.keep(task)


def _all_begun(
    pairs: Iterable[tuple[Task, Any]], verifier: Verifier, settings: EditSettings, tally: Tally
) -> Iterator[_Work]:
    for task, broken in pairs:
        tally.considered += 1
        with tally.leaving_out("left_out"):
            if not (isinstance(broken, str) and broken.strip()):
                raise LeftOut("no broken program")
            try:
                edit = as_edit(task, settings.format)
            except Unfit as error:
                raise LeftOut(str(error)) from error
            yield _Work(task, edit, verifier.submit(task, broken), verifier.submit(edit, edit.reference))


def _holes(task: Task, settings: EditSettings) -> Iterator[Task]:
    """The task with lines of its reference removed below the line of its name: alternately one, or a run of up to
    `MOST_LINES`. Yields nothing if there are no such lines.
    """
    lines = task.reference.splitlines(keepends=True)
    name = task.check.function
    head = next((n for n, line in enumerate(lines) if name and name in line), -1) + 1
    inner = [n for n in range(head, len(lines)) if lines[n].strip()]
    rng = random.Random(f"{settings.seed} {task.id}")
    seen: set[tuple[int, int]] = set()
    for number in range(settings.holes if inner else 0):
        first = rng.choice(inner)
        last = first if number % 2 == 0 else min(first + rng.randrange(1, MOST_LINES), inner[-1])
        if (first, last) in seen or (first, last) == (0, len(lines) - 1):
            continue
        seen.add((first, last))
        around = {"prefix": "".join(lines[:first]), "suffix": "".join(lines[last + 1 :])}
        yield task.model_copy(
            update={"id": f"{task.id}/{first + 1}-{last + 1}", "metadata": {**task.metadata, **around}}
        )


def _uncompiled(work: _Work, broken: Verdict) -> Task:
    """The task of a broken program. Raises LeftOut."""
    build = broken.stage("build")
    if build is None or build.passed:
        raise LeftOut("the broken program builds")
    given = work.task.metadata.get("message")
    message = given if isinstance(given, str) and given.strip() else build.output or broken.detail
    metadata = {name: value for name, value in work.edit.metadata.items() if name != "message"}
    statement = _statement(work.task, message)
    return work.edit.model_copy(update={"family": FAMILY, "statement": statement, "metadata": metadata})


def _statement(task: Task, message: str) -> str:
    text = message.strip("\n")[:LONGEST_MESSAGE].rstrip()
    purpose = (task.statement or task.prompt or "").strip()
    said = f"The compiler says:\n\n{text}" if text else ""
    return "\n\n".join(filter(None, ["This program does not compile. Mend it.", purpose, said]))


def pairs(tasks: Iterable[Task], tally: Tally) -> Iterator[Task]:
    """Both tasks of each pair, with numbered lines and the lines of the fix; see `strop_tasks.formats.vulnerability`.

    A pair is two neighbouring rows, one vulnerable and one not, of one commit and one weakness, with different code.
    Others are left out and counted.
    """
    waiting: Task | None = None
    for task in chain(tasks, [None]):
        tally.considered += task is not None
        if waiting is not None and task is not None and _belong(waiting, task):
            two = (task, waiting) if task.metadata["vulnerable"] else (waiting, task)
            waiting = None
            tally.done(1)
            yield from map(tally.keep, _pair(*two))
            continue
        if waiting is not None:
            tally.left_out["no neighbour of the other kind"] += 1
            tally.done(0)
        known = (
            task is not None and _code(task) is not None and isinstance(task.metadata.get("vulnerable"), bool)
        )
        waiting = task if known else None
        if task is not None and not known:
            tally.left_out["not of the format primevul (pairs of SVEN are read as vulnerability:PLACE)"] += 1
            tally.done(0)


def _pair(vulnerable: Task, fixed: Task) -> Iterator[Task]:
    row = {
        "pair": vulnerable.id, "cwe": vulnerable.metadata["cwe"], "language": vulnerable.language,
        "vulnerable": _code(vulnerable), "fixed": _code(fixed), "label_set": "primevul",
    }  # fmt: skip
    for task in tasks_of(ADAPTERS["vulnerability"], [(vulnerable.id, row)]):
        yield task.model_copy(update={"metadata": {**task.metadata, "pair": vulnerable.metadata["pair"]}})


def _belong(a: Task, b: Task) -> bool:
    one, other = a.metadata, b.metadata
    alike = all(one.get(name) == other.get(name) for name in ("pair", "cwe"))
    return alike and one.get("vulnerable") is (not other.get("vulnerable")) and _code(a) != _code(b)


def _code(task: Task) -> str | None:
    """The function in a task of the format primevul."""
    row = task.metadata.get("original")
    code = row.get("func") if isinstance(row, dict) else None
    return code if isinstance(code, str) and "pair" in task.metadata else None
