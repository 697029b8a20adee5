"""Runs the reference repeatedly: does it pass every time, in every process, on every day?

The verifier's Python workers share one hash seed, which hides a dependence on the order of a set of strings. So the
reference also runs under other seeds, and, if it reads a clock, with that clock set forward. The pool caches verdicts,
so appended newlines make each run a new text.

Sources of nondeterminism are found by name in the parse tree; a module not known to be deterministic counts too.
"""

import ast
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from strop_tasks.curation.audit.record import AuditSettings, Code, Finding, fatal
from strop_verify.code.python.source import module_of
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

Source = Literal["order", "chance", "clock"]
"""`order`: hashes, addresses and the order of sets, which differ between processes; `clock`: the time of day."""

_CERTAIN = frozenset(
    {
        "__future__", "abc", "array", "ast", "base64", "binascii", "bisect", "calendar", "cmath", "codecs",
        "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions",
        "functools", "hashlib", "heapq", "html", "io", "itertools", "json", "keyword", "math", "numbers", "operator",
        "pprint", "queue", "re", "statistics", "string", "struct", "sys", "textwrap", "time", "types", "typing",
        "typing_extensions", "unicodedata", "urllib", "warnings", "zlib",
    }
)  # fmt: skip
_ORDER = frozenset(
    {"set", "frozenset", "hash", "id", "union", "intersection", "difference", "symmetric_difference"}
)
_CHANCE = frozenset({"eval", "exec", "compile", "__import__", "open", "globals", "locals", "vars", "dir"})
_CLOCK = frozenset(
    {
        "now", "today", "utcnow", "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
        "process_time", "localtime", "gmtime", "ctime", "asctime", "strftime", "clock_gettime",
    }
)  # fmt: skip
_OF_SETS = ast.BitAnd | ast.BitOr | ast.BitXor | ast.Sub
_RUST = re.compile(
    r"\b(HashMap|HashSet|RandomState|DefaultHasher|SystemTime|Instant|thread|spawn|rand|channel|Atomic\w+|static\s+mut)\b|:p\}"
)


@lru_cache(maxsize=64)
def sources_of_chance(code: str, language: str) -> frozenset[Source]:
    """The sources in the code; `chance` for an unknown language, none for code that cannot be parsed."""
    if language == "rust":
        return frozenset({"chance"}) if _RUST.search(code) else frozenset()
    if language != "python":
        return frozenset({"chance"})
    return frozenset(_python(module_of(code)))


def _python(tree: ast.Module) -> Iterator[Source]:
    modules = set(_imported(tree))
    if modules - _CERTAIN:
        yield "chance"
    timed = bool(modules & {"time", "datetime"})
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.SetComp):
            yield "order"
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if isinstance(node, ast.ImportFrom):
            name = next((a.name for a in node.names if a.name in _CLOCK), "")
        if name in _ORDER or _is_view_algebra(node):
            yield "order"
        elif name in _CHANCE and isinstance(node, ast.Name):
            yield "chance"
        elif timed and name in _CLOCK:
            yield "clock"


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def _is_view_algebra(node: ast.AST) -> bool:
    """`a.keys() & b.keys()` and the like make sets."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, _OF_SETS)):
        return False
    called = [side.func for side in (node.left, node.right) if isinstance(side, ast.Call)]
    return any(isinstance(f, ast.Attribute) and f.attr in ("keys", "items") for f in called)


def moved_clock(code: str, seconds: float) -> str | None:
    """The program with its clocks set forward; None if its first line must stay first."""
    if "__future__" in code:
        return None
    return _CLOCKS.replace("SECONDS", repr(seconds)) + code


MOVES = (0.37, 7.0, 3671.0, 86400 * 5 + 1.0, 86400 * 45 + 3.0, 86400 * 400 + 7.5)
"""Seconds by which clocks are set forward: part of a second to more than a year."""

_CLOCKS = """def _strop_move(moved):
    import datetime, time
    for name in ("time", "monotonic", "perf_counter"):
        real, real_ns = getattr(time, name), getattr(time, name + "_ns")
        setattr(time, name, lambda real=real: real() + moved)
        setattr(time, name + "_ns", lambda real=real_ns: real() + int(moved * 10**9))
    for name in ("localtime", "gmtime", "ctime"):
        real = getattr(time, name)
        setattr(time, name, lambda at=None, real=real: real(time.time() if at is None else at))
    formatted = time.strftime
    time.strftime = lambda form, *at: formatted(form, *(at or (time.localtime(),)))
    day, moment, ahead = datetime.date, datetime.datetime, datetime.timedelta(seconds=moved)
    class date(day):
        @classmethod
        def today(cls):
            at = moment.now() + ahead
            return day(at.year, at.month, at.day)
    class datetime_(moment):
        @classmethod
        def now(cls, tz=None):
            return moment.now(tz) + ahead
        @classmethod
        def utcnow(cls):
            return moment.utcnow() + ahead
        @classmethod
        def today(cls):
            return moment.now() + ahead
    date.__name__ = date.__qualname__ = "date"
    datetime_.__name__ = datetime_.__qualname__ = "datetime"
    datetime.date, datetime.datetime = date, datetime_
_strop_move(SECONDS)
"""


SEEDS = 8  # hash seeds besides the verifier's. Two strings swap places in a set under about every second seed
_ADDRESS = re.compile("0x[0-9a-f]+")
_USED_UP = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY)
RUST_RUNS, RUST_CHANCE_RUNS = 2, 8
"""Runs of a Rust reference, each with a build; without and with a source of nondeterminism."""


class Reseeded(dict[int, Verifier]):
    """Verifiers by the hash seed under which their Python runs, opened on first use. Close it."""

    def __init__(self, open_one: Callable[[int], Verifier]) -> None:
        self._open_one = open_one

    def __missing__(self, seed: int) -> Verifier:
        self[seed] = found = self._open_one(seed)
        return found

    def close(self) -> None:
        """Closes every verifier. Safe to call twice."""
        while self:
            self.popitem()[1].close()


@dataclass
class Runs:
    """The runs of one reference after the first."""

    plain: "list[Future[Verdict]]" = field(default_factory=list)
    unmoved: "Future[Verdict] | None" = None
    """A run with a replaced clock that shows the real time."""
    moved: "list[Future[Verdict]]" = field(default_factory=list)

    def futures(self) -> "list[Future[Verdict]]":
        """The futures of all runs after the first."""
        return [*self.plain, *self.moved, *([self.unmoved] if self.unmoved else [])]


def more_runs(
    task: Task, first: Verdict, verifier: Verifier, reseeded: Reseeded, settings: AuditSettings
) -> Runs:
    """Starts the runs after the first; only one if the first was slow."""
    sources = _sources(task)
    if first.outcome in _USED_UP or first.cpu_seconds > settings.cpu_share * settings.cpu_seconds:
        return Runs([verifier.submit(task, again(task.reference, 1))])
    if task.language != "python":
        count = settings.runs
        if task.language == "rust":
            count = min(settings.chance_runs, RUST_CHANCE_RUNS) if sources else min(settings.runs, RUST_RUNS)
        return Runs([verifier.submit(task, again(task.reference, n)) for n in range(1, count)])
    count = settings.chance_runs if sources & {"chance", "clock"} else settings.runs
    if "order" in sources:
        count = max(count, SEEDS + 1)
    runs = Runs()
    for number in range(1, count):
        seed = 1 + (number - 1) % SEEDS
        runs.plain.append(reseeded[seed].submit(task, again(task.reference, (number - 1) // SEEDS)))
    if "clock" in sources:
        control, *texts = [moved_clock(task.reference, move) for move in (0.0, *MOVES)]
        if control is not None:
            runs.unmoved = verifier.submit(task, control)
            runs.moved = [verifier.submit(task, text) for text in texts if text is not None]
    return runs


def _sources(task: Task) -> frozenset[Source]:
    found = sources_of_chance(task.reference, task.language)
    if task.check.answer == "function":  # the tester seeds its `random`
        found |= sources_of_chance(task.check.test_code(), "python") & {"order", "clock"}
    return found


def again(answer: str, number: int) -> str:
    """The same answer as a different text, which the verifier runs again; number 0 is the answer itself."""
    return answer + "\n" * number


def run_findings(first: Verdict, runs: Runs, settings: AuditSettings) -> Iterator[Finding]:
    """`reference-fails`, `flaky` or `unverifiable`, from the verdicts on all runs."""
    verdicts = [first, *(future.result() for future in runs.plain)]
    unknown = next((v for v in verdicts if not v.scored), None)
    if unknown is not None:
        yield fatal("unverifiable", f"the reference: {unknown.detail or 'no verdict'}")
        return
    verdicts = [v for v in verdicts if not _waited(v, settings)]
    failed = [v for v in verdicts if not v.passed]
    if not verdicts:
        cause = "its wall time ran out before its CPU time: it waits, or the machine is too busy"
        yield fatal("unverifiable", f"the reference: {cause}")
    elif failed and len(failed) < len(verdicts) and all(v.outcome in _USED_UP for v in failed):
        code: Code = "slow" if failed[0].outcome is Outcome.TIMED_OUT else "heavy"
        yield fatal(code, "the reference uses up its limits in some runs")
    elif _differ(verdicts, runs, settings):
        yield fatal("flaky", "the reference gives different results in different runs, or at another time")
    elif failed:
        yield fatal("reference-fails", _why(verdicts))


def _differ(verdicts: list[Verdict], runs: Runs, settings: AuditSettings) -> bool:
    """Whether runs disagree: some passed and some failed, failures differ, or a moved clock changes the outcome."""
    passed = verdicts[0].passed
    if any(v.passed is not passed for v in verdicts):
        return True
    if len({_results(v) for v in verdicts if v.outcome is Outcome.FAILED}) > 1:
        return True
    if runs.unmoved is None:
        return False
    replaced = [future.result() for future in (runs.unmoved, *runs.moved)]
    replaced = [v for v in replaced if v.scored and not _waited(v, settings)]
    if passed and not any(v.passed for v in replaced):
        return False  # it does not run at all with a replaced clock
    return any(v.passed is not passed for v in replaced)


def _waited(verdict: Verdict, settings: AuditSettings) -> bool:
    """Whether wall time ended the run, which proves nothing if other runs gave a result."""
    return verdict.outcome is Outcome.TIMED_OUT and verdict.cpu_seconds < settings.cpu_seconds / 2


def _results(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    """The result of each test, without addresses in messages."""
    return tuple((test.outcome.value, _ADDRESS.sub("", test.message)) for test in verdict.tests)


def _why(verdicts: list[Verdict]) -> str:
    """The first run's cause, if the runs agree on it."""
    causes = {_cause(v) for v in verdicts}
    outcomes = sorted({str(v.outcome) for v in verdicts})
    cause = f": {causes.pop()}" if len(causes) == 1 else ""
    return f"the reference does not pass ({' or '.join(outcomes)}){cause}"


def _cause(verdict: Verdict) -> str:
    failed = [f"{t.id}: {t.message}" for t in verdict.tests if t.outcome is not Outcome.PASSED]
    return " ".join((verdict.detail or "; ".join(failed[:1])).split())[:200]


def use_findings(first: Verdict, runs: Runs, settings: AuditSettings) -> Iterator[Finding]:
    """`slow` and `heavy`, from the minimum over runs, since a busy machine can only add to it."""
    verdicts = [first, *(future.result() for future in runs.plain)]
    if min(v.cpu_seconds for v in verdicts) > settings.cpu_share * settings.cpu_seconds:
        text = f"the reference needs more than {settings.cpu_share:.2g} of the CPU limit of {settings.cpu_seconds:g} s"
        yield fatal("slow", text)
    if min(v.peak_bytes for v in verdicts) > settings.memory_share * settings.memory_bytes:
        limit = f"{settings.memory_bytes / 2**20:g} MiB"
        text = f"the reference needs more than {settings.memory_share:.2g} of the memory limit of {limit}"
        yield fatal("heavy", text)
