"""Runs a project for the bug factory: its steady tests, the lines that each reaches, the results of file variants.

    with open_project(Path("toolz-1.0.0.tar.gz"), workers=2) as project:
        tests = project.tests()
        reached = project.coverage()
        run = project.run({"toolz/itertoolz.py": text}, tests[:5])
        print({name: result.outcome for name, result in run.items()})

Every variant runs in its own jailed process on a fresh copy of the project.
"""

import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Self, TypeVar

from strop_verify.core.errors import UserError, VerificationError, WorkerDied
from strop_verify.core.ids import rng
from strop_verify.core.snapshots import Files, digest_of
from strop_verify.core.verdict import Outcome, TestResult
from strop_verify.verification.project import snapshot
from strop_verify.verification.project.backend import LANGUAGES, Backend, PytestBackend, open_backend
from strop_verify.verification.project.layout import sources
from strop_verify.verification.project.runs import ProjectRun, RunRequest, TestReach, continued
from strop_verify.verification.settings import Settings

Results = dict[str, TestResult]
"""Result by test id, for every test that was asked for. A test that was not reported is never *passed*."""
Tell = Callable[[str], None]
"""Receives a progress line every second."""
WAVE = 8
"""Number of parts that `look` runs together."""
PIECE = 100
"""Maximum tests per process in `look` and `steady`."""
PIECE_SECONDS = 120.0
"""CPU seconds for such a process; tests that have not run by then are not used."""
_MOST_ENDED = 5
_MISSING = (
    "; install what the project needs beside Strop, and `git add -f` what its installation writes into the folder: "
    "only the files that git tracks are taken from a checkout"
)
_T = TypeVar("_T")


def _silent(text: str) -> None: ...


class Project:
    """A project and the jailed processes that run its tests, one for each worker. Close it, or use it with `with`.

    Methods may be called from any thread; a process that breaks is replaced once, then they raise WorkerDied.
    """

    def __init__(
        self, files: Files, language: str, settings: Settings, *, workers: int, test_seconds: float
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
        self.collected: dict[str, int] = {}
        """Tests and their positions in the project's order, after the first `look`."""
        self._known: dict[str, bool] = {}
        self._parts: list[list[str]] | None = None
        self._failure = ""
        self.reached: dict[str, TestReach] = {}
        """What each test calls, for tests that passed in `look`."""
        self.lost = 0
        """Test files that cannot be collected."""
        self.looked = 0
        """Number of tests that `look` has run."""
        self.baseline: Results = {}
        """Each steady test's result in the first run, with its CPU seconds."""

    @property
    def digest(self) -> str:
        """Content hash of the project's files."""
        return digest_of(self.files)

    def sources(self) -> list[str]:
        """Source files that an edit may change: no tests, no configuration."""
        return sources(self.files, self.language)

    def text(self, path: str) -> str:
        """The text of a file. Raises UnicodeDecodeError if it is not UTF-8."""
        return self.files[path].decode("utf-8")

    def tests(self) -> list[str]:
        """Tests that pass in each of three runs, the third with another hash seed, and take at most `test_seconds`.

        Found once. Raises UserError when there is none.
        """
        if self._tests is None:
            runs = [self._submit(lambda backend: backend.run(), seed) for seed in (0, 0, 1)]
            every = [future.result() for future in runs]
            first = every[0]
            steady = [n for n in first.results if all(run.passed(n) for run in every)]
            if not steady:
                why = _cause(first.uncollected) or (first.stop[1] if first.stop else "")
                why = why or _one_failure(first.results)
                raise UserError(f"the project has no test that passes here: {why or 'none was found'}")
            self.baseline = {name: first.results[name] for name in steady}
            self._tests = steady
        return list(self._tests)

    def coverage(self) -> dict[str, set[tuple[str, int]]]:
        """Maps each steady test to the (path, line) pairs of source that it runs, lines from 1. Python only.

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

    def look(self, seed: int, tell: Tell = _silent) -> bool:
        """Records in `self.reached` what the next tests call; False when all have been run. Python only.

        The tests run in parts that `seed` shuffles, `WAVE` parts per call: the same on every machine.
        Raises UserError when there is no test.
        """
        if self._parts is None:
            tell("collecting tests")
            run = self._awaited([self._submit(_collected, 0)], lambda _: tell("collecting tests"))[0]
            every, self.lost = list(run.collected), run.files_uncollected
            if self.lost:
                tell(f"{self.lost} files of tests cannot be collected: {_cause(run.uncollected)}")
            if not every:
                raise UserError(f"the project has no test that passes here: {self._uncollected()}")
            self.collected = {name: number for number, name in enumerate(every)}
            self._parts = _pieces(every, PIECE)
            rng("project", seed, "parts").shuffle(self._parts)
        if not self._parts:
            return False
        chosen, self._parts = self._parts[:WAVE], self._parts[WAVE:]

        def count(done: int) -> None:
            here = f"{done} of {len(chosen)} parts run, {len(self._parts or ())} for later"
            tell(f"what tests reach: {here}; {self.looked} of {len(self.collected)} tests done")

        count(0)
        requests = [RunRequest(tests=piece, reach=True, room=PIECE_SECONDS) for piece in chosen]
        runs = self._awaited([self._submit(partial(_whole, request=r), 0) for r in requests], count)
        for run in runs:
            self._failure = self._failure or _one_failure(run.results)
            self.reached |= {n: reach for n, reach in run.reached.items() if run.passed(n)}
        self.looked += sum(map(len, chosen))
        return True

    def none_passes(self) -> UserError:
        """The error for a project in which no test has passed."""
        return UserError(f"the project has no test that passes here: {self._failure or self._uncollected()}")

    def steady(self, tests: Collection[str], tell: Tell = _silent) -> set[str]:
        """The tests that pass in two more runs: in another order, and with another hash seed.

        Each is tried once. A test that measures time is not steady.
        """
        reached = self.reached
        asked = {name for name in tests if name not in self._known}
        usable = (name for name in asked if name in reached and not reached[name].clock)
        new = sorted(usable, key=self.collected.__getitem__)
        pieces = _pieces(new, PIECE)
        orders = [
            RunRequest(tests=piece, order=order, room=PIECE_SECONDS) for piece in pieces for order in (1, 0)
        ]
        futures = [self._submit(partial(_whole, request=r), 0 if r.order else 1) for r in orders]
        told = f"are {len(new)} tests steady"
        runs = self._awaited(futures, lambda done: tell(f"{told}: {done} of {len(futures)} parts run"))
        for run, again in zip(runs[::2], runs[1::2], strict=True):
            for name in run.results:
                if run.passed(name) and again.passed(name):
                    self._known[name] = True
                    self.baseline[name] = run.results[name]
        for name in asked:
            self._known.setdefault(name, False)
        return {name for name in tests if self._known[name]}

    def run(self, files: Mapping[str, str], tests: Collection[str] | None = None) -> Results:
        """Runs tests (None: all steady ones) on the project with these texts written into it."""
        return self.submit(files, tests).result()

    def submit(
        self, files: Mapping[str, str], tests: Collection[str] | None = None, *, hash_seed: int = 0
    ) -> "Future[Results]":
        """Starts `run` and returns at once. `hash_seed`: other than 0 to differ from all other runs."""
        asked = list(dict.fromkeys(self.tests() if tests is None else tests))
        request = RunRequest(tests=asked, seconds=self._bound(asked))
        return self._submit(lambda backend: _complete(backend.run(request, files=files), asked), hash_seed)

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
        """CPU seconds per test of a variant: ten times those of the slowest one in the project itself, plus one."""
        slowest = max(
            (self.baseline[t].seconds for t in tests if t in self.baseline), default=self.test_seconds
        )
        return min(self.test_seconds, 1.0 + 10 * slowest)

    def _submit(self, action: Callable[[Backend], _T], seed: int) -> "Future[_T]":
        def act() -> _T:
            mine: dict[int, Backend] = self._local.__dict__.setdefault("backends", {})
            if seed not in mine:
                mine[seed] = open_backend(
                    self.language, self.files, self._settings, self.test_seconds, hash_seed=seed
                )
                with self._lock:
                    self._open.append(mine[seed])
            own = mine[seed]
            try:
                return action(own)
            except WorkerDied:  # our process, perhaps started too late on a busy machine
                own.close()
                return action(own)

        return self._threads.submit(act)

    def _awaited(self, futures: "list[Future[_T]]", count: Callable[[int], None]) -> list[_T]:
        """The results; `count` receives every second how many are ready."""
        left = set(futures)
        try:
            while left:
                left = wait(left, timeout=1.0, return_when=FIRST_COMPLETED).not_done
                count(len(futures) - len(left))
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return [future.result() for future in futures]

    def _uncollected(self) -> str:
        run = self._submit(lambda backend: backend.run(RunRequest(collect=True)), 0).result()
        return _cause(run.uncollected) or (run.stop[1] if run.stop else "") or "none was found"


def open_project(
    path: Path,
    language: str = "",
    settings: Settings | None = None,
    *,
    workers: int = 1,
    test_seconds: float = 5.0,
) -> Project:
    """A project in a folder, a snapshot or an sdist. `language` empty: rust if there is a Cargo.toml, else python.

    `test_seconds`: CPU seconds per test. Raises UserError if there are no files.
    """
    files = snapshot.read_project(path)
    named = language or ("rust" if "Cargo.toml" in files else "python")
    return Project(files, named, settings or Settings(), workers=workers, test_seconds=test_seconds)


def _collected(backend: Backend) -> ProjectRun:
    if isinstance(backend, PytestBackend):
        return backend.collected()
    raise VerificationError("what tests reach is known for python only")


def _whole(backend: Backend, request: RunRequest) -> ProjectRun:
    return continued(backend.run(request), request, backend.run, _MOST_ENDED)


def _pieces(tests: Sequence[str], most: int) -> list[list[str]]:
    """The tests in their order, in parts of at most `most`; a file with fewer tests is not split."""
    pieces: list[list[str]] = []
    for _, group in groupby(tests, key=lambda name: name.partition("::")[0]):
        mine = list(group)
        for at in range(0, len(mine), most):
            part = mine[at : at + most]
            if pieces and len(pieces[-1]) + len(part) <= most:
                pieces[-1] += part
            else:
                pieces.append(part)
    return pieces


def _one_failure(results: Results) -> str:
    return next((f"{name}: {result.message}" for name, result in results.items() if result.message), "")


def _cause(uncollected: str) -> str:
    """The file and the error of pytest's report on a file that cannot be collected, with a missing module's remedy."""
    said = re.findall(r"^E +(.+)", uncollected, re.MULTILINE)
    cause = f"{uncollected.partition(':')[0]}: {said[-1]}" if said else " ".join(uncollected.split())[:400]
    return cause + _MISSING if "No module named" in cause else cause


def _complete(run: ProjectRun, asked: list[str]) -> Results:
    outcome, cause = run.stop or (Outcome.FAILED, run.uncollected or "the test was not reported")
    missing = Outcome.TAMPERED if run.tampered else outcome
    return {
        name: run.results[name]
        if name in run.results and not run.tampered
        else TestResult(id=name, outcome=missing, message=cause[:400])
        for name in asked
    }
