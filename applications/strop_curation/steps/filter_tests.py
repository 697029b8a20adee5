"""filter-tests: takes out tests that the reference fails and tests that repeat others, and caps how many are left.

DeepCoder keeps at most 15 tests of a problem, those with the longest inputs (Together, "DeepCoder", 2025, section on
the code sandbox). `by: kills` prefers tests that notice small faults in the reference instead: one test after the
other, always the one that notices most of what is not noticed yet, then longest inputs. Tests that are left keep their
order.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Literal, NamedTuple

from pydantic import Field

from strop.config.section import Section
from strop.core.checks.base import SingleTest
from strop.core.optional_packages import require
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop_curation.audit.record import AuditSettings
from strop_curation.engine.memory import Memory
from strop_curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_curation.pipeline.verdicts import error_budget, verdicts, why

_SURE = (Outcome.PASSED, Outcome.FAILED)


class Known(NamedTuple):
    """What was found so far, by task id."""

    failing: Memory
    """{"failing": numbers of the tests}, or {"error": cause}."""
    kills: Memory
    """For each fault put into the reference the tests that notice it."""
    confirmed: Memory
    """{"why": why the reference fails what is left, or ""}."""


class FilterTestsConfig(Section):
    """Settings of filter-tests."""

    failing: bool = True
    """Take out tests that the reference does not pass, each run by itself where one of them stopped the others."""
    repeated: bool = True
    """Take out tests that give the answer what another one gives; of those the first stays, a shown one before all."""
    at_most: int | None = Field(default=None, ge=1)
    """Most tests left; tests that the prompt shows count, and stay. null: no limit. DeepCoder: 15."""
    by: Literal["longest-input", "kills", "first"] = "longest-input"
    """Which tests stay when there are more. kills: those that notice small faults (Python; needs one run of every test
    for each fault), else the longest."""
    faults: int = Field(default=8, ge=1, le=64)
    """Small faults tried for `by: kills`."""
    max_error_rate: float = Field(default=0.5, ge=0, le=1)
    """Stop where a larger share of verdicts is *error*: then the machine fails, not the tasks."""


class FilterTests(Step[FilterTestsConfig]):
    """Takes out tests that the reference fails or that repeat others, and caps their number."""

    def check(self) -> None:
        """Raises UserError where faults are wanted and what puts them in is missing."""
        if self.config.by == "kills":
            require("tree_sitter", package="tree-sitter", extra="strength", purpose="filter-tests by: kills")

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`. Remembers which tests fail, and what kills which fault."""
        with ExitStack() as stack:
            known = Known(*(stack.enter_context(context.memory(name)) for name in Known._fields))
            if self.config.failing:
                self._find_failing(read, context, known.failing)
            if self.config.at_most is not None and self.config.by == "kills":
                self._find_kills(read, context, known)
            self._confirm(read, context, known)
            for done, task in enumerate(read(), start=1):
                context.progress(done, context.size)
                yield self._filtered(task, known, context)

    def _find_failing(self, read: Read, context: Context, memory: Memory) -> None:
        """First all tests at once; where that gives no answer, each by itself."""
        errors = error_budget(self.config.max_error_rate)
        unclear = (t for t in read() if _open(memory, t.id) and t.reference.strip())
        jobs = ((task, task, task.reference) for task in unclear if task.check.single_tests())
        for done, (task, verdict) in enumerate(verdicts(jobs, context.verifier()), start=1):
            errors.see(verdict)
            context.progress(done, context.size)
            count = len(task.check.single_tests())
            if not verdict.scored:
                memory[task.id] = {"error": verdict.detail}
            elif verdict.passed:
                memory[task.id] = {"failing": []}
            elif (told := _told(verdict, count)) is not None:
                memory[task.id] = {"failing": told}
            else:
                memory[task.id] = self._one_by_one(task, count, context)

    def _one_by_one(self, task: Task, count: int, context: Context) -> dict[str, Any]:
        jobs = ((number, task.with_tests([number]), task.reference) for number in range(count))
        found = dict(verdicts(jobs, context.verifier()))
        cause = next((verdict.detail for verdict in found.values() if not verdict.scored), None)
        if cause is not None:
            return {"error": cause}
        return {"failing": [number for number, verdict in found.items() if not verdict.passed]}

    def _find_kills(self, read: Read, context: Context, known: Known) -> None:
        """For each task with too many tests: which of its tests notice which fault."""
        from strop_curation.audit.strength import faulty_versions

        settings = AuditSettings(mutants=self.config.faults)
        for done, task in enumerate(read(), start=1):
            left = self._unique(task, known.failing)
            context.progress(done, context.size)
            if task.id in known.kills or left is None or len(left) <= (self.config.at_most or 0):
                continue
            small = task.with_tests(left)
            jobs = ((None, small, text) for text in faulty_versions(task, settings))
            told = [_told(verdict, len(left)) for _, verdict in verdicts(jobs, context.verifier())]
            known.kills[task.id] = [[left[place] for place in dead] for dead in told if dead]

    def _confirm(self, read: Read, context: Context, known: Known) -> None:
        """Tests may depend on each other: after failing ones were removed, the reference must pass the rest."""
        changed = (
            (task, kept)
            for task in read()
            if _open(known.confirmed, task.id)
            and known.failing.get(task.id, {}).get("failing")
            and (kept := self._kept(task, known))
        )
        jobs = ((task.id, task.with_tests(kept), task.reference) for task, kept in changed)
        for task_id, verdict in verdicts(jobs, context.verifier()):
            known.confirmed[task_id] = {"why": "" if verdict.passed else why(verdict)} | (
                {} if verdict.scored else {"error": verdict.detail}
            )

    def _unique(self, task: Task, failing: Memory) -> list[int] | None:
        """Numbers of the tests that neither fail nor repeat another; None where nothing is known of the task."""
        found = failing.get(task.id, {"failing": []})
        if "error" in found:
            return None
        tests = task.check.single_tests()
        left = [number for number in range(len(tests)) if number not in set(found["failing"])]
        return _first_of_each(tests, left) if self.config.repeated else left

    def _kept(self, task: Task, known: Known) -> list[int]:
        """Numbers of the tests that stay; none where nothing is known, or nothing is left."""
        unique = self._unique(task, known.failing) or []
        dead = known.kills.get(task.id, [])
        return capped(task.check.single_tests(), unique, self.config.at_most, self.config.by, dead)

    def _filtered(self, task: Task, known: Known, context: Context) -> Task | Dropped:
        tests = task.check.single_tests()
        if not tests:
            context.totals["tasks without single tests"] += 1
            return task
        unique = self._unique(task, known.failing)
        if unique is None:
            return drop(task, "cannot be verified", str(known.failing[task.id]["error"])[:300])
        bad = known.failing.get(task.id, {"failing": []})["failing"]
        if not unique:
            return drop(task, "the reference fails every test", f"{len(tests)} tests")
        kept = self._kept(task, known)
        if len(kept) == len(tests):
            return task
        if trouble := known.confirmed.get(task.id, {"why": ""})["why"]:
            detail = f"without {len(bad)} tests that it fails alone: {trouble}"
            return drop(task, "the reference fails", detail)
        gone = {
            "failing": len(bad),
            "repeated": len(tests) - len(bad) - len(unique),
            "over the limit": len(unique) - len(kept),
        }
        context.totals.update({f"tests {why}": count for why, count in gone.items() if count})
        kept_set = set(kept)
        context.note(
            task.id,
            {
                "tests": len(tests),
                "kept": len(kept),
                "failing": bad,
                "repeated": [n for n in range(len(tests)) if n not in set(bad) and n not in set(unique)],
                "over the limit": [n for n in unique if n not in kept_set],
            },
        )
        return task.with_tests(kept)


def capped(
    tests: Sequence[SingleTest],
    left: Sequence[int],
    at_most: int | None,
    by: str,
    dead: Sequence[Sequence[int]],
) -> list[int]:
    """At most `at_most` of the tests `left`, in their order; `dead`: for each fault the tests that notice it."""
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
    """One test after the other, always the one that notices most of the faults that no chosen test notices."""
    chosen: list[int] = []
    rest = list(hidden)
    while rest and len(chosen) < room:
        best = min(rest, key=lambda n: (-sum(n in fault for fault in unseen), -tests[n].size, n))
        chosen.append(best)
        rest.remove(best)
        unseen = [fault for fault in unseen if best not in fault]
    return chosen


def _open(memory: Memory, task_id: str) -> bool:
    """Whether that is still unknown; what could not be decided is tried again."""
    return task_id not in memory or "error" in memory[task_id]


def _told(verdict: Verdict, count: int) -> list[int] | None:
    """The tests that failed, where the verdict says it of each one; None where something stopped them all."""
    results = verdict.tests
    if not verdict.scored or len(results) != count:
        return None
    if any(result.outcome not in _SURE or result.message == "not run" for result in results):
        return None
    return [number for number, result in enumerate(results) if result.outcome is not Outcome.PASSED]


def _first_of_each(tests: Sequence[SingleTest], numbers: Sequence[int]) -> list[int]:
    """One test of those that give the same: a shown one, else the first."""
    best: dict[str, int] = {}
    for number in numbers:
        other = best.setdefault(tests[number].given, number)
        if tests[number].shown and not tests[other].shown:
            best[tests[number].given] = number
    return sorted(best.values())
