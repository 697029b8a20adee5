"""Counts of what a build examined, left out and made; the limit on *error* verdicts; and for all tasks of a build,
duplicates removed (`once`) and a split by repository, and by date within one (`split_of`).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from strop_verify.core.errors import TooManyErrors, UserError

if TYPE_CHECKING:
    from strop_verify.core.task import Task
    from strop_verify.core.verdict import Verdict


@dataclass(frozen=True)
class TallyLayout:
    """What one kind of build counts, in the order of its manifest."""

    names: Sequence[str]
    """Names of `Tally`'s numbers and counts; "operators": a row for each operator, see `fates`."""
    marks: "Callable[[Task], Iterable[tuple[str, str]]]"
    """(name, key) of each count that a task adds to."""
    fates: Sequence[str] = ()
    """Counts that form the columns of an operator's row; the first one's keys are the rows. Reasons come last."""
    order: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    """Sort keys of the names that are not sorted alphabetically."""


class LeftOut(Exception):
    """Raised when a candidate makes no task; its text is the reason, in a few words that are counted."""


class Tally:
    """Counts of one build."""

    def __init__(self, layout: TallyLayout) -> None:
        self._layout = layout
        self.tasks = self.originals = self.considered = self.files = self.functions = 0
        """Tasks made, and what was examined: original tasks or functions; commits, rows or programs; files; functions
        with a docstring."""
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)  # by name and key
        self.dropped: dict[str, Counter[str]] = defaultdict(Counter)
        """Judged and not kept, by operator and reason."""
        self.unusable, self.left_out = self.counts["unusable"], self.counts["left_out"]
        """Candidates that made no task, by reason."""
        self.skipped = self.counts["skipped"]  # files and rows left out, by reason
        self.filtered = self.counts["filtered"]  # functions, by the first filter that rejected them
        self.made, self.tried, self.kept = (self.counts[name] for name in ("made", "tried", "kept"))
        """By operator; a fault of several operators counts under each."""
        self.done: Callable[[int], None] = lambda made: None
        """Receives the number of tasks made from each candidate, to show progress."""

    def keep(self, task: "Task") -> "Task":
        """Counts a task and returns it."""
        self.tasks += 1
        for name, key in self._layout.marks(task):
            self.counts[name][key] += 1
        return task

    def take_back(self, task: "Task", reason: str) -> None:
        """Moves a counted task to the rejected ones."""
        self.tasks -= 1
        for name, key in self._layout.marks(task):
            self.counts[name] -= Counter({key: 1})
        self.refuse(reason)

    def refuse(self, reason: str) -> None:
        """Counts a candidate that makes no task."""
        self.counts["left_out" if "left_out" in self._layout.names else "unusable"][reason] += 1

    def drop(self, operators: Iterable[str], reason: str) -> None:
        """Counts a candidate that was judged and rejected."""
        for name in operators:
            self.dropped[name][reason] += 1

    @contextmanager
    def leaving_out(self, name: str) -> Iterator[None]:
        """Counts a LeftOut under `name` by its reason, and tells `done` that no task was made."""
        try:
            yield
        except LeftOut as reason:
            self.counts[name][str(reason)] += 1
            self.done(0)

    def one(self, make: "Callable[[], Task]") -> "Iterator[Task]":
        """The task of one candidate, which is counted; none if `make` raises LeftOut. Tells `done`."""
        self.considered += 1
        with self.leaving_out("left_out"):
            task = make()
            self.done(1)
            yield task

    def bad_row(self, _: str) -> None:
        """Counts a row of a source that cannot be read as a task."""
        self.considered += 1
        self.left_out["a row that makes no task"] += 1

    def reasons(self) -> str:
        """Why candidates made no task, the most frequent reason first."""
        found = self.left_out + self.skipped + self.filtered + self.unusable
        found += sum(self.dropped.values(), Counter())
        return listed(dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))))

    def told(self, *names: str) -> str:
        """The counts of some names in one line."""
        found = self.manifest()
        return ", ".join(filter(None, (listed(found[name]) for name in names))) or "none"

    def manifest(self) -> dict[str, Any]:
        """All counts, sorted."""
        found: dict[str, Any] = {}
        for name in self._layout.names:
            if name == "operators":
                operators = sorted(self.counts[self._layout.fates[0]])
                found[name] = {operator: self._row(operator) for operator in operators}
            elif isinstance(number := getattr(self, name, None), int):
                found[name] = number
            else:
                found[name] = _sorted(self.counts[name], self._layout.order.get(name))
        return found

    def _row(self, operator: str) -> dict[str, Any]:
        fates = {fate: self.counts[fate][operator] for fate in self._layout.fates}
        return {**fates, "dropped": _sorted(self.dropped[operator])}


class ErrorBudget:
    """Stops a build when more than `share` of its verdicts are errors, once it has seen `fewest`."""

    def __init__(
        self, share: float = 0.05, *, fewest: int = 100, what: str = "programs could not be verified"
    ) -> None:
        self._share, self._fewest, self._what = share, fewest, what
        self._seen = self._errors = 0

    def see(self, verdict: "Verdict") -> "Verdict":
        """Counts a verdict and returns it. Raises TooManyErrors when too many are errors."""
        self.count(None if verdict.scored else verdict.detail)
        return verdict

    def count(self, error: str | None) -> None:
        """Counts one verdict, with the cause if it is an error. Raises TooManyErrors."""
        self._seen += 1
        if error is None:
            return
        self._errors += 1
        if self._seen >= self._fewest and self._errors > self._share * self._seen:
            raise TooManyErrors(
                f"{self._errors} of {self._seen} {self._what}, more than {self._share:.0%}; the last cause: {error}"
            )


def listed(counts: Mapping[str, int]) -> str:
    """Counts and their reasons as one line of text."""
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())


def _sorted(counts: Mapping[str, int], order: Callable[[str], Any] | None = None) -> dict[str, int]:
    return {key: counts[key] for key in sorted(counts, key=order)}


def once(tasks: "Iterable[Task]", tally: Tally) -> "Iterator[Task]":
    """The tasks without repeated ones, such as those of a repository's copy."""
    ids: set[str] = set()
    for task in tasks:
        if task.id in ids:
            tally.refuse("made before")
            continue
        ids.add(task.id)
        yield task


def split_of(tasks: "Sequence[Task]", held_out: Sequence[str], share: float) -> "Iterator[Task]":
    """The tasks with their split: some repositories are held out, and so are the newest commits of all others.

    share  of a repository's newest commits to hold out, in whole days; by exact count if that would be all of them.
           Tasks without a date are not held out by it
    Raises UserError for a repository that has no task.
    """
    names = {task.topic for task in tasks}
    if unknown := next((name for name in held_out if name not in names), ""):
        raise UserError(
            f"--held-out {unknown}: no task comes from it; there are {', '.join(sorted(names)) or 'none'}"
        )
    late = set[str]()
    for name in names:
        late |= _late(
            [task for task in tasks if task.topic == name and task.metadata.get("kind") == "commit"], share
        )
    for task in tasks:
        out = task.topic in held_out or task.id in late
        yield task.model_copy(update={"split": "held-out" if out else "train"})


def _late(commits: "Sequence[Task]", share: float) -> set[str]:
    """The ids of a repository's newest tasks: whole days, unless that would be all tasks."""
    count = round(len(commits) * share)
    dates = sorted((task.metadata["date"] for task in commits), reverse=True)
    if not count or dates[count - 1] == dates[-1]:
        return {task.id for task in commits[:count]}
    return {task.id for task in commits if task.metadata["date"] >= dates[count - 1]}
