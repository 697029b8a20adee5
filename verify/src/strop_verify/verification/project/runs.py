"""A request to run a project's tests, its result, and the reader of its signed messages."""

import hashlib
import math
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from strop_verify.core.errors import VerificationError
from strop_verify.core.verdict import Outcome, TestResult
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.python.child import worse
from strop_verify.verification.python.codec import Malformed
from strop_verify.verification.python.decoder import fields
from strop_verify.verification.python.wire import UNSIGNED, FrameReader

RESULT_BYTES = 512 << 20
"""Maximum bytes of messages from a run."""

MEMORY_BYTES = 3 << 30
"""Minimum address space of a run's process, in bytes."""
PLAIN = ("-o", "addopts=", "-o", "required_plugins=")
"""Ignores the project's command line options for pytest: they mostly name plugins that are not installed."""
BARE = ("-c", "/dev/null")
"""Ignores the project's configuration, for one that pytest refuses."""


@dataclass(frozen=True)
class CompileCache:
    """What a run of the unchanged snapshot leaves behind to speed up later runs."""

    compiled: dict[str, bytes] = field(default_factory=dict)
    """Compiled files, content by path."""
    modules: tuple[str, ...] = ()
    """Modules from outside the project that the run imports."""
    options: tuple[str, ...] = PLAIN


@dataclass(frozen=True)
class RunRequest:
    """One run of tests."""

    tests: Collection[str] | None = None
    """Test ids; None = all, restarted after a test that ends the process."""
    left_out: Collection[str] = ()
    within: Collection[str] = ()
    """Without `tests`: paths of files, or test ids without parameters, to collect from; empty = the whole project."""
    beside: Collection[str] = ()
    """Files to collect as a whole; `tests` still selects which of their tests run."""
    order: int = 0
    """Seed for a shuffled order; 0 = the project's order."""
    collect: bool = False
    """Only collect the tests."""
    seconds: float = 0.0
    """CPU seconds per test; 0 = the backend's own limit, or none."""
    loading: float = 0.0
    """CPU seconds for importing and collecting; 0 = no limit."""
    until: float = math.inf
    """Deadline, in the time of `time.monotonic`."""
    patience: int = 0
    """Overdue tests before the rest is abandoned; 0 = any number."""
    traced: Sequence[str] = ()
    """Files in which to record the lines that each test reaches."""
    reach: bool = False
    """Whether to record which code each test calls."""
    room: float = 0.0
    """CPU seconds for a run of chosen tests, with `WALL_EACH` wall seconds per CPU second; 0 = as usual."""
    probes: Sequence[tuple[str, str, str, bool]] = ()
    """Expressions to evaluate after collection: file, function, text, whether it has parameters (`recording`)."""
    keep: bool = False
    """Return compiled files and names of modules; only for trusted trees."""


WALL_EACH = 4.0
_LEAST = 0.05
"""Wall seconds for a run that starts too late."""
EVERYTHING = RunRequest()


@dataclass(frozen=True)
class PinnedValue:
    """The result of a probe."""

    value: str
    """A literal, or an empty text."""
    kind: str
    reads: tuple[str, ...]
    """Files that were read."""
    named: tuple[str, ...]
    """Files that it names."""
    relative: bool
    """Whether files were read by relative paths."""


@dataclass(frozen=True)
class TestReach:
    """What a test calls."""

    __test__ = False
    code: frozenset[tuple[str, int]]
    """(path, first line) of the project's code that runs; decorators count as the first line."""
    calls: int
    """Calls of the project's code: a measure of a test's cost that is independent of the machine's load."""
    clock: bool
    """Whether it measures time or waits."""


@dataclass
class ProjectRun:
    """The result of one run."""

    results: dict[str, TestResult] = field(default_factory=dict)
    collected: list[str] = field(default_factory=list)
    uncollected: str = ""
    """Why the first uncollected file failed."""
    files_uncollected: int = 0
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Lines by path, by test."""
    reached: dict[str, TestReach] = field(default_factory=dict)
    """What each test calls, if requested."""
    told: dict[tuple[int, str], PinnedValue] = field(default_factory=dict)
    """Results of probes, by number and test (empty without parameters)."""
    running: str = ""
    """The test that was running at the end."""
    stop: tuple[Outcome, str] | None = None
    """Why the run ended early."""
    status: int | None = None
    """pytest's exit status, if it finished."""
    tampered: str = ""
    warmth: CompileCache | None = None
    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    def passed(self, test: str) -> bool:
        """Whether a test was reported as passed."""
        return test in self.results and self.results[test].outcome is Outcome.PASSED

    @property
    def endless(self) -> bool:
        """Whether it ran out of time before its tests were collected."""
        return self.stop is not None and self.stop[0] is Outcome.TIMED_OUT and not self.collected


def continued(
    run: ProjectRun, request: RunRequest, start: Callable[[RunRequest], ProjectRun], most: int
) -> ProjectRun:
    """The run, continued with the remaining tests after one that ended its process, up to `most` times."""
    for _ in range(most):
        if run.stop is None or not run.running:
            break
        more = start(replace(request, left_out={*request.left_out, *run.results, run.running}))
        run.results |= more.results
        run.lines |= more.lines
        run.reached |= more.reached
        run.running, run.stop, run.status = more.running, more.stop, more.status
    return run


def ending(limits: Limits, until: float) -> Limits:
    """The limits, with the wall time capped by the time left until `until`."""
    return replace(limits, wall_seconds=max(_LEAST, min(limits.wall_seconds, until - time.monotonic())))


def with_room(limits: Limits, *, cpu: float, wall: float) -> Limits:
    """An answer's limits extended for pytest, imports and a tree of files."""
    return Limits(
        cpu_seconds=limits.cpu_seconds + cpu,
        wall_seconds=limits.wall_seconds + wall,
        memory_bytes=max(limits.memory_bytes, MEMORY_BYTES),
        open_files=256,
    )


def as_bytes(files: Mapping[str, str]) -> dict[str, bytes]:
    """Texts encoded for writing to disk. Raises VerificationError for a path that leaves the project."""
    for path in files:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts or str(pure) != path or "\0" in path:
            raise VerificationError(f"path {path!r} leaves the project")
    return {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}


class Listener:
    """Reads a run's signed messages; anything unsigned was written by the code under test."""

    def __init__(self, secret: bytes) -> None:
        self.run = ProjectRun()
        self.broken = ""
        self.over = self.heard = False
        self._keyed = hashlib.blake2b(key=secret, digest_size=len(UNSIGNED))
        self._count = 0
        self._reader = FrameReader(RESULT_BYTES)
        self._compiled: dict[str, bytes] = {}
        self._modules: list[str] = []

    def feed(self, data: bytes) -> None:
        """Takes the next bytes; b"" is the end."""
        if not data or self.over:
            self.over = True
            return
        try:
            self._reader.feed(data)
            while not self.over and (body := self._reader.body()) is not None:
                self._take(body)
        except (Malformed, ValueError, KeyError, TypeError, AttributeError):
            self._forged()

    def warmth(self, options: tuple[str, ...]) -> CompileCache:
        """The compiled files and modules that a run with these options sent."""
        return CompileCache(self._compiled, tuple(self._modules), options)

    def _forged(self) -> None:
        self.run.tampered, self.over = "something was written to the tests' channel", True

    def _take(self, body: bytes) -> None:
        signature, message = body[: len(UNSIGNED)], body[len(UNSIGNED) :]
        if signature == UNSIGNED and not self.heard:  # no code of the project has run yet
            self.broken, self.over = str(fields(message)["broken"]), True
            return
        mac = self._keyed.copy()
        mac.update(b"%d:" % self._count + message)
        if not secrets.compare_digest(mac.digest(), signature):
            self._forged()
            return
        self._count += 1
        self.heard = True
        self._handle(fields(message))

    def _handle(self, message: dict[str, Any]) -> None:
        run = self.run
        if "start" in message:
            run.running = message["start"]
        elif "lines" in message:
            run.lines[message["test"]] = {str(path): lines for path, lines in message["lines"].pairs}
        elif "reached" in message:
            code = frozenset((str(path), line) for path, lines in message["reached"].pairs for line in lines)
            run.reached[message["test"]] = TestReach(code, message["calls"], message["clock"])
        elif "ok" in message:
            run.running = ""
            self._test(message)
        elif "collected" in message:
            run.collected = message["collected"]
        elif "collect" in message:
            run.files_uncollected += 1
            run.uncollected = run.uncollected or f"{message['collect']}: {message['x']}"
            if "Overdue: took too long" in message["x"]:
                run.stop = (Outcome.TIMED_OUT, "importing took too long")
        elif "probe" in message:
            lists = tuple(message["reads"]), tuple(message["named"])
            told = PinnedValue(message["v"], message["k"], *lists, message["relative"])
            run.told[message["probe"], message["test"]] = told
        elif "stopped" in message:
            run.stop = (Outcome.TIMED_OUT, message["stopped"])
        elif "tampered" in message:
            run.tampered = f"{message['tampered']} of the test machinery was changed"
        elif "modules" in message:
            self._modules = message["modules"]
        elif "cache" in message:
            self._compiled[message["cache"]] = message["data"]
        elif "done" in message:
            run.status, self.over = message["done"], True

    def _test(self, message: dict[str, Any]) -> None:
        kind = message["x"].partition(":")[0]
        bad = {"MemoryError": Outcome.OUT_OF_MEMORY, "Overdue": Outcome.TIMED_OUT}.get(kind, Outcome.FAILED)
        outcome = Outcome.PASSED if message["ok"] is True else bad
        name, results = message["test"], self.run.results
        result = TestResult(id=name, outcome=outcome, message=message["x"], seconds=message["s"])
        results[name] = worse(results.get(name), result)
