"""The functions of a project that its tests reach, and the tests to judge each by."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from strop.code.mutate.draw import Fault
from strop.code.mutate.python.draw import Draw
from strop.code.mutate.rust.draw import rust_faults, rust_functions
from strop.code.python.routines import Routine, routines
from strop.core.ids import rng
from strop.curation.bugs.rewrites import Offer, Rewriter, Subject, python_subject, rust_subject

if TYPE_CHECKING:
    from strop.verification.project import Project

MOST_TESTS = 50
"""Tests that judge one function, those that reach the least other code first."""
MOST_SECONDS = 4.0
"""CPU seconds that they may take together."""


@dataclass
class Target:
    """One function, and the state of making bugs of it."""

    path: str
    name: str
    text: str
    """Of the whole file."""
    tests: list[str]
    order: Iterator[Offer]
    missed: int = 0
    """Bugs that were no use since the last one that was."""
    kept: int = 0

    @property
    def label(self) -> str:
        """How it is named in a task's source."""
        return f"{self.path}:{self.name}"


def targets(
    project: "Project",
    *,
    seed: int,
    at_once: tuple[int, int],
    max_file_chars: int | None,
    rewriter: Rewriter | None = None,
) -> list[Target]:
    """The functions that steady tests reach, in the order in which they take turns.

    `rewriter`: a model that writes bugs too. Files that are no UTF-8, and those over `max_file_chars`, are left out.
    Raises UserError for a project without tests.
    """
    random = rng("bugs", seed, "functions")
    tests = project.tests()
    files = {}
    for path in project.sources():
        try:
            text = project.text(path)
        except UnicodeDecodeError:
            continue
        if max_file_chars is None or len(text) <= max_file_chars:
            files[path] = text
    if project.language == "rust":
        found = list(_rust(files, tests, seed, rewriter))
    else:
        found = list(_python(project, files, seed, at_once, rewriter))
    random.shuffle(found)
    return found


def _python(
    project: "Project",
    files: dict[str, str],
    seed: int,
    at_once: tuple[int, int],
    rewriter: Rewriter | None,
) -> Iterator[Target]:
    covered = project.coverage()
    width = {test: len(lines) for test, lines in covered.items()}
    reached: dict[tuple[str, int], set[str]] = defaultdict(set)
    for test, lines in covered.items():
        for place in lines:
            reached[place].add(test)
    for path, text in files.items():
        for routine in routines(text):
            body = range(_body(routine), routine.last + 1)
            tests = set().union(*(reached.get((path, line), ()) for line in body))
            ranked = sorted(tests, key=lambda test: (width[test], test))
            chosen = _affordable(ranked, {test: project.baseline[test].seconds for test in ranked})
            if chosen and routine.usable:
                parts = path, routine.name, routine.first
                drawn = partial(_drawn, routine, rng("bugs", seed, *parts), at_once)
                order = _order(drawn, ":".join(map(str, parts)), partial(python_subject, routine), rewriter)
                yield Target(path, routine.name, text, chosen, order)


def _drawn(routine: Routine, random: Random, at_once: tuple[int, int]) -> Iterator[Fault]:
    return Draw(routine, random, at_once).faults()


def _order(
    drawn: Callable[[], Iterator[Fault]],
    key: str,
    subject: Callable[[], Subject | None],
    rewriter: Rewriter | None,
) -> Iterator[Offer]:
    """Drawn when the first is asked for: a large project has thousands of functions."""
    yield from drawn() if rewriter is None else rewriter.offers(subject(), key, drawn())


def _body(routine: Routine) -> int:
    """The first line of the body: lines above it run where the function is defined."""
    node = routine.node
    body = node.child_by_field_name("body") if node is not None else None
    if body is None or node is None or body.start_point[0] == node.start_point[0]:
        return routine.first
    return routine.line(body.start_byte)


def _affordable(ranked: list[str], seconds: dict[str, float]) -> list[str]:
    chosen: list[str] = []
    total = 0.0
    for test in ranked:
        total += seconds[test]
        if chosen and (total > MOST_SECONDS or len(chosen) == MOST_TESTS):
            break
        chosen.append(test)
    return chosen


def _rust(files: dict[str, str], tests: list[str], seed: int, rewriter: Rewriter | None) -> Iterator[Target]:
    for path, text in files.items():
        for function in rust_functions(text):
            drawn = partial(rust_faults, text, function, seed=seed, key=path)
            key = f"{path}:{function.name}:{function.first}"
            order = _order(drawn, key, partial(rust_subject, text, function), rewriter)
            yield Target(path, function.name, text, tests, order)
