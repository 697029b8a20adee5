"""`bugs_of_project`: a project with tests in, verified tasks to repair out.

A bug is put into a function that tests reach and judged by those tests alone. It is kept when some of them fail, and

1. the same ones fail again in `RERUNS` further runs in other processes, all others pass;
2. the oracle's edit, applied as an answer would be, makes all of them pass.

Bugs that fail every test come last; those with which tests run out of time or cannot be collected are none. Functions
take turns. What is tried depends on verdicts, never on when they come: the same project and seed give the same tasks.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strop.code.mutate.draw import Fault
from strop.core.checks import EditCheck, ProjectCheck
from strop.core.errors import TooManyErrors, VerificationError
from strop.core.ids import content_hash, unit_interval
from strop.core.protocols import Verifier
from strop.core.task import Split, Task
from strop.core.verdict import Outcome, TestResult, Verdict
from strop.curation.bugs.fit import NoFault
from strop.curation.bugs.issue import project_issue
from strop.curation.bugs.rewrites import OPERATOR, Offer
from strop.curation.bugs.tally import Tally
from strop.curation.bugs.targets import MOST_TESTS, Target
from strop.edits import FORMATS

if TYPE_CHECKING:
    from strop.verification.project import Project

FAMILY = "repair"
RERUNS = 2
"""Runs of the unrepaired project behind the one in which the bug was found."""
WINDOW = 8
"""Bugs under way at one time, in each of the two steps; the same on every machine, for what is tried depends on it."""
MOST_MISSED = 15
"""Bugs of one function without use, one after the other, after which it is left alone."""
HELD_OUT = 0.35
MAX_ERROR_RATE, FEWEST_VERDICTS = 0.05, 100
_BROKEN = ("the test was not reported", "it does not build")

Results = Mapping[str, TestResult]


@dataclass(frozen=True)
class Place:
    """Where the tasks' project is, now and later."""

    name: str
    archive: str
    """The snapshot, while tasks are verified."""
    final: str
    """Where it will lie: what the tasks say."""
    digest: str


@dataclass(frozen=True)
class _Found:
    """A bug that tests noticed."""

    target: Target
    fault: Fault
    failing: list[str]
    passing: list[str]
    message: str
    """Why the first failing test fails."""


@dataclass
class _Waiting:
    """A bug on its way through the second step."""

    found: _Found
    task: Task
    unrepaired: list[Future[Verdict]]
    repaired: Future[Verdict]


class Factory:
    """Makes the bugs of one project. Used once.

    ahead  bugs that are looked at before they are judged: more where a model writes some
    done   told after each bug that was judged how many tasks there are
    """

    def __init__(
        self,
        project: "Project",
        place: Place,
        targets: list[Target],
        verifier: Verifier,
        tally: Tally,
        *,
        format: str = "search-replace",
        per_function: int | None = None,
        ahead: int = 1,
        done: Callable[[int], None] = lambda kept: None,
    ) -> None:
        self.project, self.place, self.targets = project, place, targets
        self.verifier, self.tally, self.format, self.per_function = verifier, tally, format, per_function
        self.ahead, self.done = ahead, done
        self.verdicts = self.errors = 0
        self._names: Counter[str] = Counter()

    def tasks(self, count: int) -> Iterator[Task]:
        """At most `count` tasks. Raises TooManyErrors when more than 5 % of the runs could not be judged."""
        self.tally.originals = len(self.targets)
        window: deque[_Waiting] = deque()
        source = self._found()
        made = 0
        while made < count:
            while len(window) < WINDOW and (found := next(source, None)) is not None:
                window.append(self._confirming(found))
            if not window:
                return
            task = self._confirmed(window.popleft())
            self.done(made + (task is not None))
            if task is not None:
                made += 1
                yield task

    def _found(self) -> Iterator[_Found]:
        """The bugs that tests notice; those that no test survives come last."""
        window: deque[tuple[Target, Fault, Future[dict[str, TestResult]]]] = deque()
        source = self._faults()
        spare: list[_Found] = []
        while True:
            while len(window) < WINDOW and (item := next(source, None)) is not None:
                target, fault = item
                future = self.project.submit({target.path: fault.text}, target.tests)
                window.append((target, fault, future))
            if not window:
                break
            target, fault, future = window.popleft()
            self.tally.tried.update(fault.operators)
            found = self._noticed(target, fault, future)
            if isinstance(found, str):
                self.tally.drop(fault.operators, found)
                target.missed += 1
                continue
            target.missed = 0
            if found.passing or len(target.tests) == 1:
                yield found
            else:
                spare.append(found)
        yield from spare

    def _faults(self) -> Iterator[tuple[Target, Fault]]:
        """The candidates, with those that a model is asked for when their answers are in."""
        window: deque[tuple[Target, Offer]] = deque()
        source = self._candidates()
        while True:
            while len(window) < self.ahead and (item := next(source, None)) is not None:
                window.append(item)
            if not window:
                return
            target, offer = window.popleft()
            if isinstance(offer, Fault):
                yield target, offer
                continue
            try:
                yield target, offer.fault()
            except NoFault as error:
                self.tally.tried[OPERATOR] += 1
                self.tally.drop((OPERATOR,), str(error))
                target.missed += 1

    def _candidates(self) -> Iterator[tuple[Target, Offer]]:
        """One bug of each function, again and again, until each has no more or too many were of no use."""
        left = list(self.targets)
        while left:
            for target in list(left):
                full = self.per_function is not None and target.kept >= self.per_function
                fault = None if full or target.missed >= MOST_MISSED else next(target.order, None)
                if fault is None:
                    left.remove(target)
                else:
                    yield target, fault

    def _noticed(self, target: Target, fault: Fault, future: "Future[dict[str, TestResult]]") -> _Found | str:
        """The bug that tests notice, or why it is none."""
        self.verdicts += 1
        try:
            results = future.result()
        except VerificationError as error:
            self._count_error(str(error))
            return "could not be verified"
        failing, passing = _split(results, target.tests)
        odd = next((r.outcome for r in results.values() if r.outcome not in _JUDGED), None)
        if odd is not None:
            return f"ends with {odd}"
        if not failing:
            return "still passes"
        if any(_unrun(name, results[name]) for name in failing):
            return "its tests do not run"
        message = results[failing[0]].message
        return _Found(target, fault, failing[:MOST_TESTS], passing[:MOST_TESTS], message)

    def _confirming(self, found: _Found) -> _Waiting:
        task = self._task(found)
        check = task.check.only(EditCheck)
        here = check.judged().only(ProjectCheck).model_copy(update={"project": self.place.archive})
        broken = task.model_copy(update={"check": here.model_copy(update={"files": check.files})})
        edited = task.model_copy(update={"check": check.model_copy(update={"judge": here})})
        return _Waiting(
            found,
            task,
            [self.verifier.submit(broken, f"run {number}") for number in range(RERUNS)],
            self.verifier.submit(edited, task.reference),
        )

    def _confirmed(self, waiting: _Waiting) -> Task | None:
        """The task, if every further run says what it should."""
        found, reason = waiting.found, ""
        for future in waiting.unrepaired:
            verdict = self._scored(future.result())
            failing = [test.id for test in verdict.tests if test.outcome is not Outcome.PASSED]
            if verdict.outcome is not Outcome.FAILED or sorted(failing) != sorted(found.failing):
                reason = reason or "other tests fail in another run"
        repaired = self._scored(waiting.repaired.result())
        if not repaired.passed:
            reason = reason or "the repair does not pass"
        if reason:
            self.tally.drop(found.fault.operators, reason)
            return None
        found.target.kept += 1
        self.tally.keep(waiting.task)
        return waiting.task

    def _task(self, found: _Found) -> Task:
        target, fault = found.target, found.fault
        files, oracle = {target.path: fault.text}, {target.path: target.text}
        judge = ProjectCheck(
            project=self.place.final, digest=self.place.digest, failing=found.failing, passing=found.passing
        )
        name = f"{self.place.name}/{target.label}.{'+'.join(fault.operators)}"
        self._names[name] += 1
        number = f".{self._names[name]}" if self._names[name] > 1 else ""
        return Task(
            family=FAMILY,
            language=self.project.language,
            statement=project_issue(target.name, target.path, found.failing, found.message),
            reference=FORMATS[self.format].render(files, oracle),
            check=EditCheck(format=self.format, files=files, oracle=dict(oracle), judge=judge),
            topic=self.place.name,
            split=split_of(target.text),
            source=name + number,
            metadata={"bug": list(fault.operators), "original": target.label, "lines": list(fault.lines)},
        )

    def _scored(self, verdict: Verdict) -> Verdict:
        self.verdicts += 1
        if not verdict.scored:
            self._count_error(verdict.detail)
        return verdict

    def _count_error(self, cause: str) -> None:
        self.errors += 1
        if self.verdicts >= FEWEST_VERDICTS and self.errors > MAX_ERROR_RATE * self.verdicts:
            raise TooManyErrors(f"{self.errors} of {self.verdicts} runs could not be judged: {cause}")


_JUDGED = (Outcome.PASSED, Outcome.FAILED)


def split_of(text: str) -> Split:
    """The side of all bugs of a file, by a hash of its text: a task shows the right form of its other functions."""
    return "held-out" if unit_interval("split", 0, content_hash(text)) < HELD_OUT else "train"


def _split(results: Results, tests: list[str]) -> tuple[list[str], list[str]]:
    """(failing, passing), in the order of the tests."""
    failing = [name for name in tests if results[name].outcome is not Outcome.PASSED]
    return failing, [name for name in tests if results[name].outcome is Outcome.PASSED]


def _unrun(name: str, result: TestResult) -> bool:
    """Whether a test failed without being run: its file could not be collected, or nothing was built."""
    return result.message.startswith((*_BROKEN, f"{name.partition('::')[0]}: "))
