"""The asking side of `runner`: one jailed process, and runs of tests on trees of files in it.

What a run needs crosses as bytes: the jail never holds the snapshot, only the tree that is judged. Compiled files and
the list of modules to import ahead come from one run of the unchanged snapshot, and make later runs quick; compiled
files of what a run changes are left out.
"""

import base64
import hashlib
import json
import os
import secrets
import shutil
import site
import socket
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from strop.core.errors import VerificationError, WorkerDied
from strop.core.verdict import Outcome, TestResult
from strop.sandbox.jails import choose
from strop.sandbox.limits import Limits
from strop.sandbox.pump import Capture, Pump
from strop.verification.project.layout import Layout, layout_of
from strop.verification.python.child import End, cause_of_death, reap
from strop.verification.python.codec import Malformed
from strop.verification.python.server import Server
from strop.verification.python.suite.check import packages
from strop.verification.python.wire import FrameReader, frame

MEMORY_BYTES = 3 << 30
"""Address space of a run's process at the least, in bytes."""
RESULT_BYTES = 512 << 20
PLAIN = ("-o", "addopts=", "-o", "required_plugins=")
"""What a project asks pytest for on its command line is left out: it mostly names plugins that are not here."""
BARE = ("-c", "/dev/null")
"""No configuration of the project at all, where pytest refuses the one it has."""
_USAGE, _INTERNAL, _EMPTY = 4, 3, 5


@dataclass(frozen=True)
class Warmth:
    """What one run of the unchanged snapshot left behind to make others quick."""

    compiled: dict[str, bytes] = field(default_factory=dict)
    """Path to content of compiled files."""
    modules: tuple[str, ...] = ()
    """Modules of Python and of the environment that the project imports."""
    options: tuple[str, ...] = PLAIN


@dataclass(frozen=True)
class Request:
    """One run of tests."""

    tests: Collection[str] | None = None
    """Node ids; None = all that pytest finds."""
    left_out: Collection[str] = ()
    collect: bool = False
    """Only find out which tests there are."""
    seconds: float = 5.0
    """CPU seconds that a test may take; 0 = no bound."""
    loading: float = 0.0
    """CPU seconds that importing and collecting may take; 0 = no bound."""
    patience: int = 0
    """Tests that may take too long before the rest is given up; 0 = any number."""
    traced: Sequence[str] = ()
    """Files whose lines that each test reaches are recorded."""
    keep: bool = False
    """Bring back compiled files and names of modules; only for trees that are trusted."""


@dataclass
class Run:
    """What was seen of one run."""

    results: dict[str, TestResult] = field(default_factory=dict)
    collected: list[str] = field(default_factory=list)
    uncollected: str = ""
    """Why a file could not be collected, the first one."""
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Test to path to lines."""
    running: str = ""
    """The test that was under way at the end."""
    stop: tuple[Outcome, str] | None = None
    """What ended the run before its time."""
    status: int | None = None
    """pytest's exit status, if it came to its end."""
    tampered: str = ""
    warmth: Warmth | None = None
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


class _Listener:
    """Takes a run's signed messages."""

    def __init__(self, secret: bytes) -> None:
        self.run = Run()
        self.broken = ""
        self.over = self.heard = False
        self._keyed = hashlib.blake2b(key=secret, digest_size=16)
        self._count = 0
        self._reader = FrameReader(RESULT_BYTES)
        self._compiled: dict[str, bytes] = {}
        self._modules: list[str] = []

    def feed(self, data: bytes) -> None:
        """The next bytes; b"" is the end."""
        if not data or self.over:
            self.over = True
            return
        try:
            self._reader.feed(data)
            while not self.over and (message := self._reader.next()) is not None:
                self._take(message)
        except (Malformed, ValueError, KeyError, TypeError, RecursionError):
            self._forged()

    def warmth(self) -> Warmth:
        """What the run left behind."""
        return Warmth(self._compiled, tuple(self._modules))

    def _forged(self) -> None:
        self.run.tampered, self.over = "something was written to the tests' channel", True

    def _take(self, message: dict[str, Any]) -> None:
        if "broken" in message and not self.heard:  # nothing of the project has run yet
            self.broken, self.over = str(message["broken"]), True
            return
        text = message["p"]
        mac = self._keyed.copy()
        mac.update(b"%d:" % self._count + text.encode("ascii"))
        if not secrets.compare_digest(mac.hexdigest(), str(message["a"])):
            self._forged()
            return
        self._count += 1
        self.heard = True
        self._handle(json.loads(text))

    def _handle(self, said: dict[str, Any]) -> None:
        run = self.run
        if "start" in said:
            run.running = said["start"]
        elif "lines" in said:
            run.lines[said["test"]] = said["lines"]
        elif "ok" in said:
            run.running = ""
            self._test(said)
        elif "collected" in said:
            run.collected = said["collected"]
        elif "collect" in said:
            run.uncollected = run.uncollected or f"{said['collect']}: {said['x']}"
            if "Overdue: took too long" in said["x"]:
                run.stop = (Outcome.TIMED_OUT, "importing took too long")
        elif "stopped" in said:
            run.stop = (Outcome.TIMED_OUT, said["stopped"])
        elif "tampered" in said:
            run.tampered = f"{said['tampered']} of the test machinery was changed"
        elif "modules" in said:
            self._modules = said["modules"]
        elif "cache" in said:
            self._compiled[said["cache"]] = base64.b64decode(said["data"])
        elif "done" in said:
            run.status, self.over = said["done"], True

    def _test(self, said: dict[str, Any]) -> None:
        kind = said["x"].partition(":")[0]
        bad = {"MemoryError": Outcome.OUT_OF_MEMORY, "Overdue": Outcome.TIMED_OUT}.get(kind, Outcome.FAILED)
        outcome = Outcome.PASSED if said["ok"] is True else bad
        name = said["test"]
        if name in self.run.results:  # reported twice: the worse counts
            before = self.run.results[name]
            outcome = outcome if before.outcome is Outcome.PASSED else before.outcome
        self.run.results[name] = TestResult(id=name, outcome=outcome, message=said["x"], seconds=said["s"])


class Session:
    """One jailed process for one project. Used by one thread, which must also start it.

    base    the snapshot's files
    warmth  of an earlier session of the same snapshot
    """

    def __init__(
        self,
        base: Mapping[str, bytes],
        *,
        jail: str = "auto",
        allow_unsafe: bool = False,
        warmth: Warmth | None = None,
        hash_seed: int = 0,
    ) -> None:
        self.base, self.warm = base, warmth or Warmth()
        self.layout: Layout = layout_of(base)
        chosen = choose(jail)
        self._own_root = chosen.namespaces or bool(chosen.launcher)
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self._path = "/box" if self._own_root else tempfile.mkdtemp(prefix="strop-project-", dir=parent)
        folders = environment()
        ahead = [name for name in self.warm.modules if name.partition(".")[0] not in self.layout.own]
        try:
            self._server = Server(
                "strop.verification.project.runner",
                jail=jail,
                allow_unsafe=allow_unsafe,
                arguments=(self._path, json.dumps(folders), json.dumps(ahead)),
                read=tuple(folders),
                work=self._path if self._own_root else "",
                hash_seed=hash_seed,
            )
        except BaseException:
            self._clear()
            raise

    @property
    def closed(self) -> bool:
        """Whether its process is gone."""
        return self._server.closed

    def close(self) -> None:
        """Ends the process and removes its folder. Safe to call twice, from any thread."""
        self._server.close()
        self._clear()

    def run(
        self,
        request: Request,
        limits: Limits,
        *,
        files: Mapping[str, bytes] | None = None,
        removed: Collection[str] = (),
    ) -> Run:
        """One run on the snapshot with `files` in it and `removed` gone. Raises WorkerDied when the process broke."""
        tree = self._tree(files or {}, removed)
        secret = secrets.token_bytes(32)
        listener, pump = _Listener(secret), Pump(limits)
        ours, theirs = socket.socketpair()
        try:
            asked = {"op": "fork", "limits": asdict(limits)}
            pid = self._server.ask(asked, [theirs.fileno()])["pid"]
            theirs.close()
            pump.watch(pid, fresh=True)
            pump.read(ours.fileno(), listener.feed)
            pump.write(ours.fileno(), frame(self._job(request, tree, secret)) + b"".join(tree.values()))
            while not listener.over and pump.step():
                pass
            pump.drain(ours.fileno())
            end = reap(
                self._server,
                kill=True if pump.expired or listener.run.tampered else listener.run.status is None,
            )
        except WorkerDied:
            self.close()
            raise
        finally:
            ours.close()
            theirs.close()
        return self._concluded(listener, pump, end, request)

    def _concluded(self, listener: _Listener, pump: Pump, end: End, request: Request) -> Run:
        run = listener.run
        if listener.broken:
            self.close()
            raise WorkerDied(f"the tests' process could not begin: {listener.broken}")
        run.cpu_seconds, run.peak_bytes = end.cpu, end.peak
        if run.tampered:
            run.stop = (Outcome.TAMPERED, run.tampered)
        elif run.status is None and run.stop is None:
            run.stop = cause_of_death(end, pump, (Capture(1),))
        elif run.status == _INTERNAL and run.stop is None:
            run.stop = (Outcome.FAILED, "pytest broke off")
        if request.keep and run.stop is None:
            warm = listener.warmth()
            run.warmth = Warmth(warm.compiled, warm.modules, self.warm.options)
        return run

    def _tree(self, files: Mapping[str, bytes], removed: Collection[str]) -> dict[str, bytes]:
        changed = {*files, *removed}
        tree = {path: data for path, data in {**self.base, **files}.items() if path not in removed}
        tree |= self.layout.extra
        stale = {_cache_stem(path) for path in changed}
        for path, data in self.warm.compiled.items():
            stem = path.rpartition("/")[0], PurePosixPath(path).name.partition(".")[0]
            if stem not in stale:
                tree[path] = data
        return tree

    def _job(self, request: Request, tree: Mapping[str, bytes], secret: bytes) -> dict[str, Any]:
        arguments = [] if request.tests is None else _arguments(request.tests)
        return {
            "files": [[path, len(data)] for path, data in tree.items()],
            "tests": None if request.tests is None else sorted(request.tests),
            "left_out": sorted(request.left_out),
            "collect": request.collect,
            "seconds": request.seconds,
            "loading": request.loading,
            "patience": request.patience,
            "traced": list(request.traced),
            "roots": list(self.layout.roots),
            "own": sorted(self.layout.own),
            "options": list(self.warm.options),
            "arguments": arguments,
            "keep": request.keep,
            "secret": secret.hex(),
        }

    def _clear(self) -> None:
        if not self._own_root:
            shutil.rmtree(self._path, ignore_errors=True)


def warm_up(
    base: Mapping[str, bytes], limits: Limits, *, jail: str, allow_unsafe: bool
) -> tuple[Warmth, Run]:
    """Collects the snapshot's tests once; returns what makes later sessions quick, and that run. Raises WorkerDied."""
    run = Run()
    for options in (PLAIN, BARE):
        session = Session(base, jail=jail, allow_unsafe=allow_unsafe, warmth=Warmth(options=options))
        try:
            run = session.run(Request(collect=True, keep=True, seconds=0), limits)
        finally:
            session.close()
        if run.collected or run.status not in (_USAGE, _INTERNAL, None):
            break
    return run.warmth or Warmth(), run


def environment() -> list[str]:
    """Folders of the packages that tests may import: those of the Python that runs Strop.

    Raises VerificationError where pytest is not installed.
    """
    found = [
        *packages(),
        *site.getsitepackages(),
        *([site.getusersitepackages()] if site.ENABLE_USER_SITE else []),
    ]
    on_path = {os.path.realpath(entry) for entry in sys.path if entry}
    return list(
        dict.fromkeys(str(Path(f)) for f in found if os.path.isdir(f) and os.path.realpath(f) in on_path)
    )


def with_room(limits: Limits, *, cpu: float, wall: float) -> Limits:
    """Limits of a run: those of an answer, with room for pytest, imports and a tree of files."""
    return Limits(
        cpu_seconds=limits.cpu_seconds + cpu,
        wall_seconds=limits.wall_seconds + wall,
        memory_bytes=max(limits.memory_bytes, MEMORY_BYTES),
        open_files=256,
    )


def as_bytes(files: Mapping[str, str]) -> dict[str, bytes]:
    """Texts as they are written to disk. Raises VerificationError for a path that leaves the project."""
    for path in files:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts or str(pure) != path or "\0" in path:
            raise VerificationError(f"path {path!r} leaves the project")
    return {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}


def _cache_stem(path: str) -> tuple[str, str]:
    pure = PurePosixPath(path)
    folder = str(pure.parent)
    return ("__pycache__" if folder == "." else f"{folder}/__pycache__"), pure.name.partition(".")[0]


def _arguments(tests: Collection[str]) -> list[str]:
    """What pytest collects for these tests: functions without their parameters, so that no odd text is on its way."""
    return list(dict.fromkeys(test.partition("[")[0] for test in sorted(tests)))
