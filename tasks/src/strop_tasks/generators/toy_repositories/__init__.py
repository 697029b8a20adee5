"""Generates small Python packages with one bug each: `toy-repositories`.

A repository consists of two to five short modules of functions (templates of functions.py, filled with a domain's
words), and two test files: public tests, which a play may see and run, and hidden ones, which judge. One line of one
function is wrong; a public test fails because of it and names the function.

The task holds the snapshot as a data URI with the correct files; the check's `files` hold the wrong one. Split: by a
hash of the correct source of the broken function, so that it is never on both sides.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from strop.tasks.rows import counted
from strop_tasks.generators.toy_repositories.functions import FUNCTIONS, FunctionTemplate, ToyFault, argument
from strop_tasks.generators.toy_repositories.repository import ToyFunction, ToyRepository, drawn_repository
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.ids import content_hash, rng, unit_interval
from strop_verify.core.snapshots import data_uri, digest_of
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS

NAME = "toy-repositories"
DEFAULT_COUNT = 1000
MOST = 1_000_000
"""Largest COUNT that `load` accepts."""
HELD_OUT = 0.2
"""Share of the broken functions that is held out."""
PUBLIC, HIDDEN = "tests/test_public.py", "tests/test_hidden.py"
LEVEL = 2
FORMAT = "unified-diff"
_DRAWS = 60
"""Number of inputs to draw for a function."""
_SHORT = 68
"""Maximum characters of a call and of a message."""
_STATEMENTS = (
    "A test of `{package}` fails:\n{why}\nFind the bug and mend it.",
    "{why}\nOne line of the package `{package}` is wrong. Find it and mend it.",
    "This test of the package `{package}` fails:\n{why}\nMend the function that it tests.",
    "There is a bug in `{package}`:\n{why}\nOne function is wrong. Mend it.",
)


@dataclass(frozen=True)
class _Case:
    """A call and its value. `why`: pytest's summary of its failure in the broken repository, "" if it passes there."""

    arguments: tuple[Any, ...]
    expected: Any
    why: str


def load(rest: str = "") -> Iterator[Task]:
    """Small Python packages with one bug each: `COUNT[@SEED]`, "" for the default count. Raises UserError."""
    count, seed = counted(NAME, rest, DEFAULT_COUNT, MOST)
    return generate(count, seed=seed)


def generate(count: int, *, seed: int = 0) -> Iterator[Task]:
    """Distinct repositories, every fault about equally often; a smaller count gives a prefix."""
    pairs = [(template, fault) for template in FUNCTIONS for fault in template.faults]
    turn: list[tuple[FunctionTemplate, ToyFault]] = []
    seen: set[str] = set()
    index = 0
    while len(seen) < count:
        if not turn:
            turn = list(pairs)
            rng(NAME, seed, index).shuffle(turn)
        task = _task(*turn.pop(), rng(NAME, seed, index))
        index += 1
        if task is not None and task.id not in seen:
            seen.add(task.id)
            yield task


def _task(template: FunctionTemplate, fault: ToyFault, r: Random) -> Task | None:
    """The task of a drawn repository; None if its bug does not show in a test or is not in exactly one line."""
    repository = drawn_repository(r, template, FUNCTIONS)
    functions = [function for module in repository.modules for function in module.functions]
    if len({function.name for function in functions}) < len(functions):
        return None
    function = next(function for function in functions if function.template is template)
    module = next(module for module in repository.modules if module.name == function.module)
    wrong = template.broken(fault, function.words)
    path, right = repository.path(module.name), module.text(repository.package)
    broken = module.text(repository.package, (function, wrong))
    changed = _changed(right, broken)
    shown, hidden = _cases(repository, function, wrong, r)
    if changed is None or shown is None or hidden is None:
        return None
    others = [other for other in functions if other is not function]
    public, secret = r.sample(others, min(2, len(others))), r.sample(others, min(2, len(others)))
    files, failing, passing = repository.files(), list[str](), list[str]()
    for name, cases, more in ((PUBLIC, [shown], public), (HIDDEN, hidden, secret)):
        tested = [(function, cases), *_with_cases(repository, more, r)]
        files[name], bad, good = _tests(repository, r, name, tested)
        failing += bad
        passing += good
    data = {name: text.encode() for name, text in files.items()}
    why = f"{PUBLIC}::test_{function.name} - {shown.why}"
    statement = r.choice(_STATEMENTS).format(package=repository.package, why=why)
    judge = ProjectCheck(project=data_uri(data), digest=digest_of(data), failing=failing, passing=passing)
    check = EditCheck(format=FORMAT, files={path: broken}, oracle={path: right}, judge=judge)
    key = content_hash([function.source])
    return Task(
        id=content_hash([NAME, judge.digest, statement, broken]),
        family="repair",
        statement=statement,
        reference=FORMATS[FORMAT].render(check.files, {path: right}),
        check=check,
        topic=repository.domain.name,
        level=LEVEL,
        split="held-out" if unit_interval(NAME, key) < HELD_OUT else "train",
        source=f"{NAME}/{fault.kind.replace(' ', '-')}",
        metadata={
            "bug": fault.kind,
            "function": function.name,
            "path": path,
            "line": changed,
            "public_tests": [test for test in (*failing, *passing) if test.startswith(PUBLIC)],
        },
    )


def _changed(right: str, broken: str) -> int | None:
    """The number, from 1, of the only line that differs; None if there are more, or its text occurs twice."""
    before, after = broken.splitlines(), right.splitlines()
    different = [at for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    if len(different) != 1 or before.count(before[different[0]]) > 1:
        return None
    return different[0] + 1


def _cases(
    repository: ToyRepository, function: ToyFunction, wrong: str, r: Random
) -> tuple[_Case | None, list[_Case] | None]:
    """A case that shows the bug, and hidden cases: two that show it and up to two that do not; None if there are too
    few."""
    as_right, as_wrong = repository.called(function.source, function), repository.called(wrong, function)
    bad: dict[str, _Case] = {}
    good: dict[str, _Case] = {}
    for _ in range(_DRAWS):
        arguments = tuple(argument(kind, function.words, r) for kind in function.template.takes)
        (expected, _), (got, raised) = as_right(arguments), as_wrong(arguments)
        equal = "is" if isinstance(expected, bool) else "=="
        same = not raised and got == expected and type(got) is type(expected)
        why = "" if same else raised or f"assert {got!r} {equal} {expected!r}"
        (good if same else bad)[repr(arguments)] = _Case(arguments, expected, why)
    shown = next((case for case in bad.values() if len(case.why) <= _SHORT), None)
    rest = [case for case in bad.values() if case is not shown]
    return shown, [*rest[:2], *list(good.values())[:2]] if len(rest) >= 2 else None


def _with_cases(
    repository: ToyRepository, functions: list[ToyFunction], r: Random
) -> list[tuple[ToyFunction, list[_Case]]]:
    found = []
    for function in functions:
        arguments = tuple(argument(kind, function.words, r) for kind in function.template.takes)
        expected, _ = repository.called(function.source, function)(arguments)
        found.append((function, [_Case(arguments, expected, "")]))
    return found


def _tests(
    repository: ToyRepository,
    r: Random,
    path: str,
    tested: list[tuple[ToyFunction, list[_Case]]],
) -> tuple[str, list[str], list[str]]:
    """A test file with a test for each case, and the failing and the passing tests; hidden tests end in the case's
    number."""
    r.shuffle(tested)
    names: dict[str, list[str]] = {}
    parts, failing, passing = list[str](), list[str](), list[str]()
    for function, cases in tested:
        names.setdefault(f"{repository.package}.{function.module}", []).append(function.name)
        for number, case in enumerate(cases, start=1):
            name = f"test_{function.name}" + (f"_{number}" if path == HIDDEN else "")
            (failing if case.why else passing).append(f"{path}::{name}")
            parts.append(f"def {name}():\n{_body(function, case)}")
    imports = "".join(
        f"from {name} import {', '.join(sorted(found))}\n" for name, found in sorted(names.items())
    )
    return "\n\n".join([imports, *parts]), failing, passing


def _body(function: ToyFunction, case: _Case) -> str:
    """One assertion; a long list is assigned above it, with a line for each item."""
    call = f"{function.name}({', '.join(map(repr, case.arguments))})"
    equal = "is" if isinstance(case.expected, bool) else "=="
    lines = list[str]()
    if len(call) > _SHORT:
        things = function.words["things"]
        lines += [f"    {things} = [", *(f"        {one!r}," for one in case.arguments[0]), "    ]"]
        call = f"{function.name}({', '.join([things, *map(repr, case.arguments[1:])])})"
    return "\n".join([*lines, f"    assert {call} {equal} {case.expected!r}\n"])
