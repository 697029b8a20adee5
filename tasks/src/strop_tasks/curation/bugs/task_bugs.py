"""`bugs_of_tasks` turns Python tasks with references into verified repair tasks.

A bug is put into the reference and kept if the task's own check fails it; the reference itself must pass. Bugs that
fail every test come last; those that run out of time or memory are discarded. The choice depends on verdicts, not on
their timing: the same tasks and seed give the same result. In a bug of several faults, one may have no effect.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice

from strop_tasks.curation.bugs import BugSettings, TaskChoice
from strop_tasks.curation.bugs.issue import issue
from strop_tasks.curation.bugs.rewrites import OPERATOR, Offer, RequestedFault, Rewriter, subject_of_text
from strop_tasks.curation.engine.tally import ErrorBudget, Tally
from strop_tasks.curation.faults.body_replacement import NoFault
from strop_tasks.curation.faults.draw import Fault, faults
from strop_verify.core.bounded_map import Work, bounded_map
from strop_verify.core.checks import AssertsCheck, CasesCheck, EditCheck, PytestCheck, StdioCheck
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.core.text import squeeze
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.edits import FORMATS
from strop_verify.edits.lines import split

FAMILY = "repair"
PER_TASK = 6
PATH = "solution.py"
IN_FLIGHT = 48  # originals judged at a time
MOST_TRIED = 3  # bugs to try per wanted bug
_Trials = list[tuple[Fault, Future[Verdict]]]


@dataclass
class _Original:
    """A task and the state of its bugs."""

    task: Task
    order: Iterator[Offer]
    kept: list[Task] = field(default_factory=list)
    spare: list[Task] = field(default_factory=list)  # bugs that fail every test
    tried: int = 0


def bugs_of_tasks(
    tasks: Iterable[Task],
    verifier: Verifier,
    tally: Tally,
    settings: BugSettings,
    choice: TaskChoice | None = None,
    *,
    rewriter: Rewriter | None = None,
    done: Callable[[int], None] = lambda kept: None,
) -> Iterator[Task]:
    """The repair tasks in the order of the originals, at most `settings.per_task` of each.

    A task is left out, and counted, if it is not Python, has no reference, or its reference does not pass. `done`
    gets the number of tasks of each original. Raises TooManyErrors when more than 5 % of the programs could not
    be verified. `rewriter`: a model that writes bugs too; it is asked once the reference has passed.
    """
    maker = _BugMaker(verifier, tally, settings, choice or TaskChoice(), rewriter)
    for made in bounded_map(map(maker.made, tasks), IN_FLIGHT):
        kept = maker.unlike_others(made)
        done(len(kept))
        yield from kept


@dataclass
class _BugMaker:
    """Submits programs to the verifier and makes tasks of those that fail."""

    verifier: Verifier
    tally: Tally
    settings: BugSettings
    choice: TaskChoice
    rewriter: Rewriter | None
    seen: set[str] = field(default_factory=set)
    budget: ErrorBudget = field(default_factory=ErrorBudget)

    def __post_init__(self) -> None:
        self.per_task, self.at_once = self.settings.per_task or PER_TASK, self.settings.at_once()

    def made(self, task: Task) -> Work[list[Task]]:
        """The bugs of one original, those that fail every test last; none if it is unusable."""
        if reason := _unusable(task, self.choice):
            self.tally.unusable[reason] += 1
            return []
        self.tally.originals += 1
        original = _Original(task, self._order(task))
        reference = self.verifier.submit(task, task.reference)
        trials = None if self.rewriter else (yield from self._begun(original))
        yield [reference, *(future for _, future in trials or [])]
        verdict = self.budget.see(reference.result())
        if not verdict.passed:
            reason = "does not pass" if verdict.scored else "could not be verified"
            self.tally.unusable[f"the reference {reason}"] += 1
            return []
        self._settle(original, trials or [])
        while (trials := (yield from self._begun(original))) is not None:
            yield [future for _, future in trials]
            self._settle(original, trials)
        return [*original.kept, *original.spare]

    def _order(self, task: Task) -> Iterator[Offer]:
        drawn = faults(task.reference, seed=self.settings.seed, key=task.id, at_once=self.at_once)
        if self.rewriter is None:
            return drawn
        subject = subject_of_text(task.reference, getattr(task.check, "entry_point", ""))
        return self.rewriter.offers(subject, task.id, drawn, MOST_TRIED * self.per_task)

    def _begun(self, original: _Original) -> Work[_Trials | None]:
        """Submits the next bugs to the verifier, a model's once they have arrived; None if there are no more."""
        missing = self.per_task - len(original.kept)
        wanted = min(missing, MOST_TRIED * self.per_task - original.tried)
        offers = list(islice(original.order, max(wanted, 0)))
        original.tried += len(offers)
        trials = [self._judged(original.task, offer) for offer in offers if isinstance(offer, Fault)]
        requested = [offer for offer in offers if isinstance(offer, RequestedFault)]
        yield [one.future for one in requested]
        for one in requested:
            try:
                trials.append(self._judged(original.task, one.fault()))
            except NoFault as error:
                self.tally.tried[OPERATOR] += 1
                self.tally.drop((OPERATOR,), str(error))
        return trials if offers else None

    def _judged(self, task: Task, fault: Fault) -> tuple[Fault, Future[Verdict]]:
        self.tally.tried.update(fault.operators)
        return fault, self.verifier.submit(task, fault.text)

    def _settle(self, original: _Original, trials: _Trials) -> None:
        """Sorts judged bugs into kept, spare (they fail every test) and dropped ones."""
        for fault, future in trials:
            verdict = self.budget.see(future.result())
            if reason := self._why_not(verdict):
                self.tally.drop(fault.operators, reason)
                continue
            spare = not any(test.outcome is Outcome.PASSED for test in verdict.tests)
            task = _task(original.task, fault, verdict, self.settings.format)
            (original.spare if spare else original.kept).append(task)

    def unlike_others(self, made: list[Task]) -> list[Task]:
        """The tasks whose programs are new, at most the wanted number; counts them and the others."""
        for task in made[self.per_task :]:
            self.tally.drop(tuple(task.metadata["bug"]), "more than requested")
        kept: list[Task] = []
        for task in made[: self.per_task]:
            spelt = squeeze(task.check.only(EditCheck).files[PATH])
            if spelt in self.seen:
                self.tally.drop(tuple(task.metadata["bug"]), "another task has the same program")
                continue
            self.seen.add(spelt)
            same = Counter(tuple(other.metadata["bug"]) for other in kept)[tuple(task.metadata["bug"])]
            kept.append(task.model_copy(update={"source": f"{task.source}.{same + 1}"}) if same else task)
            self.tally.keep(task)
        return kept

    def _why_not(self, verdict: Verdict) -> str:
        if not verdict.scored:
            return "could not be verified"
        if verdict.passed:
            return "still passes"
        if verdict.outcome is not Outcome.FAILED:
            return f"ends with {verdict.outcome}"
        passing = sum(test.outcome is Outcome.PASSED for test in verdict.tests)
        return "" if passing >= self.choice.min_passing else "too few tests pass"


def _unusable(task: Task, choice: TaskChoice) -> str:
    tested = isinstance(task.check, CasesCheck | AssertsCheck | StdioCheck | PytestCheck)
    if task.language != "python" or not tested:
        return "no Python task with tests"
    if not task.reference.strip():
        return "no reference"
    if choice.max_lines is not None and len(split(task.reference)) > choice.max_lines:
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
