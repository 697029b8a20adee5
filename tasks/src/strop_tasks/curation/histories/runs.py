"""Runs of tests on many trees: each thread has one warm jailed process per package folder and hash seed, with a fresh
tree for each run. Runs share compiled files of sources with equal path and content; modules from outside the
project are imported once, by a restarted process.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

from strop_verify.core.errors import WorkerDied
from strop_verify.core.snapshots import Files
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.project.backend import open_backend
from strop_verify.verification.project.process import TestsProcess
from strop_verify.verification.project.runs import (
    BARE,
    PLAIN,
    CompileCache,
    ProjectRun,
    RunRequest,
    with_room,
)
from strop_verify.verification.settings import Settings

TEST_SECONDS = 2.0  # CPU seconds of one test; the wall time limit is ten times that, also for imports
_PATIENCE = 3
_LOADING = 6.0
_WALL = 10.0  # wall seconds of a run per CPU second, so a busy machine does not matter
_OPEN = 4
_COMPILED = 3_000  # maximum sources with kept compiled files
_HEAVY = 30  # a process restarts to import this many new modules from outside the project
_REFUSED = (3, 4)  # pytest's exit statuses: interrupted, and usage error
DAY = "strop_another_day"
ANOTHER_DAY = """import datetime
import time

AHEAD = 400 * 86400 + 7 * 3600
now, days = time.time, datetime.timedelta(seconds=AHEAD)
time.time = lambda: now() + AHEAD
time.time_ns = lambda ns=time.time_ns: ns() + AHEAD * 10**9


def moved(function):
    return lambda seconds=None: function(time.time() if seconds is None else seconds)


time.localtime, time.gmtime, time.ctime = moved(time.localtime), moved(time.gmtime), moved(time.ctime)


KINDS = {}


class Alike(type):
    def __instancecheck__(cls, value):
        return isinstance(value, KINDS[cls]) if cls in KINDS else type.__instancecheck__(cls, value)

    def __subclasscheck__(cls, other):
        return issubclass(other, KINDS[cls]) if cls in KINDS else type.__subclasscheck__(cls, other)


def later(kind, **methods):
    made = Alike(kind.__name__, (kind,), {**methods, "__module__": "datetime"})
    KINDS[made] = kind
    return made


real, plain = datetime.datetime, datetime.date
datetime.datetime = later(
    real,
    now=classmethod(lambda cls, tz=None: real.now(tz) + days),
    today=classmethod(lambda cls: real.today() + days),
    utcnow=classmethod(lambda cls: real.now(datetime.timezone.utc).replace(tzinfo=None) + days),
)
datetime.date = later(plain, today=classmethod(lambda cls: plain.today() + days))
"""
"""A pytest plugin that moves the clocks of Python's standard library ahead."""


class HistoryRuns:
    """Runs tests on trees of Python or Rust. Thread-safe; close it at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._local = threading.local()
        self._lock = threading.Lock()
        self._all: list[TestsProcess] = []
        self._closed = False
        self._compiled: OrderedDict[tuple[str, bytes], dict[str, bytes]] = OrderedDict()
        """Compiled files, by path and content of their source."""
        self._modules: dict[str, tuple[str, ...]] = {}  # modules from outside the projects, by package folder

    def run(
        self, tree: Files, request: RunRequest, *, language: str = "python", packages: str = "", seed: int = 0,
        room: float = 30.0, another_day: bool = False,
    ) -> ProjectRun:  # fmt: skip
        """One run. `seed`: PYTHONHASHSEED; `room`: its CPU seconds; `keep` in the request speeds up later runs.

        Raises WorkerDied if the jailed process dies twice.
        """
        if language == "rust":
            with closing(open_backend("rust", tree, self._settings, TEST_SECONDS)) as backend:
                return backend.run(request)
        request = replace(request, seconds=TEST_SECONDS, loading=_LOADING, patience=_PATIENCE)
        limits = with_room(Limits(cpu_seconds=1.0, wall_seconds=5.0), cpu=room, wall=_WALL * room)
        run = ProjectRun()
        for options in (PLAIN, BARE):
            try:
                run = self._once(tree, request, limits, options, packages, seed, another_day)
            except WorkerDied:  # for example, it did not start in time on a busy machine
                run = self._once(tree, request, limits, options, packages, seed, another_day)
            if run.status not in _REFUSED or run.results or run.collected or run.uncollected:
                break
        return run

    def close(self) -> None:
        """Ends every process. Safe to call twice and from any thread."""
        with self._lock:
            processes, self._all, self._closed = self._all, [], True
        for process in processes:
            process.close()

    def _once(
        self, tree: Files, request: RunRequest, limits: Limits, options: tuple[str, ...], packages: str, seed: int,
        another_day: bool,
    ) -> ProjectRun:  # fmt: skip
        process = self._process(packages, seed)
        if another_day:
            tree, options = {**tree, f"{DAY}.py": ANOTHER_DAY.encode()}, (*options, "-p", DAY)
        with self._lock:
            known = [self._compiled[source] for source in tree.items() if source in self._compiled]
        process.take(
            tree, CompileCache({path: data for one in known for path, data in one.items()}, options=options)
        )
        run = process.run(request, limits)
        if run.warmth is not None:
            self._learn(tree, packages, run.warmth)
        return run

    def _learn(self, tree: Files, packages: str, warmth: CompileCache) -> None:
        with self._lock:
            for path, data in warmth.compiled.items():
                folder, _, name = path.rpartition("/")
                source = f"{folder.removesuffix('__pycache__')}{name.partition('.')[0]}.py"
                if source in tree:
                    self._compiled.setdefault((source, tree[source]), {})[path] = data
            while len(self._compiled) > _COMPILED:
                self._compiled.popitem(last=False)
            known = self._modules.get(packages, ())
            if len(new := {*warmth.modules} - {*known}) >= _HEAVY:
                self._modules[packages] = (*known, *sorted(new))

    def _process(self, packages: str, seed: int) -> TestsProcess:
        mine: OrderedDict[tuple[str, int, tuple[str, ...]], TestsProcess]
        mine = self._local.__dict__.setdefault("mine", OrderedDict())
        modules = self._modules.get(packages, ())
        process = mine.pop((packages, seed, modules), None)
        if self._closed:
            raise WorkerDied("the build was stopped")
        if process is None or process.closed:
            settings, warmth = replace(self._settings, packages=packages), CompileCache(modules=modules)
            process = TestsProcess({}, settings, warmth, hash_seed=seed)
            with self._lock:
                self._all.append(process)
        mine[packages, seed, modules] = process
        while len(mine) > _OPEN:
            old = mine.popitem(last=False)[1]
            old.close()
            with self._lock:
                self._all = [one for one in self._all if one is not old]
        return process


def passed(run: ProjectRun) -> set[str]:
    """The tests that passed; none if the run was tampered with."""
    results = {} if run.tampered else run.results
    return {name for name, test in results.items() if test.outcome is Outcome.PASSED}


def message(run: ProjectRun, test: str) -> str:
    """Why a test did not pass."""
    if test in run.results:
        return run.results[test].message
    return uncollected(run)


def uncollected(run: ProjectRun) -> str:
    """Why a file could not be imported."""
    told = [line.strip() for line in run.uncollected.splitlines()]
    return next((line.removeprefix("E").strip() for line in told if line.startswith("E ")), "")


def applied(tree: Files, texts: Mapping[str, str | None]) -> Files:
    """The tree with these texts; None: deleted."""
    new = {path: text.encode() for path, text in texts.items() if text is not None}
    return {path: data for path, data in {**tree, **new}.items() if texts.get(path, "") is not None}
