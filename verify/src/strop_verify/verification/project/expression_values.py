"""Records the values of the tests' clean expressions in the unedited project, once per task.

Two fresh processes evaluate them; values that differ are dropped, and all values if a run breaks off.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from strop_verify.core.last_used import LastUsed
from strop_verify.core.snapshots import Files
from strop_verify.core.syntax import literal_value, syntax_tree
from strop_verify.verification.project.backend import Backend
from strop_verify.verification.project.library import is_library
from strop_verify.verification.project.pins import FilePins, Place, Values
from strop_verify.verification.project.runs import PinnedValue, RunRequest
from strop_verify.verification.project.syntax_of_tests import by_file


@dataclass(frozen=True)
class Recorded:
    """Values by test file."""

    places: Mapping[str, Place] = field(default_factory=dict)
    """The places whose expressions were evaluated, by the same files."""
    values: Mapping[str, Values] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    """Files that the edit changes: values read from them are not used."""


NOTHING = Recorded()
_known = LastUsed[tuple[str, tuple[str, ...]], Recorded](32)


def recorded_of(digest: str, base: Files, tests: Collection[str], backend: Backend) -> Recorded:
    """The values for these tests of a snapshot; those of the last 32 tasks are kept. Raises WorkerDied."""
    return _known.get((digest, tuple(sorted(tests))), lambda: _found(base, tests, backend))


def _found(base: Files, tests: Collection[str], backend: Backend) -> Recorded:
    places, probes = _asked(base, tests)
    if not probes:
        return NOTHING
    mine = [test for test in tests if test.partition("::")[0] in places]
    request = RunRequest(tests=mine, collect=True, probes=probes)
    runs = [backend.run(request) for _ in range(2)]
    if any(run.stop is not None for run in runs):
        return NOTHING
    first, second = (run.told for run in runs)
    each: list[dict[str, PinnedValue]] = [{} for _ in probes]
    for (number, test), told in first.items():
        if 0 <= number < len(probes) and second.get((number, test)) == told:
            each[number][test] = replace(told, value=_value(told.value))
    values: dict[str, list[dict[str, PinnedValue]]] = {}
    for (home, *_), value in zip(probes, each, strict=True):
        values.setdefault(home, []).append(value)
    return Recorded({home: places[home] for home in values}, values)


def _asked(base: Files, tests: Collection[str]) -> tuple[dict[str, Place], list[tuple[str, str, str, bool]]]:
    hidden = frozenset(part for path in base for part in _modules(path) if is_library(part))
    conftests = (data for path, data in base.items() if path.endswith("conftest.py"))
    helpers = "\n".join(data.decode("utf-8", "replace") for data in conftests)
    places: dict[str, Place] = {}
    probes: list[tuple[str, str, str, bool]] = []
    for home, mine in by_file(base, tests).items():
        place = Place(home, tuple(mine), hidden, helpers)
        try:
            asked = FilePins(syntax_tree(base[home].decode("utf-8", "replace")), place).probes()
        except (SyntaxError, ValueError, RecursionError):
            continue
        if asked:
            places[home] = place
            probes += [(home, one.owner, one.text, one.parameters) for one in asked]
    return places, probes


def _modules(path: str) -> list[str]:
    """Names under which a file of the project can be imported."""
    parts = path.split("/")
    return [*parts[:-1], parts[-1].removesuffix(".py")] if path.endswith(".py") else []


def _value(text: str) -> str:
    """The text if it is a literal, else an empty text."""
    try:
        literal_value(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    return text
