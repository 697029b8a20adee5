"""The functions of a project that its tests reach, and the tests that judge each.

Tests run once to find which functions they reach, in waves until there are enough functions. A function is judged
by the tests that call the least code, from as many test functions as possible; a test judges if it passes in three
runs, one in another order and one with another hash seed, and neither measures time nor waits. None of this depends
on the machine's speed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from strop_tasks.curation.bugs.rewrites import Offer, Rewriter, Subject, python_subject, rust_subject
from strop_tasks.curation.bugs.undone_fixes import Undone, undone_fixes
from strop_tasks.curation.engine.tally import Tally
from strop_tasks.curation.faults.draw import Fault, routine_faults, rust_faults, rust_functions
from strop_tasks.curation.faults.routines import RoutinePlace, places
from strop_verify.core.errors import UserError
from strop_verify.core.ids import rng

if TYPE_CHECKING:
    from strop_verify.verification.project import Project
    from strop_verify.verification.project.runs import TestReach

MOST_TESTS = 50  # maximum tests that judge one function
LEAST_TESTS = 3  # functions with fewer come last
MOST_CALLS = 2_000_000  # maximum calls of the project's code by these tests together: a few seconds
MOST_NAME = 400  # maximum characters of a judging test's name
MOST_FILE = 60_000  # default maximum characters of a file, which a task holds twice
BATCH = 32  # functions whose tests are checked for steadiness together
_EXAMPLES = frozenset(
    {"example", "examples", "demo", "demos", "sample", "samples", "benchmark", "benchmarks"}
)
_BESIDE = frozenset({"doc", "docs", "scripts", "script", "tools", "bench", "tasks", "ci", "admin"})
"""Top-level folders without source code of the project."""


@dataclass
class Target:
    """One function, and the progress of making bugs in it."""

    path: str
    name: str
    text: str
    """The text of the whole file."""
    tests: list[str]
    """Tests that may judge it; once `ready`, only those that do."""
    order: Iterator[Offer]
    ready: bool = True
    missed: int = 0
    """Useless bugs since the last kept one."""
    kept: int = 0
    commit: str = ""
    """The commit whose fix is undone."""

    @property
    def label(self) -> str:
        """Its name in a task's source."""
        return f"{self.path}:{self.name}"


_Placed = tuple[tuple[str, int], Target]
"""A function, by its file and first line; functions of an undone fix, by the file and a number."""


@dataclass(frozen=True)
class _Spot:
    """A site for bugs: a function, or the functions that one fix changed."""

    number: int  # the function's first line; if negative, the number of the file's fix
    places: list[RoutinePlace]
    undone: Undone | None = None

    @property
    def name(self) -> str:
        return ", ".join(place.name for place in self.places)

    def holds(self, line: int) -> bool:
        return any(place.holds(line) for place in self.places)


@dataclass
class Targets:
    """The functions of one project that steady tests reach. Used once."""

    project: "Project"
    seed: int
    at_once: tuple[int, int]
    """Minimum and maximum number of faults per bug."""
    tally: Tally
    max_file_chars: int | None = None
    rewriter: Rewriter | None = None
    """A model that also writes bugs."""
    enough: int = 200
    """Functions to find before the first bug is made."""
    undo: str = ""
    """A git history; undoing its fixes replaces all other bugs."""
    tell: Callable[[str], None] = lambda text: None
    """Receives the current activity every second."""

    def batches(self) -> Iterator[list[Target]]:
        """The functions in turn order; more are found when the earlier ones run out of bugs.

        Raises UserError for a project without tests.
        """
        files = self._files()
        if self.project.language == "rust":
            if self.undo:
                raise UserError("fixes can be undone only in Python projects")
            found = list(_rust(files, self.project.tests(), self.seed, self.rewriter))
            yield self._mixed(found)
            return
        known = self._spots({path: places(text) for path, text in files.items()}, files)
        given: set[tuple[str, int]] = set()
        more = True
        while more:
            more = self.project.look(self.seed, self.tell)
            rich, poor = self._reached(files, known, given)
            if rich and (len(rich) >= self.enough or not more):
                given |= {place for place, _ in rich}
                yield self._mixed([target for _, target in rich])
        if not self.project.reached:
            raise self.project.none_passes()
        yield self._mixed([target for _, target in poor])

    def prepare(self, targets: list[Target]) -> None:
        """Removes unsteady tests from the functions."""
        asked = {name: None for target in targets for name in target.tests}
        steady = self.project.steady(asked, self.tell)
        for target in targets:
            target.tests, target.ready = [name for name in target.tests if name in steady], True

    def _mixed(self, found: list[Target]) -> list[Target]:
        rng("bugs", self.seed, "functions").shuffle(found)
        return found

    def _files(self) -> dict[str, str]:
        """The files that bugs may be put into; the others are counted."""
        files, most = {}, self.max_file_chars or MOST_FILE
        skipped = self.tally.skipped
        for path in self.project.sources():
            folders = PurePosixPath(path).parts[:-1]
            try:
                text = self.project.text(path)
            except UnicodeDecodeError:
                skipped["files that are not UTF-8"] += 1
                continue
            if _EXAMPLES.intersection(folders) or _BESIDE.intersection(folders[:1]):
                skipped["files of examples, documentation or tools"] += 1
            elif len(text) > most:
                skipped[f"files of more than {most} characters"] += 1
            else:
                files[path] = text
        return files

    def _reached(
        self, files: Mapping[str, str], known: Mapping[str, list[_Spot]], given: set[tuple[str, int]]
    ) -> tuple[list[_Placed], list[_Placed]]:
        """The new functions: those with enough tests, and the others."""
        by_place: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for test, reach in self.project.reached.items():
            if not reach.clock and len(test) <= MOST_NAME:
                for path, line in reach.code:
                    by_place[path][line].append(test)
        rich: list[_Placed] = []
        poor: list[_Placed] = []
        for path, text in files.items():
            lines = by_place.get(path)
            for spot in known[path] if lines else ():
                if lines is None or (path, spot.number) in given:
                    continue
                tests = {test for line, tests in lines.items() if spot.holds(line) for test in tests}
                if tests:
                    target = self._target(path, text, spot, judges(tests, self.project.reached))
                    (rich if len(target.tests) >= LEAST_TESTS else poor).append(((path, spot.number), target))
        return rich, poor

    def _spots(
        self, known: Mapping[str, list[RoutinePlace]], files: Mapping[str, str]
    ) -> dict[str, list[_Spot]]:
        """Sites for bugs by file."""
        if not self.undo:
            return {path: [_Spot(place.first, [place]) for place in found] for path, found in known.items()}
        self.tell("reading history")
        spots: dict[str, list[_Spot]] = {path: [] for path in files}
        for path, found in undone_fixes(self.undo, files, self.tally).items():
            for number, one in enumerate(found, 1):
                touched = [place for place in known[path] if one.touches(place)]
                if touched:
                    spots[path].append(_Spot(-number, touched, one))
                else:
                    self.tally.skipped["commits that change no function"] += 1
        return spots

    def _target(self, path: str, text: str, spot: _Spot, tests: list[str]) -> Target:
        if one := spot.undone:
            fault = one.fault(spot.name)
            return Target(path, spot.name, text, tests, iter([fault]), ready=False, commit=one.commit)
        (place,) = spot.places
        key = path, place.name, place.first

        def order() -> Iterator[Offer]:
            routine = place.routine()
            if routine.usable:
                drawn = partial(routine_faults, routine, rng("bugs", self.seed, *key), self.at_once)
                subject = partial(python_subject, routine)
                yield from _order(drawn, ":".join(map(str, key)), subject, self.rewriter)

        return Target(path, place.name, text, tests, order(), ready=False)


def judges(tests: set[str], reached: "Mapping[str, TestReach]") -> list[str]:
    """The tests that judge: fewest calls first, with one case of each test function before a second of any."""
    rounds: dict[str, int] = defaultdict(int)
    ranked: list[tuple[int, int, str]] = []
    for calls, name in sorted((reached[name].calls, name) for name in tests):
        function = name.partition("[")[0]
        ranked.append((rounds[function], calls, name))
        rounds[function] += 1
    chosen: list[str] = []
    total = 0
    for _, calls, name in sorted(ranked):
        if len(chosen) == MOST_TESTS:
            break
        if total + calls <= MOST_CALLS:
            chosen.append(name)
            total += calls
    return chosen


def _order(
    drawn: Callable[[], Iterator[Fault]],
    key: str,
    subject: Callable[[], Subject | None],
    rewriter: Rewriter | None,
) -> Iterator[Offer]:
    """Drawn on first use: a large project has thousands of functions."""
    yield from drawn() if rewriter is None else rewriter.offers(subject(), key, drawn())


def _rust(files: dict[str, str], tests: list[str], seed: int, rewriter: Rewriter | None) -> Iterator[Target]:
    for path, text in files.items():
        for function in rust_functions(text):
            drawn = partial(rust_faults, text, function, seed=seed, key=path)
            key = f"{path}:{function.name}:{function.first}"
            order = _order(drawn, key, partial(rust_subject, text, function), rewriter)
            yield Target(path, function.name, text, tests, order)
