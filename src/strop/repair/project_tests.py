"""A repository's own tests, run by `strop.verification.project` in the jail, on a fresh copy each time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from strop.config.tasks import SandboxConfig
from strop.core.errors import WorkerDied
from strop.core.verdict import Outcome
from strop.repair.candidates import Changes
from strop.verification.project.backend import Backend, open_backend
from strop.verification.project.probe import open_project
from strop.verification.project.runs import Request
from strop.verification.settings import Settings, limits_of

_SLOWER = 4.0
"""Times as much CPU time as the unchanged project, that a run with an edit may take."""


class ProjectTests:
    """Implements `strop.repair.testing.Tests`. Not for several threads.

    say  is told of runs that broke our own process
    """

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
        """Tests that pass three times. Raises UserError where there is none."""
        found = self._project.tests()
        seconds = _SLOWER * sum(result.seconds for result in self._project.baseline.values())
        limits = self._settings.limits
        self._settings = replace(
            self._settings,
            limits=replace(
                limits,
                cpu_seconds=limits.cpu_seconds + seconds,
                wall_seconds=limits.wall_seconds + 4 * seconds,
            ),
        )
        self._close_backend()
        return found

    def run(self, changes: Changes, tests: Sequence[str]) -> dict[str, bool]:
        """Whether each test passes; no entry for one that did not run, none at all for a run that was tampered with.

        A run that breaks its process twice reports nothing.
        """
        files = {path: text for path, text in changes.items() if text is not None}
        removed = [path for path, text in changes.items() if text is None]
        for _ in range(2):
            try:
                run = self._opened().run(Request(tests=list(tests)), files=files, removed=removed)
            except WorkerDied as error:
                self._close_backend()
                self._say(f"note: a test run failed: {error}")
                continue
            if run.tampered:
                return {}
            return {name: seen.outcome is Outcome.PASSED for name, seen in run.results.items()}
        return {}

    def close(self) -> None:
        """Ends every process. Safe to call twice."""
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
