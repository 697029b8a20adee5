"""The pytest plugin for a project's run: reports the tests, how each ended and which lines it reached.

A test passes if its setup, call and teardown pass in time, with the test machinery unchanged.
Standard library only; runs in the jail.
"""

import builtins
import contextlib
import functools
import random
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from strop_verify.verification.project.recording import recorded

_Send = Callable[[dict[str, Any]], None]
_SHOWN = 400
_SLEEP = 10
"""Wall seconds of a test per CPU second of its limit."""
_CLOCKS = (
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
    "process_time_ns", "thread_time", "thread_time_ns", "sleep",
)  # fmt: skip
"""Functions of `time` with which a test measures time or waits."""
_MOST_CALLS = 1_000_000
"""Calls after which a test whose calls are recorded is aborted; unlike time, independent of the machine's load."""
_WATCHED = ("_pytest", "pytest", "pluggy", "unittest.case", "unittest.suite", "unittest.loader")
_PLAIN = (types.FunctionType, types.BuiltinFunctionType, type, classmethod, staticmethod, property)


class Overdue(BaseException):
    """A test took too long."""


class Recorder:
    """Sends messages with "start", "test", "collect", "collected", "lines", "reached", "probe", ... (`runs`)."""

    def __init__(self, send: _Send, guard: "Guard", job: dict[str, Any], top: str) -> None:
        self.send, self.guard = send, guard
        self.wanted = None if job["tests"] is None else frozenset(job["tests"])
        self.left_out = frozenset(job["left_out"])
        self.order: int = job["order"]
        self.only_collect: bool = job["collect"]
        self.probes: list[list[Any]] = job["probes"]
        self.top = top
        self.seconds: float = job["seconds"]
        self.patience: int = job["patience"]
        """Overdue tests before the rest is abandoned; 0 = any number."""
        self.tracer = Tracer(top, job["traced"]) if job["traced"] else None
        self.reach = Reach(top) if job["reach"] else None
        self.failures: dict[str, tuple[str, str]] = {}
        self.phases: dict[str, set[str]] = {}
        self.began = 0.0
        self.session: Any = None
        self.tampered = ""
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, _overdue)
        _alarm(job["loading"])

    def pytest_collectreport(self, report: Any) -> None:
        """Reports a file that cannot be imported."""
        if report.failed:
            self.send({"collect": report.nodeid, "x": str(report.longrepr)[-_SHOWN:]})

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keeps the wanted tests, in the project's order or another one."""
        items[:] = [
            item
            for item in items
            if (self.wanted is None or item.nodeid in self.wanted) and item.nodeid not in self.left_out
        ]
        if self.order:
            _reorder(items, random.Random(self.order))

    def pytest_collection_finish(self, session: Any) -> None:
        """Reports the tests, and the values of the probes."""
        _alarm(0)
        self.session = session
        self._look("")
        if self.wanted is None:
            self.send({"collected": [item.nodeid for item in session.items]})
        if self.probes:
            _alarm(self.seconds)
            for told in recorded(session.items, self.probes, self.top):
                self.send(told)
            _alarm(0)
        if self.only_collect:
            session.items[:] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Starts every test with the same random state and a time limit."""
        self.send({"start": nodeid})
        random.seed(0)
        self.began = process_time()
        _alarm(self.seconds)
        if self.tracer is not None:
            self.tracer.start()
        if self.reach is not None:
            self.reach.start()

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Records why a phase failed."""
        if call.excinfo is not None:
            kind = call.excinfo.typename
            text = ""
            with contextlib.suppress(Exception):
                text = str(call.excinfo.value)
            self.failures.setdefault(item.nodeid, (kind, text[:_SHOWN]))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Counts passed phases; after teardown reports the test."""
        name = report.nodeid
        if report.outcome == "passed" and not hasattr(report, "wasxfail"):
            self.phases.setdefault(name, set()).add(report.when)
        if report.when != "teardown":
            return
        _alarm(0)
        seconds = process_time() - self.began
        if self.tracer is not None:
            self.send({"lines": self.tracer.stop(), "test": name})
        if self.reach is not None:
            self.send({**self.reach.stop(), "test": name})
        self._look(name)
        kind, text = self.failures.get(name, ("", ""))
        passed = self.phases.get(name) == {"setup", "call", "teardown"} and not kind and not self.tampered
        why = "" if passed else f"{kind}: {text}" if kind else "skipped or expected to fail"
        self.send({"test": name, "ok": passed, "x": why, "s": seconds})
        if kind == Overdue.__name__:
            self._give_up()

    def _give_up(self) -> None:
        self.patience -= 1
        if not self.patience:
            self.session.shouldstop = "too many tests took too long"
            self.send({"stopped": "tests took too long"})

    def _look(self, test: str) -> None:
        if not self.tampered and (what := self.guard.changed()):
            self.tampered = what
            self.send({"tampered": what, "test": test})


def _reorder(items: list[Any], drawn: random.Random) -> None:
    """Shuffles files, the classes of a file and the tests of a class; each group stays together."""
    places: dict[str, float] = {}

    def key(item: Any) -> list[float]:
        steps = item.nodeid.partition("[")[0].split("::")
        above = ["::".join(steps[:count]) for count in range(1, len(steps))]
        return [places.setdefault(name, drawn.random()) for name in above] + [drawn.random()]

    items.sort(key=key)


def _alarm(seconds: float) -> None:
    """Raises Overdue after this many CPU seconds, or `_SLEEP` times as many wall seconds; 0 cancels it."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds * _SLEEP)


def _overdue(number: int, frame: types.FrameType | None) -> None:
    raise Overdue("took too long")


class Tracer:
    """Records which lines of `traced` (paths relative to `top`) run between start and stop, in this thread."""

    def __init__(self, top: str, traced: list[str]) -> None:
        self._paths = {f"{top}/{path}": path for path in traced}
        self._left: dict[types.CodeType, set[int]] = {}
        self._seen: dict[str, set[int]] = {}

    def start(self) -> None:
        """Starts recording, with no line seen."""
        self._left, self._seen = {}, {}
        sys.settrace(self._call)

    def stop(self) -> dict[str, list[int]]:
        """Stops recording; returns the lines by path."""
        sys.settrace(None)
        return {path: sorted(lines) for path, lines in self._seen.items()}

    def _call(self, frame: types.FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            path = self._paths.get(code.co_filename)
            left = set() if path is None else set(_lines(code))
            self._left[code] = left
            if path is not None:
                self._seen.setdefault(path, set()).add(code.co_firstlineno)
        return self._line if left else None

    def _line(self, frame: types.FrameType, event: str, argument: object) -> Callable[..., Any]:
        if event == "line":
            code = frame.f_code
            left = self._left[code]
            if frame.f_lineno in left:
                left.discard(frame.f_lineno)
                self._seen[self._paths[code.co_filename]].add(frame.f_lineno)
            if not left:
                frame.f_trace_lines = False
        return self._line


class Reach:
    """Records which code below `top` is called between start and stop, how often, and whether a clock is read.

    Only calls in this thread count. Clocks that were imported by name before it was made are not seen.
    """

    def __init__(self, top: str) -> None:
        self._top = top + "/"
        self._calls: dict[int, int] = {}
        self._codes: dict[int, types.CodeType] = {}
        self.clocks = 0
        for name in _CLOCKS:
            setattr(time, name, functools.partial(self._read, getattr(time, name)))

    def start(self) -> None:
        """Starts recording, with nothing seen."""
        self.clocks = 0
        calls: dict[int, int] = {}
        codes: dict[int, types.CodeType] = {}
        self._calls, self._codes = calls, codes
        left = _MOST_CALLS

        def call(frame: types.FrameType, event: str, argument: object) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise Overdue("makes too many calls")
            code = frame.f_code
            key = id(code)
            if key in calls:
                calls[key] += 1
            else:
                calls[key], codes[key] = 1, code

        sys.settrace(call)

    def stop(self) -> dict[str, Any]:
        """Stops. "reached": first lines of code by path, "calls": their number, "clock": whether time was measured."""
        sys.settrace(None)
        reached: dict[str, set[int]] = {}
        total, timed = 0, self.clocks > 0
        for key, code in self._codes.items():
            if code.co_filename.startswith(self._top):
                reached.setdefault(code.co_filename[len(self._top) :], set()).add(code.co_firstlineno)
                total += self._calls[key]
            timed = timed or code.co_filename.endswith("/timeit.py")
        return {
            "reached": {path: sorted(lines) for path, lines in reached.items()},
            "calls": total,
            "clock": timed,
        }

    def _read(self, clock: Callable[..., Any], /, *arguments: Any) -> Any:
        self.clocks += 1
        return clock(*arguments)


def _lines(code: types.CodeType) -> Iterator[int]:
    return (line for _, _, line in code.co_lines() if line)


class Guard:
    """Detects changes of the test machinery since its creation: pytest, pluggy, unittest, builtins.

    It shares the process with the code that it watches, so it stops only simple attacks.
    """

    def __init__(self) -> None:
        self._members: list[tuple[Any, str, Any]] = []
        self._spaces: list[tuple[Any, frozenset[str]]] = []
        self._codes: list[tuple[types.FunctionType, types.CodeType]] = []
        self._legacy: list[object] = []
        """Functions that pytest itself patches in during a session."""
        self._remember(builtins)
        for name, module in list(sys.modules.items()):
            if name.startswith(("_pytest.", "pluggy.")) or name in _WATCHED:
                self._remember(module)
            if name == "_pytest.legacypath":
                self._legacy = [f for f in vars(module).values() if isinstance(f, types.FunctionType)]

    def changed(self) -> str:
        """The name of something that has changed, or an empty text."""
        for space, name, value in self._members:
            if (now := space.get(name)) is not value and not self._is_legacy(now):
                return name
        for space, names in self._spaces:
            if len(space) != len(names):
                for name in space.keys() - names:
                    if isinstance(space[name], _PLAIN) and not self._is_legacy(space[name]):
                        return str(name)
        for function, code in self._codes:
            if function.__code__ is not code:
                return function.__qualname__
        return ""

    def _is_legacy(self, value: object) -> bool:
        inner = value.fget if isinstance(value, property) else value
        return any(inner is known for known in self._legacy)

    def _remember(self, module: types.ModuleType) -> None:
        space = vars(module)
        for name, value in list(space.items()):
            if not isinstance(value, _PLAIN):
                continue
            self._members.append((space, name, value))
            if isinstance(value, types.FunctionType):
                self._codes.append((value, value.__code__))
            elif isinstance(value, type) and value.__module__ == module.__name__ != "builtins":
                self._remember_class(value)

    def _remember_class(self, kind: type) -> None:
        space = kind.__dict__
        self._spaces.append((space, frozenset(space)))
        for name, value in list(space.items()):
            if isinstance(value, _PLAIN):
                self._members.append((space, name, value))
            inner = getattr(value, "__func__", value)
            if isinstance(inner, types.FunctionType):
                self._codes.append((inner, inner.__code__))
