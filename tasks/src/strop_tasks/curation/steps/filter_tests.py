"""filter-tests: removes tests that the reference fails and repeated tests, and limits their number.

DeepCoder keeps at most 15 tests of a problem, those with the longest inputs (Together, "DeepCoder", 2025, section on
the code sandbox). `by: kills` prefers tests that catch small faults in the reference: it repeatedly picks
the test that catches the most faults not caught yet, the longest input on ties. Remaining tests keep their order.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

from pydantic import Field

from strop_tasks.curation.audit.record import AuditSettings
from strop_tasks.curation.engine.tally import ErrorBudget
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_tasks.curation.pipeline.verdicts import error_budget, settle, why
from strop_verify.core.bounded_map import Work
from strop_verify.core.checks.base import SingleTest
from strop_verify.core.optional_packages import require
from strop_verify.core.section import Section
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

_SURE = (Outcome.PASSED, Outcome.FAILED)


class FilterTestsConfig(Section):
    """Settings of the step `filter-tests`."""

    failing: bool = True
    """Remove tests that the reference fails, each run alone if one of them stopped the others."""
    repeated: bool = True
    """Remove tests with the same input as another; the first shown one stays, else the first."""
    at_most: int | None = Field(default=None, ge=1)
    """Maximum remaining tests; shown tests count, and stay. null: no limit. DeepCoder: 15."""
    by: Literal["longest-input", "kills", "first"] = "longest-input"
    """Which tests stay if there are more. kills: those that catch small faults (Python; needs one run of every test
    per fault), else the longest."""
    faults: int = Field(default=8, ge=1, le=64)
    """Small faults tried for `by: kills`."""
    max_error_rate: float = Field(default=0.5, ge=0, le=1)
    """Stop if a larger share of verdicts is *error*: the machine is at fault then, not the tasks."""


class FilterTests(Step[FilterTestsConfig]):
    """Removes tests that the reference fails or that repeat others, and limits their number."""

    def check(self) -> None:
        """Raises UserError if faults are wanted and tree-sitter is missing."""
        if self.config.by == "kills":
            require("tree_sitter", package="tree-sitter", extra="strength", purpose="filter-tests by: kills")

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`. Remembers which tests fail, and which stay."""
        errors = error_budget(self.config.max_error_rate)
        with context.memory() as memory:
            work = partial(self._looked, context=context, errors=errors)
            settle(read, context, memory, work, lambda found: "error" not in found)
            for task in read():
                yield self._filtered(task, memory[task.id], context)

    def _looked(self, task: Task, context: Context, errors: ErrorBudget) -> Work[dict[str, Any]]:
        """{"failing", "unique", "kept": test indices, "why": why the reference fails the kept ones}, or {"error"}."""
        tests, config = task.check.single_tests(), self.config
        failing: list[int] = []
        if config.failing and tests and task.reference.strip():
            found = yield from _failing(task, len(tests), context, errors)
            if isinstance(found, str):
                return {"error": found}
            failing = found
        unique = [number for number in range(len(tests)) if number not in set(failing)]
        if config.repeated:
            unique = _first_of_each(tests, unique)
        dead: list[list[int]] = []
        if config.by == "kills" and len(unique) > (config.at_most or len(tests)):
            dead = yield from self._kills(task, unique, context)
        kept = capped(tests, unique, config.at_most, config.by, dead)
        trouble = ""
        if failing and kept:  # tests may depend on each other: the reference must pass the rest without those
            yield [rest := context.verifier().submit(task.with_tests(kept), task.reference)]
            if not rest.result().scored:
                return {"error": rest.result().detail}
            trouble = "" if rest.result().passed else why(rest.result())
        return {"failing": failing, "unique": unique, "kept": kept, "why": trouble}

    def _kills(self, task: Task, left: list[int], context: Context) -> Work[list[list[int]]]:
        """For each caught fault, which of the remaining tests catch it."""
        from strop_tasks.curation.audit.strength import faulty_versions

        small = task.with_tests(left)
        texts = faulty_versions(task, AuditSettings(mutants=self.config.faults))
        faulty = [context.verifier().submit(small, text) for text in texts]
        yield faulty
        told = [_told(future.result(), len(left)) for future in faulty]
        return [[left[place] for place in dead] for dead in told if dead]

    def _filtered(self, task: Task, found: dict[str, Any], context: Context) -> Task | Dropped:
        count = len(task.check.single_tests())
        if not count:
            context.totals["tasks without single tests"] += 1
            return task
        if "error" in found:
            return drop(task, "cannot be verified", str(found["error"])[:300])
        bad, unique, kept = found["failing"], found["unique"], found["kept"]
        if not unique:
            return drop(task, "the reference fails every test", f"{count} tests")
        if len(kept) == count:
            return task
        if found["why"]:
            detail = f"without {len(bad)} tests that it fails alone: {found['why']}"
            return drop(task, "the reference fails", detail)
        gone = {
            "failing": bad,
            "repeated": [n for n in range(count) if n not in {*bad, *unique}],
            "over the limit": [n for n in unique if n not in set(kept)],
        }
        context.totals.update({f"tests {why}": len(numbers) for why, numbers in gone.items() if numbers})
        context.note(task.id, {"tests": count, "kept": len(kept), **gone})
        return task.with_tests(kept)


def _failing(task: Task, count: int, context: Context, errors: ErrorBudget) -> Work[list[int] | str]:
    """The tests that the reference fails, run together, or each alone if one stopped the others; the verifier's error
    if it failed.
    """
    yield [first := context.verifier().submit(task, task.reference)]
    verdict = errors.see(first.result())
    if not verdict.scored:
        return verdict.detail
    if verdict.passed:
        return []
    if (told := _told(verdict, count)) is not None:
        return told
    alone = [context.verifier().submit(task.with_tests([n]), task.reference) for n in range(count)]
    yield alone
    verdicts = [future.result() for future in alone]
    unknown = next((one.detail for one in verdicts if not one.scored), None)
    return unknown if unknown is not None else [n for n, one in enumerate(verdicts) if not one.passed]


def capped(
    tests: Sequence[SingleTest],
    left: Sequence[int],
    at_most: int | None,
    by: str,
    dead: Sequence[Sequence[int]],
) -> list[int]:
    """At most `at_most` of the tests `left`, in order; `dead`: for each fault the tests that catch it."""
    if at_most is None or len(left) <= at_most:
        return list(left)
    shown = [number for number in left if tests[number].shown][:at_most]
    hidden = [number for number in left if number not in set(shown)]
    room = at_most - len(shown)
    if by == "kills":
        unseen = [set(numbers) for numbers in dead if not set(numbers) & set(shown)]
        chosen = _telling(tests, hidden, unseen, room)
    elif by == "first":
        chosen = hidden[:room]
    else:
        chosen = sorted(hidden, key=lambda number: (-tests[number].size, number))[:room]
    return sorted([*shown, *chosen])


def _telling(
    tests: Sequence[SingleTest], hidden: Sequence[int], unseen: list[set[int]], room: int
) -> list[int]:
    """Greedy choice: always the test that catches the most faults not caught yet; the longest input on ties."""
    chosen: list[int] = []
    rest = list(hidden)
    while rest and len(chosen) < room:
        best = min(rest, key=lambda n: (-sum(n in fault for fault in unseen), -tests[n].size, n))
        chosen.append(best)
        rest.remove(best)
        unseen = [fault for fault in unseen if best not in fault]
    return chosen


def _told(verdict: Verdict, count: int) -> list[int] | None:
    """The failed tests, if the verdict has a result for each; None if something stopped them all."""
    results = verdict.tests
    if not verdict.scored or len(results) != count:
        return None
    if any(result.outcome not in _SURE or result.message == "not run" for result in results):
        return None
    return [number for number, result in enumerate(results) if result.outcome is not Outcome.PASSED]


def _first_of_each(tests: Sequence[SingleTest], numbers: Sequence[int]) -> list[int]:
    """One test per input: a shown one, else the first."""
    best: dict[str, int] = {}
    for number in numbers:
        other = best.setdefault(tests[number].given, number)
        if tests[number].shown and not tests[other].shown:
            best[tests[number].given] = number
    return sorted(best.values())
