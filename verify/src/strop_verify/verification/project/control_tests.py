"""Control tests for a project's tests: in one file with a random name all must pass, in another all must fail.

The two differ only in a few random numbers. In the false one every compared value is changed, every bare assertion
inverted, every expected exception replaced; a test passes if any of these holds, otherwise it fails at its end. An
answer that passes a false test has not done what the test asks: it equals everything, reads or changes the expected
values, replaces the tests' code or reports results that did not happen.

In both files, expressions independent of the project are replaced by their values in the unedited project (`pins`).
"""

import ast
import copy
import random
from collections.abc import Mapping

from strop_verify.core.syntax import syntax_tree
from strop_verify.verification.controls import ControlTests
from strop_verify.verification.project.control_helpers import ControlHelpers
from strop_verify.verification.project.control_rewriter import ControlRewriter
from strop_verify.verification.project.expression_values import NOTHING, Recorded
from strop_verify.verification.project.names import Names, beside
from strop_verify.verification.project.pin_writer import Writer
from strop_verify.verification.project.pins import FilePins
from strop_verify.verification.project.syntax_of_tests import (
    by_file,
    compared_only,
    module_literals,
    test_function,
)  # fmt: skip


def python_controls(
    tree: Mapping[str, bytes],
    tests: list[str],
    rng: random.Random,
    recorded: Recorded = NOTHING,
    *,
    truth: bool | None = None,
    support: frozenset[str] = frozenset(),
) -> ControlTests:
    """Both control tests of every test, in files beside its own; with `truth`, only one, in the test's own file.

    There it keeps the test's name, unless it stands for one set of parameters. `support`: names of the project's
    functions that assert for tests.
    """
    found = ControlTests()
    for home, rests in by_file(tree, tests).items():
        text = tree[home].decode("utf-8", "replace")
        for passes in (True, False) if truth is None else (truth,):
            names, path = Names(text, rng), home
            if truth is None:
                path = beside(home, {**tree, **dict.fromkeys(found.files, b"")}, names)
            try:
                module = syntax_tree(text)
                called = _pinned(module, home, rests, names, recorded)
                found.files[path], changed = _rewritten(module, rests, called, passes, names, rng, support)
            except (SyntaxError, ValueError, RecursionError):
                continue
            for rest in rests:
                if passes or rest in changed:
                    found.add(f"{path}::{called.get(rest, rest)}", f"{home}::{rest}", passes)
    return found


def _pinned(
    tree: ast.Module, home: str, rests: list[str], names: Names, recorded: Recorded
) -> dict[str, str]:
    """Writes the recorded values into the tree. Returns the new names of renamed tests."""
    found = recorded.places.get(home)
    if found is None:
        return {}
    called = Writer(FilePins(tree, found, recorded.values[home], recorded.changed), names).write()
    return {rest: name for rest, name in called.items() if rest in rests}


def _rewritten(
    tree: ast.Module,
    rests: list[str],
    called: Mapping[str, str],
    truth: bool,
    names: Names,
    rng: random.Random,
    support: frozenset[str],
) -> tuple[str, set[str]]:
    """The new text, and the tests that could be rewritten."""
    helpers = ControlHelpers(truth, names, rng)
    helpers.support = support
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
    for function in _called_by_tests(tree):
        if id(function) not in done:
            ControlRewriter(function, helpers, literals, helper=True).act()
    _bind_again(tree, literals, helpers)
    _drop_others(tree, {called.get(rest, rest).partition("[")[0].rpartition("::")[2] for rest in rests})
    _put_first(tree, syntax_tree(helpers.text()).body)
    return ast.unparse(ast.fix_missing_locations(tree)), changed


def _called_by_tests(tree: ast.Module) -> list[ast.FunctionDef]:
    """Functions of the file that assert and are called by name: their assertions count as the test's."""
    names = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return [
        one
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
        and one.name in names
        and not (one.decorator_list or one.name.startswith("test"))
        and any(isinstance(node, ast.Assert) for node in ast.walk(one))
    ]


def _put_first(tree: ast.Module, body: list[ast.stmt]) -> None:
    """Inserts statements before anything that runs: a file may call its tests while it is imported."""
    at = next((at for at, one in enumerate(tree.body) if not _stands_first(one)), len(tree.body))
    tree.body[at:at] = body


def _stands_first(one: ast.stmt) -> bool:
    """Whether it is the module's docstring or a `__future__` import."""
    text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    return text or (isinstance(one, ast.ImportFrom) and one.module == "__future__")


def _bind_again(tree: ast.Module, literals: Mapping[str, ast.expr], helpers: ControlHelpers) -> None:
    """Binds module-level literals that are only compared to their rewritten values."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
            new = helpers.named.get(target.id)
            if new is not None and statement.value is literals.get(target.id):
                statement.value = copy.deepcopy(new)


def _drop_others(tree: ast.Module, wanted: set[str]) -> None:
    """Removes tests that are not wanted, unless something refers to them by name."""
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
