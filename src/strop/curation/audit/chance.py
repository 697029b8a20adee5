"""Sources of chance in a program: what may make it give another result in another run, day or process.

Seen by name, in the parse tree. It errs towards chance: a module that is not known to be free of it counts as one.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from strop.code.python.source import module_of

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
    """What the code touches; all of it for a language that is not known, nothing for code that cannot be parsed."""
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
    """The program with its clocks set forward; None where its first line must stay first."""
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
