"""`bugs_of_tasks`: Python tasks with references in, verified tasks to repair out.

A bug is put into the reference and kept when the task's own check fails it; the reference itself must pass. Bugs that
fail every test come last, and those that run out of time or memory are none. What is tried depends on verdicts, never
on when they come: the same tasks and seed give the same tasks again. Of several faults at once each need not matter
alone.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice

from strop.code.mutate.draw import Fault
from strop.code.mutate.python.draw import faults
from strop.core.checks import AssertsCheck, CasesCheck, EditCheck, PytestCheck, StdioCheck
from strop.core.errors import TooManyErrors
from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.curation.bugs.fit import NoFault
from strop.curation.bugs.issue import issue
from strop.curation.bugs.rewrites import OPERATOR, Asked, Offer, Rewriter, subject_of_text
from strop.curation.bugs.tally import Tally
from strop.edits import FORMATS

FAMILY = "repair"
PATH = "solution.py"
IN_FLIGHT = 48
"""Originals whose bugs are judged at one time."""
MOST_TRIED = 3
"""Bugs that are tried for each one that is asked for."""
MAX_ERROR_RATE, FEWEST_VERDICTS = 0.05, 100


@dataclass(frozen=True)
class Wish:
    """What bugs are asked for."""

    seed: int = 0
    per_task: int = 6
    at_once: tuple[int, int] = (1, 1)
    """Faults in one bug, least and most."""
    min_passing: int = 0
    """Tests that must pass in spite of the bug, at least."""
    max_lines: int | None = None
    """Lines of a reference, at most."""
    format: str = "search-replace"


@dataclass
class _Work:
    """One original and what has become of its bugs so far."""

    task: Task
    order: Iterator[Offer]
    reference: Future[Verdict] | None
    """None once its verdict was taken."""
    asked: list[Asked] = field(default_factory=list)
    """Bugs that a model is writing."""
    waiting: list[tuple[Fault, Future[Verdict]]] = field(default_factory=list)
    kept: list[Task] = field(default_factory=list)
    spare: list[Task] = field(default_factory=list)
    """Those that fail every test."""
    tried: int = 0

    def ready(self) -> bool:
        """Whether every verdict is there."""
        if self.asked:
            return all(asked.ready() for asked in self.asked)
        futures = [self.reference, *(future for _, future in self.waiting)]
        return all(future is None or future.done() for future in futures)


def bugs_of_tasks(
    tasks: Iterable[Task],
    verifier: Verifier,
    tally: Tally,
    wish: Wish,
    *,
    rewriter: Rewriter | None = None,
    done: Callable[[int], None] = lambda kept: None,
) -> Iterator[Task]:
    """Yields the tasks to repair, by original and in the order of the originals; at most `wish.per_task` of each.

    A task is left out, and counted, when it is not Python, has no reference or its reference does not pass. `done` is
    told of each original how many tasks came of it. Raises TooManyErrors when more than 5 % of the programs could not
    be verified. `rewriter`: a model that writes bugs too; it is asked once the reference has passed.
    """
    maker = _Maker(verifier, tally, wish, rewriter)
    window: deque[_Work] = deque()
    source = iter(tasks)
    while True:
        while len(window) < IN_FLIGHT and (task := next(source, None)) is not None:
            work = maker.begin(task)
            if work is None:
                done(0)
            else:
                window.append(work)
        if not window:
            return
        for number, work in enumerate(window):
            if number == 0 or work.ready():
                maker.settle(work)
        if not (window[0].waiting or window[0].asked):
            kept = maker.finish(window.popleft())
            done(len(kept))
            yield from kept


class _Maker:
    """Has programs judged and makes tasks of those that fail."""

    def __init__(self, verifier: Verifier, tally: Tally, wish: Wish, rewriter: Rewriter | None) -> None:
        self.verifier, self.tally, self.wish, self.rewriter = verifier, tally, wish, rewriter
        self.seen: set[str] = set()
        self.verdicts = self.errors = 0

    def begin(self, task: Task) -> _Work | None:
        """The first bugs of an original on their way to the verifier; None for one that has no use."""
        reason = _unusable(task, self.wish)
        if reason:
            self.tally.unusable[reason] += 1
            return None
        self.tally.originals += 1
        work = _Work(task, self._order(task), self.verifier.submit(task, task.reference))
        if self.rewriter is None:
            self._more(work)
        return work

    def _order(self, task: Task) -> Iterator[Offer]:
        drawn = faults(task.reference, seed=self.wish.seed, key=task.id, at_once=self.wish.at_once)
        if self.rewriter is None:
            return drawn
        subject = subject_of_text(task.reference, getattr(task.check, "entry_point", ""))
        return self.rewriter.offers(subject, task.id, drawn, MOST_TRIED * self.wish.per_task)

    def settle(self, work: _Work) -> None:
        """Waits for the bugs that are asked for, else for the verdicts; then tries more where too few are kept."""
        if work.asked:
            asked, work.asked = work.asked, []
            for one in asked:
                try:
                    self._judge(work, one.fault())
                except NoFault as error:
                    self.tally.tried[OPERATOR] += 1
                    self.tally.drop((OPERATOR,), str(error))
            if work.waiting:
                return
        if work.reference is not None:
            verdict = self._scored(work.reference.result())
            work.reference = None
            if not verdict.passed:
                reason = "does not pass" if verdict.scored else "could not be verified"
                self.tally.unusable[f"the reference {reason}"] += 1
                work.order = iter(())
                work.waiting.clear()
        for fault, future in work.waiting:
            verdict = self._scored(future.result())
            reason = self._why_not(verdict)
            if reason:
                self.tally.drop(fault.operators, reason)
                continue
            spare = not any(test.outcome is Outcome.PASSED for test in verdict.tests)
            (work.spare if spare else work.kept).append(_task(work.task, fault, verdict, self.wish.format))
        work.waiting.clear()
        self._more(work)

    def finish(self, work: _Work) -> list[Task]:
        """The tasks of an original: those that no task before is like, counted."""
        made = [*work.kept, *work.spare]
        for task in made[self.wish.per_task :]:
            self.tally.drop(tuple(task.metadata["bug"]), "more than asked for")
        kept: list[Task] = []
        for task in made[: self.wish.per_task]:
            spelt = "".join(task.check.only(EditCheck).files[PATH].split())
            if spelt in self.seen:
                self.tally.drop(tuple(task.metadata["bug"]), "another task has the same program")
                continue
            self.seen.add(spelt)
            same = Counter(tuple(other.metadata["bug"]) for other in kept)[tuple(task.metadata["bug"])]
            kept.append(task.model_copy(update={"source": f"{task.source}.{same + 1}"}) if same else task)
            self.tally.keep(task)
        return kept

    def _more(self, work: _Work) -> None:
        missing = self.wish.per_task - len(work.kept)
        wanted = min(missing, MOST_TRIED * self.wish.per_task - work.tried)
        for offer in islice(work.order, max(wanted, 0)):
            work.tried += 1
            if isinstance(offer, Asked):
                work.asked.append(offer)
            else:
                self._judge(work, offer)

    def _judge(self, work: _Work, fault: Fault) -> None:
        work.waiting.append((fault, self.verifier.submit(work.task, fault.text)))
        self.tally.tried.update(fault.operators)

    def _why_not(self, verdict: Verdict) -> str:
        if not verdict.scored:
            return "could not be verified"
        if verdict.passed:
            return "still passes"
        if verdict.outcome is not Outcome.FAILED:
            return f"ends with {verdict.outcome}"
        passing = sum(test.outcome is Outcome.PASSED for test in verdict.tests)
        return "" if passing >= self.wish.min_passing else "too few tests pass"

    def _scored(self, verdict: Verdict) -> Verdict:
        self.verdicts += 1
        self.errors += not verdict.scored
        if self.verdicts >= FEWEST_VERDICTS and self.errors > MAX_ERROR_RATE * self.verdicts:
            raise TooManyErrors(
                f"{self.errors} of {self.verdicts} programs could not be verified: {verdict.detail}"
            )
        return verdict


def _unusable(task: Task, wish: Wish) -> str:
    if task.language != "python" or not isinstance(
        task.check, CasesCheck | AssertsCheck | StdioCheck | PytestCheck
    ):
        return "no Python task with tests"
    if not task.reference.strip():
        return "no reference"
    if wish.max_lines is not None and len(task.reference.splitlines()) > wish.max_lines:
        return "longer than --max-lines"
    return ""


def _task(original: Task, fault: Fault, verdict: Verdict, format: str) -> Task:
    files, oracle = {PATH: fault.text}, {PATH: original.reference}
    return Task(
        family=FAMILY,
        statement=issue(original, verdict, PATH),
        reference=FORMATS[format].render(files, oracle),
        check=EditCheck(format=format, files=files, oracle=dict(oracle), judge=original.check, path=PATH),
        topic=original.topic,
        level=original.level,
        split=original.split,
        source=f"{original.source or original.id}.{'+'.join(fault.operators)}",
        metadata={"bug": list(fault.operators), "original": original.id, "lines": list(fault.lines)},
    )
