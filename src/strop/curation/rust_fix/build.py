"""`fixes`: tasks with Rust references in, verified tasks to repair out.

A fault is kept when the strict verifier says that it is what it claims to be: for the kinds with error codes the
program does not build, and the code of rustc's first error belongs to a kind of the operator; for the others it builds
and a trusted test fails. Which faults are tried depends on verdicts, never on when they come: the same tasks and seed
give the same tasks again.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice

from strop.code.mutate.operators import KINDS, Change, Kind, Operator
from strop.code.mutate.rust import OPERATORS
from strop.code.mutate.rust.draw import Faults
from strop.code.trees import Source
from strop.core.checks import RustCheck
from strop.core.errors import TooManyErrors
from strop.core.ids import content_hash
from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.curation.rust_fix.message import first_error, first_failure
from strop.curation.rust_fix.tally import Tally

FAMILY = "rust-fix"
IN_FLIGHT = 48
"""Originals whose faults are judged at one time."""
MOST_TRIED = 4
"""Faults that are tried for each one that is asked for."""
REPAIR = "Repair the program that is meant to do this."
"""Short: what all statements share makes them alike, and alike tasks go to one side of a split."""
MAX_ERROR_RATE, FEWEST_VERDICTS = 0.05, 100


@dataclass
class _Work:
    """One original and what has become of its faults so far."""

    task: Task
    order: Iterator[tuple[Change, str]]
    reference: Future[Verdict] | None
    """None once its verdict was taken."""
    waiting: list["_Trial"] = field(default_factory=list)
    kept: list[Task] = field(default_factory=list)
    tried: int = 0

    def ready(self) -> bool:
        """Whether every verdict is there."""
        futures = [future for trial in self.waiting for future in (trial.verdict, trial.compiled)]
        return all(future is None or future.done() for future in [self.reference, *futures])


@dataclass
class _Trial:
    """One fault on its way to being judged."""

    operator: Operator[Source]
    program: str
    verdict: Future[Verdict]
    compiled: Future[Verdict] | None
    """What rustc alone says; None for a fault that builds."""


def fixes(
    tasks: Iterable[Task],
    verifier: Verifier,
    compiler: Verifier,
    tally: Tally,
    *,
    seed: int = 0,
    per_task: int = 6,
    kinds: Collection[Kind] = KINDS,
    done: Callable[[int], None] = lambda kept: None,
) -> Iterator[Task]:
    """Yields the tasks to repair, by original and in the order of the originals; at most `per_task` of each.

    A task is left out, and counted, when it is no Rust, has no reference or no trusted tests, needs crates, or its
    reference does not pass. `verifier` gives strict verdicts, `compiler` (`rustc.open_rustc`) messages. `done` is told
    of each original how many tasks came of it. Raises TooManyErrors when more than 5 % of the programs could not be
    verified.
    """
    maker = _Maker(verifier, compiler, tally, seed, per_task, frozenset(kinds))
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
        if not window[0].waiting:
            kept = maker.unlike_others(window.popleft().kept)
            done(len(kept))
            yield from kept


class _Maker:
    """Has programs judged and makes tasks of those that fail as they should."""

    def __init__(
        self,
        verifier: Verifier,
        compiler: Verifier,
        tally: Tally,
        seed: int,
        per_task: int,
        kinds: frozenset[Kind],
    ) -> None:
        self.verifier, self.compiler, self.tally = verifier, compiler, tally
        self.seed, self.per_task, self.kinds = seed, per_task, kinds
        self.seen: set[str] = set()
        self.verdicts = self.errors = 0

    def begin(self, task: Task) -> _Work | None:
        """The first faults of an original on their way to the verifier; None for one that has no use."""
        reason = _unusable(task)
        if reason:
            self.tally.unusable[reason] += 1
            return None
        self.tally.originals += 1
        faults = Faults(task.reference, seed=self.seed, task_id=task.id, kinds=self.kinds)
        self.tally.made += faults.made
        reference = self.verifier.submit(task, task.reference)
        work = _Work(task, faults.drawn(), reference)
        self._more(work)
        return work

    def settle(self, work: _Work) -> None:
        """Waits for the verdicts on an original's faults, and tries further ones where too few are kept."""
        if work.reference is not None:
            verdict = self._scored(work.reference.result())
            work.reference = None
            if not verdict.passed:
                reason = "does not pass" if verdict.scored else "could not be verified"
                self.tally.unusable[f"the reference {reason}"] += 1
                work.order = iter(())
                work.waiting.clear()
        for trial in work.waiting:
            found = self._judged(work.task, trial)
            if isinstance(found, str):
                self.tally.drop(trial.operator.name, found)
            else:
                work.kept.append(_task(work, trial, *found))
        work.waiting.clear()
        self._more(work)

    def unlike_others(self, made: list[Task]) -> list[Task]:
        """Those whose program no task before has, counted."""
        kept = []
        for task in made:
            spelt = "".join(task.metadata["broken"].split())
            if spelt in self.seen:
                self.tally.drop(task.metadata["operator"], "another task has the same program")
                continue
            self.seen.add(spelt)
            self.tally.keep(task)
            kept.append(task)
        return kept

    def _more(self, work: _Work) -> None:
        wanted = min(self.per_task - len(work.kept), MOST_TRIED * self.per_task - work.tried)
        for fault, program in islice(work.order, max(wanted, 0)):
            operator = OPERATORS[fault.operator]
            compiled = None if operator.builds else self.compiler.submit(work.task, program)
            verdict = self.verifier.submit(work.task, program)
            work.waiting.append(_Trial(operator, program, verdict, compiled))
            work.tried += 1
            self.tally.tried[fault.operator] += 1

    def _judged(self, task: Task, trial: _Trial) -> tuple[Kind, str, str] | str:
        """(kind, error code, message) of a fault that is one, else why it is none."""
        operator, verdict = trial.operator, self._scored(trial.verdict.result())
        if not verdict.scored:
            return "could not be verified"
        if trial.compiled is None:
            reason = _no_failure(verdict)
            return reason or (operator.kinds[0], "", first_failure(task, verdict))
        build, compiled = verdict.stage("build"), trial.compiled.result().stage("build")
        if build is None or build.passed or compiled is None or compiled.passed:
            return "still builds"
        code, message = first_error(compiled.output) or ("", "")
        kind = operator.kind_of(code)
        if kind is None or not message:
            return f"other error ({code or 'without a code'})"
        return (kind, code, message) if kind in self.kinds else f"other kind ({kind})"

    def _scored(self, verdict: Verdict) -> Verdict:
        self.verdicts += 1
        self.errors += not verdict.scored
        if self.verdicts >= FEWEST_VERDICTS and self.errors > MAX_ERROR_RATE * self.verdicts:
            raise TooManyErrors(
                f"{self.errors} of {self.verdicts} programs could not be verified: {verdict.detail}"
            )
        return verdict


def _no_failure(verdict: Verdict) -> str:
    """Why a program that should build and fail a test does not do that; "" if it does."""
    build = verdict.stage("build")
    if build is None or not build.passed:
        return "does not build"
    if verdict.outcome is Outcome.FAILED and any(t.outcome is Outcome.FAILED for t in verdict.tests):
        return ""
    if verdict.passed:
        return "still passes"
    return "its tests do not run" if verdict.outcome is Outcome.FAILED else f"ends with {verdict.outcome}"


def _unusable(task: Task) -> str:
    check = task.check.maybe(RustCheck)
    if check is None:
        return "not a Rust task"
    if not check.tests.strip():
        return "no trusted tests"
    if check.crates:
        return "needs crates"
    return "" if task.reference.strip() else "no reference"


def _task(work: _Work, trial: _Trial, kind: Kind, code: str, message: str) -> Task:
    original, operator, program = work.task, trial.operator.name, trial.program
    count = Counter(task.metadata["operator"] for task in work.kept)[operator]
    statement = f"{(original.statement or original.prompt or '').strip()}\n\n{REPAIR}"
    identity = [FAMILY, statement, original.signature, original.check.model_dump(), program]
    metadata = {name: value for name, value in original.metadata.items() if name == "examples"}
    return original.model_copy(
        update={
            "id": content_hash(identity),
            "family": FAMILY,
            "statement": statement,
            "source": f"{original.source or original.id}.{operator}" + (f".{count + 1}" if count else ""),
            "prompt": None,
            "metadata": {
                **metadata,
                "broken": program,
                "message": message,
                "kind": kind,
                "operator": operator,
                "error_code": code,
                "original": original.id,
            },
        }
    )
