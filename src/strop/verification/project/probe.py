"""What the bug factory asks of a project: its steady tests, which lines each reaches, and what variants of files do.

    with open_project(Path("toolz-1.0.0.tar.gz"), workers=2) as project:
        tests = project.tests()
        reached = project.coverage()
        run = project.run({"toolz/itertoolz.py": text}, tests[:5])
        print({name: result.outcome for name, result in run.items()})

Every variant runs in a jailed process of its own on a fresh copy of the project.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Self, TypeVar

from strop.core.errors import UserError, VerificationError, WorkerDied
from strop.core.verdict import Outcome, TestResult
from strop.verification.project import snapshot
from strop.verification.project.backend import LANGUAGES, Backend, open_backend
from strop.verification.project.layout import sources
from strop.verification.project.runs import ProjectRun, RunRequest
from strop.verification.settings import Settings

Results = dict[str, TestResult]
"""Test id to what became of it, for every test that was asked for. A test that was not reported is never *passed*."""
_T = TypeVar("_T")


class Project:
    """A project and the jailed processes that run its tests, one for each worker. Close it, or use it with `with`.

    Methods may be called from any thread; a process that breaks is replaced once, then they raise WorkerDied.
    """

    def __init__(
        self, files: snapshot.Files, language: str, settings: Settings, *, workers: int, test_seconds: float
    ) -> None:
        if language not in LANGUAGES:
            raise UserError(f"projects in {language!r} have no runner; choose python or rust")
        self.files, self.language, self.test_seconds = files, language, test_seconds
        self.workers = workers
        self._settings = settings
        self._local = threading.local()
        self._open: list[Backend] = []
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="strop-project")
        self._tests: list[str] | None = None
        self.baseline: Results = {}
        """Each steady test with the CPU seconds and the outcome of the first run."""

    @property
    def digest(self) -> str:
        """Content hash of the project's files."""
        return snapshot.digest_of(self.files)

    def sources(self) -> list[str]:
        """Files of source that an edit may change: no tests, no configuration."""
        return sources(self.files, self.language)

    def text(self, path: str) -> str:
        """The text of a file. Raises UnicodeDecodeError where it is none."""
        return self.files[path].decode("utf-8")

    def tests(self) -> list[str]:
        """Tests that pass in each of three runs, the third with another hash seed, and take at most `test_seconds`.

        Found once. Raises UserError when there is none.
        """
        if self._tests is None:
            runs = [self._submit(lambda backend: backend.run(), seed) for seed in (0, 0, 1)]
            every = [future.result() for future in runs]
            first = every[0]
            steady = [n for n in first.results if all(_passed(run, n) for run in every)]
            if not steady:
                why = (
                    first.uncollected or (first.stop[1] if first.stop else "") or _one_failure(first.results)
                )
                raise UserError(f"the project has no test that passes here: {why or 'none was found'}")
            self.baseline = {name: first.results[name] for name in steady}
            self._tests = steady
        return list(self._tests)

    def coverage(self) -> dict[str, set[tuple[str, int]]]:
        """Steady test to the (path, line) pairs of source that it runs, lines from 1. Python only.

        Lines that run while a module is imported belong to no test. Raises VerificationError for other languages.
        """
        tests = self.tests()
        if self.language != "python":
            raise VerificationError(f"lines reached are not known for {self.language}")
        request = RunRequest(tests=tests, traced=self.sources())
        run = self._submit(lambda backend: backend.run(request), 0).result()
        return {
            name: {(path, line) for path, lines in run.lines.get(name, {}).items() for line in lines}
            for name in tests
        }

    def run(self, files: Mapping[str, str], tests: Collection[str] | None = None) -> Results:
        """Runs tests, all steady ones for None, on the project with these texts in it."""
        return self.submit(files, tests).result()

    def submit(self, files: Mapping[str, str], tests: Collection[str] | None = None) -> "Future[Results]":
        """Starts `run` and returns at once."""
        asked = list(dict.fromkeys(self.tests() if tests is None else tests))

        request = RunRequest(tests=asked, seconds=self._bound(asked))
        return self._submit(lambda backend: _complete(backend.run(request, files=files), asked), 0)

    def close(self) -> None:
        """Ends every process. Safe to call twice and from any thread."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            backends, self._open = self._open, []
        for backend in backends:
            backend.close()
        self._threads.shutdown(wait=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bound(self, tests: list[str]) -> float:
        """CPU seconds for a test of a variant: ten times what the slowest takes without it, and one more."""
        slowest = max(
            (self.baseline[t].seconds for t in tests if t in self.baseline), default=self.test_seconds
        )
        return min(self.test_seconds, 1.0 + 10 * slowest)

    def _make(self, seed: int) -> Backend:
        return open_backend(self.language, self.files, self._settings, self.test_seconds, hash_seed=seed)

    def _submit(self, action: Callable[[Backend], _T], seed: int) -> "Future[_T]":
        def act() -> _T:
            if seed:
                with closing(self._make(seed)) as backend:
                    return action(backend)
            own: Backend | None = getattr(self._local, "backend", None)
            if own is None:
                own = self._local.backend = self._make(0)
                with self._lock:
                    self._open.append(own)
            try:
                return action(own)
            except WorkerDied:  # a process of ours, such as one that a busy machine did not start in time
                own.close()
                return action(own)

        return self._threads.submit(act)


def open_project(
    path: Path,
    language: str = "",
    settings: Settings | None = None,
    *,
    workers: int = 1,
    test_seconds: float = 5.0,
) -> Project:
    """A project in a folder, a snapshot or an sdist. `language` empty: rust where there is a Cargo.toml, else python.

    `test_seconds`: CPU seconds that one test may take. Raises UserError where there are no files.
    """
    files = snapshot.read_project(path)
    named = language or ("rust" if "Cargo.toml" in files else "python")
    return Project(files, named, settings or Settings(), workers=workers, test_seconds=test_seconds)


def _passed(run: ProjectRun, name: str) -> bool:
    result = run.results.get(name)
    return result is not None and result.outcome is Outcome.PASSED


def _one_failure(results: Results) -> str:
    return next((f"{name}: {result.message}" for name, result in results.items() if result.message), "")


def _complete(run: ProjectRun, asked: list[str]) -> Results:
    outcome, cause = run.stop or (Outcome.FAILED, run.uncollected or "the test was not reported")
    missing = Outcome.TAMPERED if run.tampered else outcome
    return {
        name: run.results[name]
        if name in run.results and not run.tampered
        else TestResult(id=name, outcome=missing, message=cause[:400])
        for name in asked
    }
