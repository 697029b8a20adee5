"""Answers that ignore the task and must fail: empty, constants, echoes, exits, and ways to cheat.

For plain cases, constants, echoes and tables of the shown cases are decided here with the comparison that verdicts
use; only answers that need a process become a `Probe` for the verifier. In plain cases the grader compares data outside
the answer's process, so exits and odd objects cannot pass; they are tried only against test code or a checker.
Two plain assertions that demand different values rule out all constant answers, so none is run.
"""

import ast
import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from strop_tasks.curation.audit import cheats
from strop_tasks.curation.audit.record import Finding, Probe, fatal
from strop_verify.code.python.source import UNPARSABLE, module_of
from strop_verify.core.checks import CasesCheck, EditCheck, StdioCheck
from strop_verify.core.checks.base import plain_json
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS, HOLE
from strop_verify.verification.python.codec import Unencodable, encode
from strop_verify.verification.python.compare import matches, same_output
from strop_verify.verification.python.decoder import tree
from strop_verify.verification.python.unordered_equality import matches_in_any_order

CONSTANTS: tuple[Any, ...] = (None, 0, 1, -1, "", [], {}, True, False)
PLACES = ("first", "second", "third")  # arguments that a trivial answer may return


def decided(task: Task) -> Iterator[Finding]:
    """Findings on trivial answers to plain cases, without running them."""
    calls, runs = task.check.maybe(CasesCheck), task.check.maybe(StdioCheck)
    if calls and not calls.checker and calls.cases:
        yield from _of_calls(calls)
    elif runs and not runs.checker and runs.cases:
        yield from _of_programs(runs)


def probes(task: Task) -> Iterator[Probe]:
    """The wrong answers that the verifier must run."""
    check, broken = task.check, task.metadata.get("broken")
    if isinstance(broken, str) and broken.strip():
        yield Probe("broken-passes", "the known-wrong version", broken)
    if task.edit is not None:
        yield from _idle_edit(task.edit)
    elif task.language == "rust" and check.answer == "crate":
        yield from cheats.rust(task)
    elif task.language == "python":
        yield from _of_python(task)


def _of_python(task: Task) -> Iterator[Probe]:
    check, name = task.check, task.check.function
    if calls := check.maybe(CasesCheck):
        if calls.checker:
            yield from _constants(name, [c.expected for c in calls.cases])
            yield from cheats.functions(name)
    elif check.answer == "function":
        code = check.test_code()
        if not check.takes_nothing():
            if constant_possible(name, code):
                yield from _constants(name, [])
            yield from (_echo(name, place) for place in places_possible(name, code))
        yield from cheats.functions(name)
    elif runs := check.maybe(StdioCheck):
        if runs.checker:
            yield from cheats.programs([c.stdout for c in runs.cases if c.shown])
    elif check.answer == "module":
        yield from cheats.modules(task.reference)
    else:
        yield from cheats.programs([])


def _constants(name: str, values: list[Any]) -> Iterator[Probe]:
    for value in dict.fromkeys(map(repr, [*CONSTANTS, *values[:1]])):
        yield Probe("constant-passes", f"`return {value[:60]}`", _function(name, value))
    if values:
        yield from (_echo(name, place) for place in range(len(PLACES)))


def _echo(name: str, place: int) -> Probe:
    code = _function(name, f"args[{place}]")
    return Probe("constant-passes", f"returning the {PLACES[place]} argument", code)


def _function(name: str, value: str) -> str:
    return f"def {name}(*args, **kwargs):\n    return {value}\n"


def _idle_edit(check: EditCheck) -> Iterator[Probe]:
    """The original files with an empty line at the end, or with an empty hole: the judge must reject this edit."""
    path = check.path or next(iter(check.files), "")
    if check.judge is None or path not in check.files or check.format not in FORMATS:
        return
    text = check.files[path]
    idle = text.replace(HOLE, "") if check.format == "infill" and HOLE in text else text + "\n"
    answer = FORMATS[check.format].render(check.files, {**check.files, path: idle})
    yield Probe("broken-passes", "the files without a meaningful change", answer)


def _of_calls(check: CasesCheck) -> Iterator[Finding]:
    compare = matches_in_any_order if check.any_order else matches

    def passes(returned: Iterable[Any]) -> bool:
        pairs = zip(check.cases, returned, strict=False)
        try:
            return all(compare(c.expected, tree(encode(value)), check.tolerance) for c, value in pairs)
        except (IndexError, Unencodable):
            return False

    for value in [*CONSTANTS, *(c.expected for c in check.cases[:1])]:
        if passes(itertools.repeat(value)):
            text = f"the constant answer `return {value!r:.60}` passes"
            yield fatal("constant-passes", text, _function(check.entry_point, repr(value)))
            break
    for number, place in enumerate(PLACES):
        if passes(c.args[number] for c in check.cases):
            text = f"returning the {place} argument passes"
            yield fatal("constant-passes", text, _function(check.entry_point, f"args[{number}]"))
    table = {plain_json([c.args, c.kwargs]): c.expected for c in check.cases if c.shown}
    known = passes(table.get(plain_json([c.args, c.kwargs]), _Nothing) for c in check.cases)
    if known and len(table) < len(check.cases):
        yield fatal("cheat-passes", "a table of the shown cases passes")


_Nothing = object()  # a table's answer to a missing case; it equals no expected value


def _of_programs(check: StdioCheck) -> Iterator[Finding]:
    def passes(printed: Iterable[str | None]) -> bool:
        told = zip(check.cases, printed, strict=False)
        return all(text is not None and same_output(c.stdout, text, check.tolerance) for c, text in told)

    shown = [c.stdout for c in check.cases if c.shown]
    for text in dict.fromkeys(["0", "1", "YES", "NO", "-1", check.cases[0].stdout]):
        if text.strip() and passes(itertools.repeat(text)):
            said = f"the constant answer `print({text!r:.60})` passes"
            yield fatal("constant-passes", said, f"print({text!r}, end='')\n")
            break
    if passes(itertools.repeat("")):
        yield fatal("exit-passes", "a program that does nothing passes", "pass\n")
    if passes(c.stdin for c in check.cases):
        echo = "import sys\nprint(sys.stdin.read(), end='')\n"
        yield fatal("constant-passes", "echoing the input passes", echo)
    table = {c.stdin.strip(): c.stdout for c in check.cases if c.shown}
    if len(shown) > 1 and passes(itertools.repeat("".join(shown))):
        code = f"print({''.join(shown)!r}, end='')\n"
        yield fatal("cheat-passes", "printing all shown outputs passes", code)
    if len(table) < len(check.cases) and passes(table.get(c.stdin.strip()) for c in check.cases):
        yield fatal("cheat-passes", "a table of the shown cases passes")


Demand = tuple[tuple[Any, ...] | None, Any]
"""Literal positional arguments (None if they are not literals), and the demanded value."""


@lru_cache(maxsize=8)
def demands(entry_point: str, code: str) -> tuple[Demand, ...]:
    """The demand of every `assert NAME(ARGUMENTS) == LITERAL`; NAME is the entry point or a function's parameter."""
    tree = module_of(code)
    functions = (f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef))
    names = {entry_point, *(a.arg for f in functions for a in f.args.args)}
    return tuple(itertools.islice(_found(tree, names), 64))


def _found(tree: ast.AST, names: set[str]) -> Iterator[Demand]:
    for node in ast.walk(tree):
        test = node.test if isinstance(node, ast.Assert) else None
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
            continue
        for call, value in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names:
                try:
                    wanted = ast.literal_eval(value)
                except (TypeError, *UNPARSABLE):
                    continue
                yield _arguments(call), wanted


def _arguments(call: ast.Call) -> tuple[Any, ...] | None:
    try:
        return tuple(ast.literal_eval(a) for a in call.args) if not call.keywords else None
    except (TypeError, *UNPARSABLE):
        return None


def constant_possible(entry_point: str, code: str) -> bool:
    """Whether some constant could meet every plain demand."""
    wanted = [value for _, value in demands(entry_point, code)]
    return not wanted or all(_same(wanted[0], value) for value in wanted)


def places_possible(entry_point: str, code: str) -> list[int]:
    """Positions, from 0, of the arguments that could meet every plain demand if an answer returned them."""
    known = [(args, wanted) for args, wanted in demands(entry_point, code) if args is not None]
    most = max((len(args) for args, _ in known), default=len(PLACES))
    return [
        place
        for place in range(min(most, len(PLACES)))
        if all(len(args) <= place or _same(args[place], wanted) for args, wanted in known)
    ]


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except RecursionError:
        return True
