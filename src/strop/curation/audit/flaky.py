"""Runs of the reference: does it pass, every time, in every process, on every day?

The verifier's Python workers fork every answer from a process with one fixed hash seed, so that verdicts repeat; a
result that depends on the order of a set of texts would look sound there. So the reference also runs under other seeds,
and, where it reads a clock, with that clock set forward. The pool keeps verdicts: line ends make each run a new text.
"""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field

from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.curation.audit.chance import MOVES, Source, moved_clock, sources_of_chance
from strop.curation.audit.record import AuditSettings, Code, Finding, fatal

SEEDS = 8
"""Hash seeds besides the verifier's own. Two texts swap places in a set for about every second one."""
_ADDRESS = re.compile("0x[0-9a-f]+")
_USED_UP = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY)
RUST_RUNS, RUST_CHANCE_RUNS = 2, 8
"""Runs of a Rust reference, each of which is a build; without and with a source of chance."""


class Reseeded(dict[int, Verifier]):
    """Verifiers by the hash seed under which their Python runs, opened on first use. Close it."""

    def __init__(self, open_one: Callable[[int], Verifier]) -> None:
        self._open_one = open_one

    def __missing__(self, seed: int) -> Verifier:
        self[seed] = found = self._open_one(seed)
        return found

    def close(self) -> None:
        """Ends every process. Safe to call twice."""
        while self:
            self.popitem()[1].close()


@dataclass
class Runs:
    """The runs of one reference, the first one apart."""

    plain: "list[Future[Verdict]]" = field(default_factory=list)
    unmoved: "Future[Verdict] | None" = None
    """With a clock that is replaced and goes right."""
    moved: "list[Future[Verdict]]" = field(default_factory=list)

    def futures(self) -> "Iterator[Future[Verdict]]":
        """All of them."""
        yield from self.plain
        yield from self.moved
        if self.unmoved is not None:
            yield self.unmoved


def more_runs(
    task: Task, first: Verdict, verifier: Verifier, reseeded: Reseeded, settings: AuditSettings
) -> Runs:
    """Starts the runs after the first; only one where the first was slow."""
    sources = _sources(task)
    if first.outcome in _USED_UP or first.cpu_seconds > settings.cpu_share * settings.cpu_seconds:
        return Runs([verifier.submit(task, _again(task, 1))])
    if task.language != "python":
        count = _count_other(task, sources, settings)
        return Runs([verifier.submit(task, _again(task, n)) for n in range(1, count)])
    count = settings.chance_runs if sources & {"chance", "clock"} else settings.runs
    if "order" in sources:
        count = max(count, SEEDS + 1)
    runs = Runs()
    for number in range(1, count):
        seed = 1 + (number - 1) % SEEDS
        runs.plain.append(reseeded[seed].submit(task, _again(task, (number - 1) // SEEDS)))
    if "clock" in sources:
        control, *texts = [moved_clock(task.reference, move) for move in (0.0, *MOVES)]
        if control is not None:
            runs.unmoved = verifier.submit(task, control)
            runs.moved = [verifier.submit(task, text) for text in texts if text is not None]
    return runs


def _sources(task: Task) -> frozenset[Source]:
    found = sources_of_chance(task.reference, task.language)
    if task.check.answer == "function":  # its `random` is seeded by the tester
        found |= sources_of_chance(task.check.test_code(), "python") & {"order", "clock"}
    return found


def _count_other(task: Task, sources: frozenset[Source], settings: AuditSettings) -> int:
    if task.language == "rust":
        return min(settings.chance_runs, RUST_CHANCE_RUNS) if sources else min(settings.runs, RUST_RUNS)
    return settings.runs


def _again(task: Task, number: int) -> str:
    return task.reference + "\n" * number


def run_findings(first: Verdict, runs: Runs, settings: AuditSettings) -> Iterator[Finding]:
    """`reference-fails`, `flaky` or `unverifiable`, from the verdicts on all runs."""
    verdicts = [first, *(future.result() for future in runs.plain)]
    unknown = next((v for v in verdicts if not v.scored), None)
    if unknown is not None:
        yield fatal("unverifiable", f"the reference: {unknown.detail or 'no verdict'}")
        return
    verdicts = [v for v in verdicts if not _waited(v, settings)]
    failed = [v for v in verdicts if not v.passed]
    if not verdicts:
        cause = "its wall time ran out before its CPU time: it waits, or the machine is too busy"
        yield fatal("unverifiable", f"the reference: {cause}")
    elif failed and len(failed) < len(verdicts) and all(v.outcome in _USED_UP for v in failed):
        code: Code = "slow" if failed[0].outcome is Outcome.TIMED_OUT else "heavy"
        yield fatal(code, "the reference uses up its limits in some runs")
    elif _differ(verdicts, runs, settings):
        yield fatal("flaky", "the reference gives other results in other runs, or at another time")
    elif failed:
        yield fatal("reference-fails", _why(verdicts))


def _differ(verdicts: list[Verdict], runs: Runs, settings: AuditSettings) -> bool:
    """Whether runs passed and failed, or failed in different ways, or do so with the clock set forward."""
    passed = verdicts[0].passed
    if any(v.passed is not passed for v in verdicts):
        return True
    if len({_results(v) for v in verdicts if v.outcome is Outcome.FAILED}) > 1:
        return True
    if runs.unmoved is None:
        return False
    replaced = [future.result() for future in (runs.unmoved, *runs.moved)]
    replaced = [v for v in replaced if v.scored and not _waited(v, settings)]
    if passed and not any(v.passed for v in replaced):
        return False  # with its clock replaced it does not run at all
    return any(v.passed is not passed for v in replaced)


def _waited(verdict: Verdict, settings: AuditSettings) -> bool:
    """Whether wall time ended the run: says nothing of the reference if other runs gave a result."""
    return verdict.outcome is Outcome.TIMED_OUT and verdict.cpu_seconds < settings.cpu_seconds / 2


def _results(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    """What each test gave; addresses in messages are none of it."""
    return tuple((test.outcome.value, _ADDRESS.sub("", test.message)) for test in verdict.tests)


def _why(verdicts: list[Verdict]) -> str:
    """The first run's cause, where the runs agree on it."""
    causes = {_cause(v) for v in verdicts}
    outcomes = sorted({str(v.outcome) for v in verdicts})
    cause = f": {causes.pop()}" if len(causes) == 1 else ""
    return f"the reference does not pass ({' or '.join(outcomes)}){cause}"


def _cause(verdict: Verdict) -> str:
    failed = [f"{t.id}: {t.message}" for t in verdict.tests if t.outcome is not Outcome.PASSED]
    return " ".join((verdict.detail or "; ".join(failed[:1])).split())[:200]


def use_findings(first: Verdict, runs: Runs, settings: AuditSettings) -> Iterator[Finding]:
    """`slow` and `heavy`, from the least that any run took: a busy machine adds to it, nothing takes from it."""
    verdicts = [first, *(future.result() for future in runs.plain)]
    if min(v.cpu_seconds for v in verdicts) > settings.cpu_share * settings.cpu_seconds:
        text = f"the reference needs more than {settings.cpu_share:.2g} of the CPU limit of {settings.cpu_seconds:g} s"
        yield fatal("slow", text)
    if min(v.peak_bytes for v in verdicts) > settings.memory_share * settings.memory_bytes:
        limit = f"{settings.memory_bytes / 2**20:g} MiB"
        text = f"the reference needs more than {settings.memory_share:.2g} of the memory limit of {limit}"
        yield fatal("heavy", text)
