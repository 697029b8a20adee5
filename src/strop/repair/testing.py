"""Runs tests on edits: the project's tests and the policy's, in the jail, on copies of the project."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from strop.repair.candidates import Applied, Changes
from strop.repair.record import Edit
from strop.repair.reproduce import TestFile
from strop_verify.core.errors import UserError, WorkerDied
from strop_verify.core.ids import rng
from strop_verify.core.verdict import Outcome
from strop_verify.verification.config import SandboxConfig
from strop_verify.verification.project.backend import Backend, open_backend
from strop_verify.verification.project.probe import open_project
from strop_verify.verification.project.runs import RunRequest
from strop_verify.verification.settings import Settings, limits_of

_SLOWER = 4.0
"""Extra CPU time that a run with an edit may take, as a multiple of the unchanged project's."""


class RepairWatch(Protocol):
    """Reports the progress of a repair."""

    def say(self, line: str) -> None:
        """Reports one line, which may hold the model's text."""

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Reports work of `total` parts; the context's function must be called after each."""


class ProjectTests:
    """A repository's own tests, run in the jail on fresh copies; `say` gets a line per failed run. Not thread-safe."""

    def __init__(
        self,
        root: Path,
        language: str,
        sandbox: SandboxConfig,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        limits = limits_of(sandbox)
        self._settings = Settings(limits=limits, jail=sandbox.jail, allow_unsafe=sandbox.allow_unsafe)
        self._say, self._test_seconds = say, limits.cpu_seconds
        self._project = open_project(
            root, language, self._settings, workers=sandbox.workers or 2, test_seconds=limits.cpu_seconds
        )
        self._backend: Backend | None = None

    def passing(self) -> list[str]:
        """The tests that pass three times. Raises UserError if there is none."""
        found = self._project.tests()
        seconds = _SLOWER * sum(result.seconds for result in self._project.baseline.values())
        limits = self._settings.limits
        cpu, wall = limits.cpu_seconds + seconds, limits.wall_seconds + 4 * seconds
        self._settings = replace(self._settings, limits=replace(limits, cpu_seconds=cpu, wall_seconds=wall))
        self._close_backend()
        return found

    def run(self, changes: Changes, tests: Sequence[str]) -> dict[str, bool]:
        """Whether each test that ran passes; {} for a run that was tampered with, or killed its worker twice."""
        files = {path: text for path, text in changes.items() if text is not None}
        removed = [path for path, text in changes.items() if text is None]
        for _ in range(2):
            try:
                run = self._opened().run(RunRequest(tests=list(tests)), files=files, removed=removed)
            except WorkerDied as error:
                self._close_backend()
                self._say(f"note: a test run failed: {error}")
                continue
            if run.tampered:
                return {}
            return {name: seen.outcome is Outcome.PASSED for name, seen in run.results.items()}
        return {}

    def close(self) -> None:
        """Ends all processes. May be called twice."""
        self._close_backend()
        self._project.close()

    def _opened(self) -> Backend:
        if self._backend is None:
            language, files = self._project.language, self._project.files
            self._backend = open_backend(language, files, self._settings, self._test_seconds)
        return self._backend

    def _close_backend(self) -> None:
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()


@dataclass
class Bench:
    """Runs the tests on a repair's edits.

    seconds     time for all runs of edits together, half of it for regression tests
    tests_kept  the regression tests that were run
    files_kept  the policy's test files that fail before, reduced to their failing tests
    """

    tests: ProjectTests
    applied: Applied
    seconds: float
    seed: int
    watch: RepairWatch
    note: Callable[[str], None]
    tests_kept: list[str] = field(default_factory=list)
    files_kept: list[TestFile] = field(default_factory=list)

    def regression(self) -> list[Edit]:
        """The edits with the tests that each breaks; unchanged if the project has no passing tests."""
        edits = self.applied.edits
        self.watch.say("regression: looking for tests that pass")
        try:
            found = self.tests.passing()
        except UserError as error:
            self.note(f"not checking for regressions: {error}")
            return edits
        began = time.monotonic()
        before = self.tests.run({}, found)
        passing = [test for test in found if before.get(test)]
        self.tests_kept = chosen = self._affordable(passing, len(edits), time.monotonic() - began)
        out = []
        with self.watch.progress("running regression tests", len(edits)) as step:
            for edit in edits:
                seen = self.tests.run(self.applied.changes[edit.group], chosen)
                broken = [test for test in chosen if not seen.get(test)]
                out.append(edit.model_copy(update={"broken": broken}))
                step()
        whole = sum(not edit.broken for edit in out)
        self.watch.say(f"regression: {whole} of {len(out)} edits break none of {len(chosen)} tests")
        return out

    def _affordable(self, tests: Sequence[str], edits: int, seconds: float) -> list[str]:
        """All tests, or a seeded choice of as many as half of the time allows for every edit."""
        share = self.seconds / 2 / max(1e-9, seconds * edits)
        if share >= 1:
            return list(tests)
        count = max(1, int(len(tests) * share))
        kept = set(rng(self.seed, "repair", "regression").sample(list(tests), count))
        self.note(f"{count} of {len(tests)} regression tests are run: --test-seconds is {self.seconds:g}")
        return [test for test in tests if test in kept]

    def reproduction(self, edits: Sequence[Edit], files: Sequence[TestFile]) -> list[Edit]:
        """The edits; those that break fewest tests get the reproduction tests that they pass. Each file runs alone."""
        if not files:
            return list(edits)
        least = min(len(edit.broken or ()) for edit in edits)
        near = [edit for edit in edits if len(edit.broken or ()) == least]
        began = time.monotonic()
        kept = self._failing_before(files)
        self.watch.say(f"reproduction: {len(kept)} of {len(files)} different test files fail before")
        cost = (time.monotonic() - began) / len(files) * len(near)
        most = max(1, int(self.seconds / 2 / max(1e-9, cost)))
        if most < len(kept):
            self.note(f"{most} of {len(kept)} of them are run: --test-seconds is {self.seconds:g}")
        self.files_kept = kept = kept[:most]
        if not kept:
            return list(edits)
        scored: dict[str, Edit] = {}
        with self.watch.progress("running reproduction tests", len(near)) as step:
            for edit in near:
                scored[edit.group] = edit.model_copy(update={"reproduced": self._passed(edit)})
                step()
        best = max(len(edit.reproduced or ()) for edit in scored.values())
        count = sum(len(file.ids) for file in kept)
        self.watch.say(
            f"reproduction: of the {len(near)} edits that break fewest tests, none passes more than {best} of {count}"
        )
        return [scored.get(edit.group, edit) for edit in edits]

    def _failing_before(self, files: Sequence[TestFile]) -> list[TestFile]:
        kept = []
        for file in files:
            seen = self.tests.run({file.path: file.text}, file.ids)
            ids = tuple(test for test in file.ids if seen.get(test) is False)
            if ids:
                kept.append(TestFile(file.path, file.text, ids, file.votes))
        return kept

    def _passed(self, edit: Edit) -> list[str]:
        changes = self.applied.changes[edit.group]
        passed: list[str] = []
        for file in self.files_kept:
            seen = self.tests.run({**changes, file.path: file.text}, file.ids)
            passed += [test for test in file.ids if seen.get(test)]
        return passed
