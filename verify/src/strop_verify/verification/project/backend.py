"""Runs a project's tests: `PytestBackend` here, `cargo.CargoBackend` for Rust. A backend belongs to one thread."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Protocol

from strop_verify.core.errors import VerificationError
from strop_verify.core.snapshots import Files, digest_of
from strop_verify.verification.project.process import TestsProcess, warm_up
from strop_verify.verification.project.runs import (
    EVERYTHING,
    WALL_EACH,
    CompileCache,
    ProjectRun,
    RunRequest,
    as_bytes,
    continued,
    ending,
    with_room,
)
from strop_verify.verification.settings import Settings

LANGUAGES = ("python", "rust")
ROOM_CPU, ROOM_WALL = 20.0, 90.0
"""Seconds added to an answer's limits when chosen tests run: for pytest itself, imports and collection."""
WHOLE_CPU, WHOLE_WALL = 900.0, 1800.0
"""Seconds for a run of all tests, or one that records lines."""
COLLECT_CPU, COLLECT_WALL = 120.0, 400.0
"""Seconds for the first collection; if it takes longer, only tests given by name run."""
LOADING = 3.0
"""CPU seconds for importing and collecting, on top of twice what they took in the first collection."""
PATIENCE = 3
"""Number of tests that may exceed their time before a run is abandoned."""
_TRACED = 3.0
"""Factor on a test's time limit while its calls are recorded."""
_MOST_RESTARTS = 25
_KEPT_WARM = 8

_lock = threading.Lock()
_warm: "OrderedDict[tuple[str, str, str], tuple[CompileCache, ProjectRun]]" = OrderedDict()


class Backend(Protocol):
    """Runs tests of one project, each time in a fresh copy of it."""

    wall_seconds: float
    """Maximum wall seconds for a run of chosen tests, including the build."""

    def run(
        self,
        request: RunRequest = EVERYTHING,
        *,
        files: Mapping[str, str] | None = None,
        removed: Collection[str] = (),
    ) -> ProjectRun:
        """Runs tests with the texts of `files` written and `removed` deleted. Raises WorkerDied."""

    def close(self) -> None:
        """Ends its processes. Safe to call twice and from any thread."""


class PytestBackend:
    """Runs pytest in a warm jailed process."""

    def __init__(self, base: Files, settings: Settings, seconds: float, *, hash_seed: int = 0) -> None:
        self._base, self._settings, self._seconds, self._seed = base, settings, seconds, hash_seed
        self.wall_seconds = settings.limits.wall_seconds + ROOM_WALL
        self._digest = digest_of(base)
        self._process: TestsProcess | None = None

    def run(
        self,
        request: RunRequest = EVERYTHING,
        *,
        files: Mapping[str, str] | None = None,
        removed: Collection[str] = (),
    ) -> ProjectRun:
        """See `Backend.run`."""
        warmth, first = self._warmth()
        if first.endless and request.tests is None:
            return replace(first)
        factor = 20 if request.traced else _TRACED if request.reach else 1
        request = replace(request, seconds=(request.seconds or self._seconds) * factor)
        whole = request.tests is None or bool(request.traced)
        limits = with_room(self._settings.limits, cpu=ROOM_CPU, wall=ROOM_WALL)
        if whole:
            limits = replace(limits, cpu_seconds=WHOLE_CPU, wall_seconds=WHOLE_WALL)
        elif request.room:
            limits = replace(limits, cpu_seconds=request.room, wall_seconds=request.room * WALL_EACH)
        else:
            request = replace(request, patience=PATIENCE, loading=LOADING + 2 * first.cpu_seconds)
        changed, limits = as_bytes(files or {}), ending(limits, request.until)
        run = self._opened(warmth).run(request, limits, files=changed, removed=removed)
        if not whole or changed or removed:
            return run
        return continued(
            run, request, lambda rest: self._opened(self._warmth()[0]).run(rest, limits), _MOST_RESTARTS
        )

    def collected(self) -> ProjectRun:
        """The first run, which collects the tests. Raises WorkerDied."""
        return self._warmth()[1]

    def close(self) -> None:
        """See `Backend.close`."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _opened(self, warmth: CompileCache) -> TestsProcess:
        if self._process is None or self._process.closed:
            self._process = TestsProcess(self._base, self._settings, warmth, hash_seed=self._seed)
        return self._process

    def _warmth(self) -> tuple[CompileCache, ProjectRun]:
        key = (self._digest, self._settings.jail, self._settings.packages)
        with _lock:  # also while collecting: other threads with the same project wait for the result
            if key not in _warm:
                limits = with_room(self._settings.limits, cpu=COLLECT_CPU, wall=COLLECT_WALL)
                _warm[key] = warm_up(self._base, limits, self._settings)
                while len(_warm) > _KEPT_WARM:
                    _warm.popitem(last=False)
            return _warm[key]


def open_backend(
    language: str, base: Files, settings: Settings, seconds: float, *, hash_seed: int = 0
) -> Backend:
    """The backend of a language. pytest starts with the first run; each test gets `seconds` of CPU.

    Raises VerificationError for another language, or if Rust is not installed.
    """
    if language == "rust":
        from strop_verify.verification.project.cargo import CargoBackend

        return CargoBackend(base, settings)
    if language != "python":
        raise VerificationError(f"projects in {language!r} have no runner")
    return PytestBackend(base, settings, seconds, hash_seed=hash_seed)
