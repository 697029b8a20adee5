"""`Factory` turns a project with tests into verified repair tasks.

A bug is put into a function that tests reach and judged by those tests alone. It is kept when some of them fail, and

1. the same tests fail again, and all others pass, in a run with another hash seed and in `RERUNS` more;
2. the oracle's edit, applied like an answer, makes all of them pass.

Bugs that fail every test come last; those with timeouts or uncollectable tests are discarded. Functions take turns.
A pair is two such bugs in one file; each still fails as it did alone, so repairing one is not enough. The
choice depends on verdicts, not on their timing: the same project and seed give the same tasks.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import KW_ONLY, dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from strop_tasks.curation.bugs.issue import project_issue, same_message
from strop_tasks.curation.bugs.rewrites import OPERATOR, Offer
from strop_tasks.curation.bugs.targets import BATCH, LEAST_TESTS, MOST_TESTS, Target, Targets
from strop_tasks.curation.engine.tally import ErrorBudget, Tally
from strop_tasks.curation.faults.body_replacement import NoFault
from strop_tasks.curation.faults.draw import Fault, both_changes, in_turns
from strop_verify.core.bounded_map import ahead
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.errors import VerificationError
from strop_verify.core.ids import content_hash, unit_interval
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Split, Task
from strop_verify.core.verdict import Outcome, TestResult, Verdict
from strop_verify.edits import FORMATS

if TYPE_CHECKING:
    from strop_verify.verification.project import Project

FAMILY = "repair"
RERUNS = 1
"""Runs of the unrepaired project, judged like an answer, besides those that found the bug and changed the hash seed."""
MOST_TASK = 400_000  # maximum characters of a task's files, test names and reference together
WINDOW = 8
"""Bugs in progress in each of the two steps; the same on every machine, because the choice depends on it."""
MOST_MISSED = 15  # useless bugs in a row after which a function is skipped
HELD_OUT = 0.35
_BROKEN = ("the test was not reported", "it does not build")

Results = Mapping[str, TestResult]


@dataclass(frozen=True)
class ProjectPlace:
    """Where the project's snapshot is during the build, and where the tasks will look for it."""

    name: str
    archive: str
    """The snapshot, while tasks are verified."""
    final: str
    """Its name in the tasks, which is not part of their ids."""
    digest: str


@dataclass(frozen=True)
class _Found:
    """A bug that tests caught."""

    target: Target
    fault: Fault
    failing: list[str]
    passing: list[str]
    message: str  # why the first failing test fails
    statement: str = ""  # its task's statement, once kept


@dataclass
class _Pair(Target):
    """Two functions of a file, each with a kept bug."""

    of: tuple[_Found, ...] = ()


@dataclass
class _Waiting:
    """A bug that tests caught, while further runs confirm it."""

    found: _Found
    task: Task
    unrepaired: list[Future[Verdict]]
    again: "Future[dict[str, TestResult]]"  # the tests run with another hash seed
    repaired: Future[Verdict]


@dataclass
class Factory:
    """Makes the bugs of one project. Each instance is used once."""

    project: "Project"
    place: ProjectPlace
    targets: Targets
    verifier: Verifier
    tally: Tally
    _: KW_ONLY
    format: str = "search-replace"
    per_function: int | None = None
    ahead: int = 1
    """Bugs to prepare before they are judged; more if a model writes some."""
    done: Callable[[int], None] = lambda kept: None
    """Called after each judged bug, with the number of tasks so far."""

    def __post_init__(self) -> None:
        self.budget = ErrorBudget(what="runs could not be judged")
        self._names: Counter[str] = Counter()
        self._single: list[_Found] = []

    def tasks(self, count: int, pairs: int = 0) -> Iterator[Task]:
        """At most `count` tasks, then at most `pairs` that combine two of their bugs. Raises TooManyErrors when more
        than 5 % of the runs could not be judged.
        """
        yield from self._kept(self._found(self._faults()), count)
        if pairs:
            yield from self._kept(self._found(_pairs(self._single)), pairs)

    def _kept(self, found: Iterator[_Found], count: int) -> Iterator[Task]:
        made = 0
        for waiting in ahead(map(self._confirming, found), WINDOW):
            task = self._confirmed(waiting)
            if task is not None:
                made += 1
                yield task  # before progress output, where an interrupt would lose it
            self.done(self.tally.tasks)
            if made == count:
                return

    def _found(self, faults: Iterator[tuple[Target, Fault]]) -> Iterator[_Found]:
        """The bugs that tests catch; those that fail every test come last."""
        begun = (
            (target, fault, self.project.submit({target.path: fault.text}, target.tests))
            for target, fault in faults
        )
        spare: list[_Found] = []
        for target, fault, future in ahead(begun, WINDOW):
            self.tally.tried.update(fault.operators)
            found = self._noticed(target, fault, future)
            self.done(self.tally.tasks)
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
        """The candidate bugs; waits for those that a model writes."""
        for target, offer in ahead(self._candidates(), self.ahead):
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
        """Bugs of a batch's functions in turn, until each has none left or too many useless ones; then the next."""
        few: list[Target] = []
        for batch in self.targets.batches():
            self.tally.originals += len(batch)
            yield from self._turns(batch, few)
        yield from self._turns(few, None)

    def _turns(self, batch: list[Target], few: list[Target] | None) -> Iterator[tuple[Target, Offer]]:
        """Bugs of these functions; functions with few steady tests are moved to `few`, if given, for later."""
        left = list(batch)
        while left:
            for number, target in enumerate(list(left)):
                if not target.ready:
                    self.targets.prepare(batch[number : number + BATCH])
                if len(target.tests) < LEAST_TESTS and few is not None and self.project.language == "python":
                    left.remove(target)
                    few += [target] if target.tests else []
                    continue
                full = self.per_function is not None and target.kept >= self.per_function
                fault = None if full or target.missed >= MOST_MISSED else next(target.order, None)
                if fault is None:
                    left.remove(target)
                else:
                    yield target, fault

    def _noticed(self, target: Target, fault: Fault, future: "Future[dict[str, TestResult]]") -> _Found | str:
        """The bug if tests catch it, else the reason for rejecting it."""
        try:
            results = future.result()
        except VerificationError as error:
            self.budget.count(str(error))
            return "could not be verified"
        self.budget.count(None)
        failing, passing = _split(results, target.tests)
        judged = (Outcome.PASSED, Outcome.FAILED)
        odd = next((r.outcome for r in results.values() if r.outcome not in judged), None)
        if odd is not None:
            return f"ends with {odd}"
        if not failing:
            return "still passes"
        if any(_unrun(name, results[name]) for name in failing):
            return "its tests do not run"
        message = results[failing[0]].message
        return _Found(target, fault, failing[:MOST_TESTS], passing[:MOST_TESTS], message)

    def _confirming(self, found: _Found) -> _Waiting:
        task = self._task(found, self._name(found), found.message)
        check = task.check.only(EditCheck)
        here = check.effective().only(ProjectCheck).model_copy(update={"project": self.place.archive})
        broken = task.model_copy(update={"check": here.model_copy(update={"files": check.files})})
        edited = task.model_copy(update={"check": check.model_copy(update={"judge": here})})
        tests, seed = [*found.failing, *found.passing], 1 if self.project.language == "python" else 0
        unrepaired = [self.verifier.submit(broken, f"run {number}") for number in range(RERUNS)]
        again = self.project.submit({found.target.path: found.fault.text}, tests, hash_seed=seed)
        return _Waiting(found, task, unrepaired, again, self.verifier.submit(edited, task.reference))

    def _confirmed(self, waiting: _Waiting) -> Task | None:
        """The task, if every further run agrees."""
        found, reason = waiting.found, ""
        for future in waiting.unrepaired:
            verdict = self.budget.see(future.result())
            failing = [test.id for test in verdict.tests if test.outcome is not Outcome.PASSED]
            if verdict.outcome is not Outcome.FAILED or sorted(failing) != sorted(found.failing):
                reason = reason or "other tests fail in another run"
        message = found.message
        try:
            again = waiting.again.result()
        except VerificationError as error:
            self.budget.count(str(error))
            reason = reason or "could not be verified"
        else:
            self.budget.count(None)
            if _split(again, [*found.failing, *found.passing])[0] != found.failing:
                reason = reason or "other tests fail in another run"
            message = same_message(message, again[found.failing[0]].message)
            if any(_hidden(one, again) for one in _parts(found.target)):
                reason = reason or "one bug hides the other"
        repaired = self.budget.see(waiting.repaired.result())
        if not repaired.passed:
            reason = reason or "the repair does not pass"
        task = waiting.task
        if message != found.message:
            task = self._task(found, task.source, message)
        if _size(task) > MOST_TASK:
            reason = reason or f"the task holds more than {MOST_TASK} characters"
        if reason:
            self.tally.drop(found.fault.operators, reason)
            return None
        found.target.kept += 1
        self._single.append(replace(found, message=message, statement=task.statement))
        return self.tally.keep(task)

    def _name(self, found: _Found) -> str:
        name = f"{self.place.name}/{found.target.label}.{'+'.join(found.fault.operators)}"
        self._names[name] += 1
        return f"{name}.{self._names[name]}" if self._names[name] > 1 else name

    def _task(self, found: _Found, source: str, message: str) -> Task:
        target, fault = found.target, found.fault
        files, oracle = {target.path: fault.text}, {target.path: target.text}
        judge = ProjectCheck(
            project=self.place.final, digest=self.place.digest, failing=found.failing, passing=found.passing
        )
        statement = "\n\n".join(one.statement for one in _parts(target))
        statement = statement or project_issue(target.name, target.path, found.failing, message)
        check = EditCheck(format=self.format, files=files, oracle=dict(oracle), judge=judge)
        asked = check.model_copy(update={"judge": judge.model_copy(update={"project": ""})})
        metadata = {"bug": list(fault.operators), "original": target.label, "lines": list(fault.lines)}
        return Task(
            id=content_hash([FAMILY, self.project.language, statement, asked.model_dump()]),
            family=FAMILY, language=self.project.language, statement=statement,
            reference=FORMATS[self.format].render(files, oracle),
            check=check, topic=self.place.name, split=split_of(target.text), source=source,
            metadata=metadata | ({"commit": target.commit} if target.commit else {}),
        )  # fmt: skip


def judging(tally: Tally) -> tuple[dict[str, float], str]:
    """Median and minimum tests per task, and how many tasks have fewer than `LEAST_TESTS`; and the same as text."""
    counts = [int(count) for count in tally.counts["tests"].elements()]
    few = sum(count < LEAST_TESTS for count in counts)
    told: dict[str, float] = {"median": median(counts), "least": min(counts), "few": few}
    more = f", fewer than {LEAST_TESTS} in {few} tasks" if few else ""
    return told, f"tests that judge a task: median {told['median']:g}, minimum {told['least']:g}{more}; "


def split_of(text: str) -> Split:
    """The split of all bugs in a file, by a hash of its text: one for all, because each task shows the file's other
    functions without their bugs."""
    return "held-out" if unit_interval("split", 0, content_hash(text)) < HELD_OUT else "train"


def _parts(target: Target) -> tuple[_Found, ...]:
    return target.of if isinstance(target, _Pair) else ()


def _hidden(one: _Found, results: Results) -> bool:
    """Whether a bug's test no longer fails as it did with this bug alone."""
    test = results.get(one.failing[0])
    if test is None or test.outcome is Outcome.PASSED:
        return True
    return same_message(one.message, test.message) != one.message


def _pairs(kept: list[_Found]) -> Iterator[tuple[Target, Fault]]:
    """Bugs of one file in different functions, each in one pair; files take turns."""
    by_path: dict[str, list[_Found]] = {}
    for one in kept:
        by_path.setdefault(one.target.path, []).append(one)
    yield from in_turns(map(_pairs_of, by_path.values()))


def _pairs_of(left: list[_Found]) -> Iterator[tuple[Target, Fault]]:
    while left:
        one = left.pop(0)
        for number, other in enumerate(left):
            text = both_changes(one.target.text, one.fault.text, other.fault.text)
            if text is not None and one.target.name != other.target.name:
                yield _pair(one, left.pop(number), text)
                break


def _pair(one: _Found, other: _Found, text: str) -> tuple[Target, Fault]:
    tests = dict.fromkeys([*one.failing, *other.failing, *one.passing, *other.passing])
    name = f"{one.target.name}+{other.target.name}"
    target = _Pair(one.target.path, name, one.target.text, list(tests), iter(()), of=(one, other))
    first, *_, last = sorted([*one.fault.lines, *other.fault.lines])
    return target, Fault((*one.fault.operators, *other.fault.operators), name, (first, last), text, "")


def _size(task: Task) -> int:
    check = task.check.only(EditCheck)
    judge = check.effective().only(ProjectCheck)
    texts = [*check.files.values(), *(t for t in check.oracle.values() if t), *judge.failing, *judge.passing]
    return len(task.reference) + sum(map(len, texts))


def _split(results: Results, tests: list[str]) -> tuple[list[str], list[str]]:
    """(failing, passing), in the order of the tests."""
    failing = [name for name in tests if results[name].outcome is not Outcome.PASSED]
    return failing, [name for name in tests if results[name].outcome is Outcome.PASSED]


def _unrun(name: str, result: TestResult) -> bool:
    """Whether a test failed without being run: its file could not be collected, or nothing was built."""
    return result.message.startswith((*_BROKEN, f"{name.partition('::')[0]}: "))
