"""Pairs of a vulnerable and a fixed function, out of neighbouring rows of PrimeVul's paired files."""

from collections.abc import Callable, Iterable, Iterator

from strop.core.task import Task
from strop.curation.engine.tally import Tally
from strop.tasks.adapters import ADAPTERS
from strop.tasks.formats import tasks_of


def pairs(tasks: Iterable[Task], tally: Tally, done: Callable[[int], None]) -> Iterator[Task]:
    """Both tasks of each pair, with numbered lines and the lines of the fix; see `strop.tasks.adapters.vulnerability`.

    A pair are two neighbours, one vulnerable and one not, of one commit and one weakness, with different codes. Others
    are left out and counted.
    """
    waiting: Task | None = None
    for task in tasks:
        tally.considered += 1
        code, vulnerable = _code(task), task.metadata.get("vulnerable")
        if waiting is not None and _belong(waiting, task):
            made = list(_pair(task, waiting) if vulnerable else _pair(waiting, task))
            waiting = None
            done(1)
            yield from map(tally.keep, made)
            continue
        if waiting is not None:
            tally.left_out["no neighbour of the other kind"] += 1
            done(0)
        if code is None or not isinstance(vulnerable, bool):
            tally.left_out["not of the format primevul (pairs of SVEN are read as vulnerability:PLACE)"] += 1
            waiting = None
            done(0)
        else:
            waiting = task
    if waiting is not None:
        tally.left_out["no neighbour of the other kind"] += 1
        done(0)


def _pair(vulnerable: Task, fixed: Task) -> Iterator[Task]:
    row = {
        "pair": vulnerable.id,
        "cwe": vulnerable.metadata["cwe"],
        "language": vulnerable.language,
        "vulnerable": _code(vulnerable),
        "fixed": _code(fixed),
        "label_set": "primevul",
    }
    for task in tasks_of(ADAPTERS["vulnerability"], [(vulnerable.id, row)]):
        yield task.model_copy(update={"metadata": {**task.metadata, "pair": vulnerable.metadata["pair"]}})


def _belong(a: Task, b: Task) -> bool:
    one, other = a.metadata, b.metadata
    alike = all(one.get(name) == other.get(name) for name in ("pair", "cwe"))
    return alike and one.get("vulnerable") is (not other.get("vulnerable")) and _code(a) != _code(b)


def _code(task: Task) -> str | None:
    """The function that a task of the format primevul asks about."""
    row = task.metadata.get("original")
    code = row.get("func") if isinstance(row, dict) else None
    return code if isinstance(code, str) and "pair" in task.metadata else None
