"""What tests say about edits. The project's tests and the policy's run in the jail, on copies of the project."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from strop.core.errors import UserError
from strop.core.ids import rng
from strop.repair.candidates import Applied, Changes
from strop.repair.record import Edit
from strop.repair.reproduce import TestFile
from strop.repair.watch import RepairWatch


class ProjectUnderTest(Protocol):
    """A project that can be tested in many variants."""

    def passing(self) -> list[str]:
        """Ids of the tests that pass, each time, as the project is. Raises UserError where there is none."""

    def run(self, changes: Changes, tests: Sequence[str]) -> dict[str, bool]:
        """Whether each of these tests passes with the changed files; no entry: it did not run."""

    def close(self) -> None:
        """Ends its processes."""


class Bench:
    """Runs the tests on a repair's edits.

    seconds  for all runs of edits together; half of it for regression tests
    """

    def __init__(
        self,
        tests: ProjectUnderTest,
        applied: Applied,
        seconds: float,
        seed: int,
        watch: RepairWatch,
        note: Callable[[str], None],
    ) -> None:
        self._tests, self._applied, self._seconds, self._seed = tests, applied, seconds, seed
        self._watch, self._note = watch, note
        self.tests_kept: list[str] = []
        """Regression tests that were run."""
        self.files_kept: list[TestFile] = []
        """Test files of the policy that fail before, with only those of their tests that do."""

    def regression(self) -> list[Edit]:
        """The edits with the tests that each breaks; None in them where the project has no tests."""
        edits = self._applied.edits
        self._watch.say("regression: looking for tests that pass")
        try:
            found = self._tests.passing()
        except UserError as error:
            self._note(f"not checking for regressions: {error}")
            return edits
        began = time.monotonic()
        before = self._tests.run({}, found)
        passing = [test for test in found if before.get(test)]
        self.tests_kept = chosen = self._affordable(passing, len(edits), time.monotonic() - began)
        out = []
        with self._watch.progress("running regression tests", len(edits)) as step:
            for edit in edits:
                seen = self._tests.run(self._applied.changes[edit.group], chosen)
                out.append(
                    edit.model_copy(update={"broken": [test for test in chosen if not seen.get(test)]})
                )
                step()
        whole = sum(not edit.broken for edit in out)
        self._watch.say(f"regression: {whole} of {len(out)} edits break none of {len(chosen)} tests")
        return out

    def _affordable(self, tests: Sequence[str], edits: int, seconds: float) -> list[str]:
        """As many tests as half of the time allows for every edit: all, or a seeded choice."""
        share = self._seconds / 2 / max(1e-9, seconds * edits)
        if share >= 1:
            return list(tests)
        count = max(1, int(len(tests) * share))
        kept = set(rng(self._seed, "repair", "regression").sample(list(tests), count))
        self._note(f"{count} of {len(tests)} regression tests are run: --test-seconds is {self._seconds:g}")
        return [test for test in tests if test in kept]

    def reproduction(self, edits: Sequence[Edit], files: Sequence[TestFile]) -> list[Edit]:
        """The edits, those that break fewest tests with the reproduction tests that they pass.

        Each test file runs alone: one that hangs hides no other.
        """
        if not files:
            return list(edits)
        least = min(len(edit.broken or ()) for edit in edits)
        near = [edit for edit in edits if len(edit.broken or ()) == least]
        began = time.monotonic()
        kept = self._failing_before(files)
        self._watch.say(f"reproduction: {len(kept)} of {len(files)} different test files fail before")
        cost = (time.monotonic() - began) / len(files) * len(near)
        most = max(1, int(self._seconds / 2 / max(1e-9, cost)))
        if most < len(kept):
            self._note(f"{most} of {len(kept)} of them are run: --test-seconds is {self._seconds:g}")
        self.files_kept = kept = kept[:most]
        if not kept:
            return list(edits)
        scored: dict[str, Edit] = {}
        with self._watch.progress("running reproduction tests", len(near)) as step:
            for edit in near:
                scored[edit.group] = edit.model_copy(update={"reproduced": self._passed(edit)})
                step()
        best = max(len(edit.reproduced or ()) for edit in scored.values())
        count = sum(len(file.ids) for file in kept)
        self._watch.say(f"reproduction: the best of {len(near)} edits pass {best} of {count} tests")
        return [scored.get(edit.group, edit) for edit in edits]

    def _failing_before(self, files: Sequence[TestFile]) -> list[TestFile]:
        kept = []
        for file in files:
            seen = self._tests.run({file.path: file.text}, file.ids)
            ids = tuple(test for test in file.ids if seen.get(test) is False)
            if ids:
                kept.append(TestFile(file.path, file.text, ids, file.votes))
        return kept

    def _passed(self, edit: Edit) -> list[str]:
        changes = self._applied.changes[edit.group]
        passed: list[str] = []
        for file in self.files_kept:
            seen = self._tests.run({**changes, file.path: file.text}, file.ids)
            passed += [test for test in file.ids if seen.get(test)]
        return passed
