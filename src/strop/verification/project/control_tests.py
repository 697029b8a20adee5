"""Control tests for those of a project: in one file of a drawn name every test must pass, in another all must fail.

The two differ in a few drawn numbers only. In the false one each value that a test compares with is changed, each bare
assertion turned round, each expected exception another one; a test of it that finds any of them to hold ends as passed,
and else fails at its end. So an answer that passes a false test has not done what the test asks: it equals everything,
reads or changes what is expected, swaps the tests' code or reports what did not happen.

In both, what touches nothing of the project stands as the value that it had in the unedited project (`pins`).
"""

import ast
import copy
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from strop.verification.project.control_helpers import ControlHelpers
from strop.verification.project.control_rewriter import ControlRewriter
from strop.verification.project.names import Names, beside
from strop.verification.project.pins import FilePins
from strop.verification.project.recorded import NOTHING, Recorded
from strop.verification.project.syntax_of_tests import compared_only, module_literals, test_function

_MOST_CHARS = 600_000


@dataclass
class ControlTests:
    """Files of control tests, and what the tests are called in them."""

    files: dict[str, str] = field(default_factory=dict)
    true: dict[str, str] = field(default_factory=dict)
    """A test to its control test that must pass."""
    false: dict[str, str] = field(default_factory=dict)
    """A test to its control test that must fail, where its text allows one."""


def controls_beside(
    tree: Mapping[str, bytes], tests: list[str], rng: random.Random, recorded: Recorded = NOTHING
) -> ControlTests:
    """Both control tests of every test, in files beside its own."""
    found = ControlTests()
    for home, rests in _by_file(tree, tests).items():
        text = tree[home].decode("utf-8", "replace")
        for truth, ids in ((True, found.true), (False, found.false)):
            names = Names(text, rng)
            path = beside(home, {**tree, **dict.fromkeys(found.files, b"")}, names)
            if made := _control_file(home, text, rests, truth, names, rng, recorded):
                found.files[path] = made.text
                ids |= made.ids(home, path, rests, truth)
    return found


def controls_in_place(
    tree: Mapping[str, bytes],
    tests: list[str],
    rng: random.Random,
    recorded: Recorded = NOTHING,
    *,
    truth: bool,
) -> ControlTests:
    """One control test of every test in the file's own place, under its own name or (one set of parameters) another."""
    found = ControlTests()
    for home, rests in _by_file(tree, tests).items():
        text = tree[home].decode("utf-8", "replace")
        if made := _control_file(home, text, rests, truth, Names(text, rng), rng, recorded):
            found.files[home] = made.text
            ids = found.true if truth else found.false
            ids |= made.ids(home, home, rests, truth)
    return found


def _by_file(tree: Mapping[str, bytes], tests: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for test in tests:
        home, _, rest = test.partition("::")
        if home in tree and home.endswith(".py") and len(tree[home]) <= _MOST_CHARS:
            found.setdefault(home, []).append(rest)
    return found


@dataclass(frozen=True)
class _Made:
    text: str
    called: dict[str, str]
    """A test to what it is called there."""
    false: set[str]
    """Tests that could be rewritten."""

    def ids(self, home: str, path: str, rests: list[str], truth: bool) -> dict[str, str]:
        """A test to its control test."""
        kept = [rest for rest in rests if truth or rest in self.false]
        return {f"{home}::{rest}": f"{path}::{self.called.get(rest, rest)}" for rest in kept}


def _control_file(
    home: str,
    text: str,
    rests: list[str],
    truth: bool,
    names: Names,
    rng: random.Random,
    recorded: Recorded,
) -> _Made | None:
    """A file of control tests. None where it cannot be read."""
    try:
        tree = ast.parse(text)
        called = _pinned(tree, home, rests, names, recorded)
        return _rewritten(tree, rests, called, truth, names, rng)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _pinned(
    tree: ast.Module, home: str, rests: list[str], names: Names, recorded: Recorded
) -> dict[str, str]:
    """Writes what was recorded into the tree; what the tests are called there."""
    found = recorded.place(home)
    if found is None:
        return {}
    called = FilePins(tree, found, recorded.values[home], recorded.changed).apply(names)
    return {rest: name for rest, name in called.items() if rest in rests}


def _rewritten(
    tree: ast.Module,
    rests: list[str],
    called: Mapping[str, str],
    truth: bool,
    names: Names,
    rng: random.Random,
) -> _Made:
    helpers = ControlHelpers(truth, names, rng)
    literals, done = module_literals(tree), set[int]()
    helpers.compared = compared_only(tree)
    changed = set[str]()
    for rest in rests:
        function = test_function(tree, called.get(rest, rest).partition("[")[0].split("::"))
        if function is None:
            continue
        if id(function) not in done:
            done.add(id(function))
            ControlRewriter(function, helpers, literals).act()
        changed.add(rest)
    _bind_again(tree, literals, helpers)
    _drop_others(tree, {called.get(rest, rest).partition("[")[0].rpartition("::")[2] for rest in rests})
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n\n\n" + helpers.text()
    return _Made(text, dict(called), changed)


def _bind_again(tree: ast.Module, literals: Mapping[str, ast.expr], helpers: ControlHelpers) -> None:
    """Who reads the module's literals reads what is compared with, where they are for comparing only."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
            new = helpers.named.get(target.id)
            if new is not None and statement.value is literals.get(target.id):
                statement.value = copy.deepcopy(new)


def _drop_others(tree: ast.Module, wanted: set[str]) -> None:
    """Leaves out the tests that are not asked for, unless something calls them by name."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    owners: list[ast.Module | ast.ClassDef] = [tree]
    for owner in [*owners, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        kept = [
            one
            for one in owner.body
            if not isinstance(one, ast.FunctionDef)
            or not one.name.startswith("test")
            or one.name in wanted
            or one.name in used
        ]
        owner.body[:] = kept or [ast.Pass()]
