"""The tiers: which one a test is in, what of the dear ones a short run draws, and what runs one after another."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch

import pytest

TIERS = {
    "unit": "in this process or in short commands of ours; no jail, no model",
    "jail": "programs of tasks run in the jail",
    "rust": "needs a Rust toolchain",
    "train": "a model is trained, or answers",
    "browser": "a page is looked at in Chromium",
    "soak": "long loops: kills and resumes, thousands of cases, whole attack sweeps",
}
BUDGETS = {"rust": 35.0, "train": 45.0, "browser": 30.0, "soak": 40.0}
"""Seconds of one core that a short run spends on each tier it draws from; the other tiers run whole."""
SECONDS = {"rust": 3.0, "train": 6.0, "browser": 3.0, "soak": 12.0}
"""What a test costs whose marker does not say it: `@pytest.mark.soak(40)` is one of about 40 seconds."""
TABLE = 6
"""Of a table of the jail a short run tries half of the cases, or so many."""
SHARED = ("slurm", "six_steps", "undisturbed")
"""Fixtures that take long to make and serve the tests of several files."""
SHARED_IN_A_FILE = ("built", "history", "sharded")
"""The same, for those of one file."""

FIXTURES = {"browser": "browser", "verifier": "jail"}
"""A test without a marker that uses one of them is of that tier."""
PLACES = (
    # The first pattern that fits a test's path is its tier, where no marker says another.
    ("tests/attacks/*", "jail"),
    ("tests/cli/*", "jail"),
    ("tests/curation/*", "jail"),
    ("tests/repair/*", "jail"),
    ("tests/rollouts/*", "jail"),
    ("tests/sandbox/*", "jail"),
    ("tests/training/*", "train"),
    ("tests/verification/*", "jail"),
    ("tests/*", "unit"),
)
MACHINE = (
    "tests/attacks/*",
    "tests/sandbox/*",
    "tests/verification/*processes.py",
    "tests/verification/*kill.py",
)
"""They watch clocks, /proc or what is left on the machine: one after another, in one process."""


def tiers(item: pytest.Item) -> set[str]:
    """What the nearest marker says (of the test, its class, its file), else what it uses or where it lies."""
    for node in reversed(item.listchain()):
        if named := {mark.name for mark in node.own_markers} & TIERS.keys():
            return named
    for fixture, name in FIXTURES.items():
        if fixture in getattr(item, "fixturenames", ()):
            return {name}
    path = item.nodeid.partition("::")[0]
    return {next((tier for pattern, tier in PLACES if fnmatch(path, pattern)), "unit")}


def tier(item: pytest.Item) -> str:
    """The one tier of a test."""
    return min(tiers(item))


def seconds(item: pytest.Item) -> float:
    """What its tier's marker says that it costs."""
    mark = item.get_closest_marker(tier(item))
    return float(mark.args[0]) if mark and mark.args else SECONDS.get(tier(item), 0.0)


def table(item: pytest.Item) -> str:
    """Its tier, and the test of which it is a case."""
    return f"{tier(item)} {item.nodeid.partition('[')[0]}"


def drawn(items: Sequence[pytest.Item], seed: str) -> list[pytest.Item]:
    """All of the unit tier, half of each table of the jail, and of each other tier as many tests as its budget holds,
    in an order that the seed decides. The first is taken whatever it costs; what costs more than a budget has its turn
    so much the seldomer.
    """
    spent = dict.fromkeys(BUDGETS, 0.0)
    cases, tried = Counter(map(table, items)), Counter[str]()
    chosen = set()
    lots = {item: hashlib.sha256(f"{seed} {item.nodeid}".encode()).digest() for item in items}
    for item in sorted(items, key=lots.__getitem__):
        name = tier(item)
        if name in BUDGETS:
            if spent[name] and spent[name] + seconds(item) > BUDGETS[name]:
                continue
            if lots[item][-1] / 256 * seconds(item) > BUDGETS[name]:
                continue
            spent[name] += seconds(item)
        elif name == "jail":
            tried[table(item)] += 1
            if tried[table(item)] > max(TABLE, (cases[table(item)] + 1) // 2):
                continue
        chosen.add(item)
    return [item for item in items if item in chosen]


def group(item: pytest.Item) -> str | None:
    """The name of the tests that one process must run: the machine's watchers; those that share what takes long to
    make; those of a file that share pages.
    """
    path = item.nodeid.partition("::")[0]
    if any(fnmatch(path, pattern) for pattern in MACHINE):
        return "machine"
    used = getattr(item, "fixturenames", ())
    for fixture in SHARED:
        if fixture in used:
            return fixture.replace("_", " ")
    return path if tier(item) == "browser" or not {*used}.isdisjoint(SHARED_IN_A_FILE) else None


def dear_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Several processes end together when what is short comes last."""
    order = ["soak", "train", "browser", "rust", "jail", "unit"]

    def place(item: pytest.Item) -> tuple[bool, bool, int]:
        return group(item) != "machine", group(item) is None, order.index(tier(item))

    return sorted(items, key=place)
