"""`fixes` makes verified repair tasks from tasks with Rust references.

A fault is kept if the strict verdict confirms its kind: for kinds with error codes the program does not build, and the
code of rustc's first error belongs to a kind of the operator; for the others it builds and a trusted test fails. The
choice depends on verdicts, not on their timing: the same tasks and seed give the same result. A fault's message is
rustc's first error, or which test fails, without revealing a hidden test.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice

from strop_tasks.curation.engine.tally import ErrorBudget, Tally
from strop_tasks.curation.faults.draw import Faults
from strop_tasks.curation.faults.operators import KINDS, Kind, Operator
from strop_tasks.curation.faults.rust import OPERATORS
from strop_verify.code.mutate.sites import Change
from strop_verify.code.trees import Source
from strop_verify.core.bounded_map import Work, bounded_map
from strop_verify.core.checks import RustCheck
from strop_verify.core.ids import content_hash
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.core.text import squeeze
from strop_verify.core.verdict import Outcome, Verdict

FAMILY = "rust-fix"
IN_FLIGHT = 48  # originals whose faults are judged at a time
MOST_TRIED = 4  # faults to try per wanted fault
REPAIR = "Repair the program that is meant to do this."
"""Short, because text that all statements share makes them similar, and similar tasks go to one side of a split."""


@dataclass
class _Trial:
    """A fault that is being judged."""

    operator: Operator[Source]
    program: str
    verdict: Future[Verdict]
    compiled: Future[Verdict] | None  # the verdict of rustc alone; None for a fault that builds


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
    """The repair tasks in the order of the originals, at most `per_task` of each.

    A task is left out, and counted, if it is not Rust, has no reference or trusted tests, needs crates, or its
    reference does not pass. `verifier` gives strict verdicts, `compiler` (`rustc.open_rustc`) messages. `done` gets
    the number of tasks of each original. Raises TooManyErrors when more than 5 % of the programs could not be verified.
    """
    maker = _FaultMaker(verifier, compiler, tally, seed, per_task, frozenset(kinds))
    for made in bounded_map(map(maker.made, tasks), IN_FLIGHT):
        kept = maker.unlike_others(made)
        done(len(kept))
        yield from kept


@dataclass
class _FaultMaker:
    """Submits programs to the verifier and makes tasks of those that fail as intended."""

    verifier: Verifier
    compiler: Verifier
    tally: Tally
    seed: int
    per_task: int
    kinds: frozenset[Kind]
    seen: set[str] = field(default_factory=set)
    budget: ErrorBudget = field(default_factory=ErrorBudget)

    def made(self, task: Task) -> Work[list[Task]]:
        """The repair tasks of one original; none if it is unusable."""
        if reason := _unusable(task):
            self.tally.unusable[reason] += 1
            return []
        self.tally.originals += 1
        faults = Faults(task.reference, seed=self.seed, task_id=task.id, kinds=self.kinds)
        self.tally.made += faults.made
        order, tried, kept = faults.drawn(), 0, list[Task]()
        reference: Future[Verdict] | None = self.verifier.submit(task, task.reference)
        while True:
            wanted = min(self.per_task - len(kept), MOST_TRIED * self.per_task - tried)
            trials = [self._begun(task, mutant) for mutant in islice(order, max(wanted, 0))]
            tried += len(trials)
            waiting = [future for trial in trials for future in (trial.verdict, trial.compiled)]
            yield [future for future in (reference, *waiting) if future is not None]
            if reference is not None:
                verdict = self.budget.see(reference.result())
                if not verdict.passed:
                    reason = "does not pass" if verdict.scored else "could not be verified"
                    self.tally.unusable[f"the reference {reason}"] += 1
                    return []
                reference = None
            for trial in trials:
                found = self._judged(task, trial)
                if isinstance(found, str):
                    self.tally.drop([trial.operator.name], found)
                else:
                    kept.append(_task(task, kept, trial, *found))
            if not trials:
                return kept

    def unlike_others(self, made: list[Task]) -> list[Task]:
        """The tasks whose program no earlier task has, counted."""
        kept = []
        for task in made:
            spelt = squeeze(task.metadata["broken"])
            if spelt in self.seen:
                self.tally.drop([task.metadata["operator"]], "another task has the same program")
                continue
            self.seen.add(spelt)
            self.tally.keep(task)
            kept.append(task)
        return kept

    def _begun(self, task: Task, mutant: tuple[Change, str]) -> _Trial:
        fault, program = mutant
        operator = OPERATORS[fault.operator]
        compiled = None if operator.builds else self.compiler.submit(task, program)
        self.tally.tried[fault.operator] += 1
        return _Trial(operator, program, self.verifier.submit(task, program), compiled)

    def _judged(self, task: Task, trial: _Trial) -> tuple[Kind, str, str] | str:
        """(kind, error code, message) of a fault, or the reason for rejecting it."""
        operator, verdict = trial.operator, self.budget.see(trial.verdict.result())
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


def _no_failure(verdict: Verdict) -> str:
    """Why a program does not build and then fail a test; "" if it does."""
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


def _task(original: Task, others: list[Task], trial: _Trial, kind: Kind, code: str, message: str) -> Task:
    operator, program = trial.operator.name, trial.program
    count = sum(task.metadata["operator"] == operator for task in others)
    statement = f"{(original.statement or original.prompt or '').strip()}\n\n{REPAIR}"
    identity = [FAMILY, statement, original.signature, original.check.model_dump(), program]
    metadata = {name: value for name, value in original.metadata.items() if name == "examples"}
    found = {"broken": program, "message": message, "kind": kind, "operator": operator, "error_code": code}
    source = f"{original.source or original.id}.{operator}" + (f".{count + 1}" if count else "")
    update = {"id": content_hash(identity), "family": FAMILY, "statement": statement, "source": source}
    metadata |= {**found, "original": original.id}
    return original.model_copy(update={**update, "prompt": None, "metadata": metadata})


FILE = "src/lib.rs"
EXAMPLES = "examples"  # name of the test of the shown examples
MOST_LINES, MOST_CHARACTERS = 40, 2000
_ERROR = re.compile(r"^error(?:\[(E\d{4})\])?: ")
_DIAGNOSTIC = re.compile(r"^(?:error|warning)(?:\[\S+\])?: ")
_LIBRARY = re.compile(r"(?<=--> |::: )/\S*?/library/")
"""The folder of the standard library's source, which depends on the machine."""
_TYPE_FILE = re.compile(r"^ *= note: (?:the full .*has been written to|consider using `--verbose`)")
_FAILED_LINE = re.compile(r"^a test failed at line (\d+)$")
_PANIC = re.compile(r"^panicked at (\S+?):(\d+):\d+:$")
_TEST = re.compile(r"^( *)fn (\w+)\(\)", re.M)
_KNOWN_PANICS = ("attempt to ", "index out of bounds", "called `Option::unwrap()`", "called `Result::unwrap()`",
                 "range end index", "range start index", "byte index", "slice index starts")  # fmt: skip


def first_error(output: str) -> tuple[str, str] | None:
    """(code, message) of the first error in a compiler's output; None if there is none. The code may be "".

    The message is cut to `MOST_LINES` lines and `MOST_CHARACTERS` characters, at a line end.
    """
    lines = output.splitlines()
    for start, line in enumerate(lines):
        if error := _ERROR.match(line):
            rest = range(start + 1, len(lines))
            end = next((i for i in rest if _DIAGNOSTIC.match(lines[i])), len(lines))
            own = [one for one in lines[start:end] if not _TYPE_FILE.match(one)]  # the same on every machine
            return error[1] or "", _cut([_LIBRARY.sub("library/", one).rstrip() for one in own])
    return None


def _cut(lines: list[str]) -> str:
    text = "\n".join(lines[:MOST_LINES])
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS].rpartition("\n")[0]
    return text.strip("\n")


def first_failure(task: Task, verdict: Verdict) -> str:
    """What fails when the program runs: a shown example, with the place of a panic, or just "a hidden test".

    `task`: the one whose tests gave the verdict.
    """
    failed = [test.id.rpartition("::")[2] for test in verdict.tests if test.outcome is not Outcome.PASSED]
    records = _records(verdict.output)
    shown = EXAMPLES in failed and bool(task.metadata.get("examples"))
    if not shown:
        held = "The examples hold, but a" if task.metadata.get("examples") else "A"
        return f"It builds. {held} hidden test fails."
    # Each failing test leaves one record, in the order of names; with more or fewer, none can be attributed.
    record = records[failed.index(EXAMPLES)] if len(records) == len(failed) else ""
    if record.startswith("line "):
        if example := _example(task, task.check.test_code(), int(record.removeprefix("line "))):
            return f"It builds. This example does not hold:\n\n{example}"
    elif record:
        return f"It builds. An example panics at {record}"
    return "It builds. An example does not hold."


def _records(output: str) -> list[str]:
    """Failing assertions, as "line N" of the tests, and panics of the program, as "FILE:LINE" with a known cause."""
    found, lines = [], output.splitlines()
    for number, line in enumerate(lines):
        failed, panic = _FAILED_LINE.match(line), _PANIC.match(line)
        if failed:
            found.append(f"line {failed[1]}")
        elif panic:
            cause = lines[number + 1] if number + 1 < len(lines) else ""
            known = f":\n{cause[:200]}" if cause.startswith(_KNOWN_PANICS) else ""
            found.append(f"{FILE}:{panic[2]}{known}")
    return found


def _example(task: Task, tests: str, line: int) -> str:
    """The shown example that a line of the tests asserts, as in the prompt; "" if it is not certain."""
    shown = list(task.metadata.get("examples", ()))
    start = next((m for m in _TEST.finditer(tests) if m[2] == EXAMPLES), None)
    if start is None:
        return ""
    end = tests.find(f"\n{start[1]}}}", start.end())
    first = tests.count("\n", 0, start.end()) + 1
    body = tests[start.end() : end].split("\n")
    asserts = [first + i for i, text in enumerate(body) if re.match(r"\s*assert(_eq|_ne)?!", text)]
    return shown[asserts.index(line)] if line in asserts and len(asserts) == len(shown) else ""
