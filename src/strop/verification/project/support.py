"""What tests call to assert, though it lies outside of them: it is part of the tests, wherever it stands.

Classes that test classes derive from, fixtures that tests ask for, and functions that can fail a test and do nothing
else. Of the last the running tells: emptied, no test that calls it notices.
"""

import ast
import copy
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from strop.core.snapshots import Files
from strop.core.verdict import Outcome
from strop.verification.project.backend import Backend
from strop.verification.project.layout import is_protected
from strop.verification.project.runs import ProjectRun, RunRequest, TestReach
from strop.verification.project.syntax_of_tests import by_file, called

_MOST = 24
"""Functions that are emptied to see who notices."""
_KEPT = 32
_FAILING = ("fail", "failureException", "raises", "AssertionError")
_Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class SupportPart:
    """A function or class of the project.

    path, name  its file, and its name within that, with the classes around it
    line    the first, decorators included
    sure    whether it belongs to the tests whatever a run says
    """

    path: str
    name: str
    line: int
    sure: bool

    def __str__(self) -> str:
        return f"{self.path}: {self.name.rpartition('.')[2]}"


@dataclass(frozen=True)
class Asked:
    """Names by which tests ask for what lies outside of them."""

    calls: frozenset[str]
    bases: frozenset[str]
    fixtures: frozenset[str]

    @classmethod
    def of(cls, base: Files, tests: Collection[str]) -> "Asked":
        """Of the files of these tests, and of conftest.py in the folders above."""
        calls, bases, fixtures = set[str](), set[str](), set[str]()
        named = by_file(base, tests)
        homes = set(named)
        homes |= {
            str(above / "conftest.py") for home in homes for above in PurePosixPath(home).parents
        } & base.keys()
        for home in homes:
            tree = _parsed(base[home])
            bases |= _bases(tree, {part for rest in named.get(home, ()) for part in rest.split("::")[:-1]})
            for node in ast.walk(tree):
                if isinstance(node, ast.Expr):
                    calls.add(called(node.value))
                elif isinstance(node, ast.With | ast.AsyncWith):
                    calls |= {called(item.context_expr) for item in node.items}
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    fixtures |= {one.arg for one in node.args.args}
        return cls(frozenset(calls - {""}), frozenset(bases), frozenset(fixtures))


def _bases(tree: ast.Module, names: set[str]) -> set[str]:
    """What the classes of these names derive from, also by way of others of the file."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found, waiting = set[str](), [*names]
    while waiting:
        node = classes.get(waiting.pop())
        more = {_last(one) for one in node.bases} - found if node else set()
        found |= more
        waiting += more
    return found - {""}


def support_of(digest: str, base: Files, tests: Collection[str]) -> tuple[SupportPart, ...]:
    """What may belong to the tests, by the text of the project; the last few tasks' are kept."""
    key = digest, tuple(sorted(tests))
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    found = tuple(_found(base, Asked.of(base, tests)))
    with _lock:
        _known[key] = found
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return found


_lock = threading.Lock()
_known: "OrderedDict[tuple[str, tuple[str, ...]], tuple[SupportPart, ...]]" = OrderedDict()


def _found(base: Files, asked: Asked) -> Iterator[SupportPart]:
    sources = {path: data for path, data in base.items() if path.endswith(".py") and not is_protected(path)}
    trees = {path: _parsed(data) for path, data in sources.items() if _says_any(data, asked)}
    bases, wanted = set[str](), set(asked.bases)
    while wanted - bases:
        bases |= wanted
        wanted |= {
            _last(one) for tree in trees.values() for _, node in _defined(tree)
            if isinstance(node, ast.ClassDef) and node.name in bases for one in node.bases
        }  # fmt: skip
    for path, tree in trees.items():
        for name, node in _defined(tree):
            line = _line(node)
            if isinstance(node, ast.ClassDef):
                if node.name in bases:
                    yield SupportPart(path, name, line, True)
            elif any("fixture" in ast.unparse(mark) for mark in node.decorator_list):
                if node.name in asked.fixtures:
                    yield SupportPart(path, name, line, True)
            elif node.name in asked.calls and _can_fail(node):
                yield SupportPart(path, name, line, False)


def _says_any(data: bytes, asked: Asked) -> bool:
    text = data.decode(errors="replace")
    names = asked.calls | asked.bases | asked.fixtures
    return any(f"def {name}(" in text or f"class {name}" in text for name in names)


def _can_fail(node: ast.AST) -> bool:
    return any(
        isinstance(one, ast.Assert)
        or (isinstance(one, ast.Call) and (called(one).startswith("assert") or called(one) in _FAILING))
        or (isinstance(one, ast.Name | ast.Attribute) and _last(one) in _FAILING)
        for one in ast.walk(node)
    )


def changed(
    pieces: Collection[SupportPart], base: Files, files: Mapping[str, str], removed: Collection[str]
) -> list[SupportPart]:
    """Those that an edit changes, or takes away."""
    found = []
    for path in {piece.path for piece in pieces} & ({*files} | {*removed}):
        before = dict(_defined(_parsed(base[path])))
        after = dict(_defined(_parsed(files[path].encode("utf-8", "surrogatepass")))) if path in files else {}
        for piece in pieces:
            if piece.path == path and _text(before.get(piece.name)) != _text(after.get(piece.name)):
                found.append(piece)
    return sorted(found, key=str)


def asserting(
    digest: str, base: Files, tests: Sequence[str], backend: Backend
) -> Mapping[SupportPart, tuple[str, ...]]:
    """Those that do nothing but assert, and the tests that call them: emptied, they are missed by no test that passes.
    With them what belongs to the tests in any case. The last few tasks' are kept. Raises WorkerDied.
    """
    pieces, key = support_of(digest, base, tests), (digest, tuple(sorted(tests)))
    if not pieces:
        return {}
    with _lock:
        if key in _proven:
            return _proven[key]
    found = _asserting(pieces, base, tests, backend)
    with _lock:
        _proven[key] = found
        while len(_proven) > _KEPT:
            _proven.popitem(last=False)
    return found


_proven: "OrderedDict[tuple[str, tuple[str, ...]], Mapping[SupportPart, tuple[str, ...]]]" = OrderedDict()


def _asserting(
    pieces: Sequence[SupportPart], base: Files, tests: Sequence[str], backend: Backend
) -> Mapping[SupportPart, tuple[str, ...]]:
    found: dict[SupportPart, tuple[str, ...]] = {piece: () for piece in pieces if piece.sure}
    if len(found) == len(pieces):
        return found
    usual = backend.run(RunRequest(tests=tests, reach=True))
    calls = {
        piece: tuple(test for test in tests if _reaches(usual, test, piece.path, piece.line))
        for piece in pieces
        if not piece.sure
    }
    for piece in sorted(calls, key=lambda one: -len(calls[one]))[:_MOST]:
        calling, text = calls[piece], _emptied(base[piece.path], piece.name)
        if not calling or text is None:
            continue
        without = backend.run(RunRequest(tests=calling), files={piece.path: text})
        passed = [test for test in calling if _passed(usual, test)]
        still = [test for test in calling if _passed(without, test)]
        if {*passed} <= {*still} and still:
            found[piece] = calling
    return found


def bypassed(
    own: Mapping[SupportPart, tuple[str, ...]],
    edited: Files,
    reach: Callable[[list[str]], Mapping[str, TestReach]],
) -> SupportPart | None:
    """One that a test calls in the unedited project and does not run with the edit: another stands in its place."""
    tests = sorted({test for calling in own.values() for test in calling})
    reached = reach(tests) if tests else {}
    for piece, calling in own.items():
        node = dict(_defined(_parsed(edited.get(piece.path, b"")))).get(piece.name)
        line = 0 if node is None else _line(node)
        for test in calling:
            if test in reached and (piece.path, line) not in reached[test].code:
                return piece
    return None


def names_of(own: Iterable[SupportPart]) -> frozenset[str]:
    """How tests call those that assert."""
    return frozenset(piece.name.rpartition(".")[2] for piece in own if not piece.sure)


def _reaches(run: ProjectRun, test: str, path: str, line: int) -> bool:
    return test in run.reached and (path, line) in run.reached[test].code


def _line(node: _Node) -> int:
    return min([node.lineno, *(mark.lineno for mark in node.decorator_list)])


def _emptied(data: bytes, name: str) -> str | None:
    """The file with a function that does nothing."""
    tree = copy.deepcopy(_parsed(data))
    node = dict(_defined(tree)).get(name)
    if node is None or isinstance(node, ast.ClassDef):
        return None
    manages = any("contextmanager" in ast.unparse(mark) for mark in node.decorator_list)
    yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(node))
    if yields != manages:
        return None
    nothing = "try:\n    yield\nexcept Exception:\n    pass" if manages else "pass"
    node.body = ast.parse(nothing).body
    return ast.unparse(tree)


def _defined(tree: ast.Module) -> Iterator[tuple[str, _Node]]:
    """Functions and classes with their names, outermost first; of one that is defined twice, the last."""
    waiting: list[tuple[str, list[ast.stmt]]] = [("", list(tree.body))]
    while waiting:
        above, body = waiting.pop()
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{above}.{node.name}" if above else node.name
                yield name, node
                if isinstance(node, ast.ClassDef):
                    waiting.append((name, node.body))
            elif isinstance(node, ast.If | ast.Try):
                inner = [*node.body, *node.orelse, *getattr(node, "finalbody", [])]
                waiting.append(
                    (above, [*inner, *(one for h in getattr(node, "handlers", []) for one in h.body)])
                )


def _parsed(data: bytes) -> ast.Module:
    try:
        return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _text(node: _Node | None) -> str:
    return "" if node is None else ast.dump(node)


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _passed(run: ProjectRun, test: str) -> bool:
    return test in run.results and run.results[test].outcome is Outcome.PASSED
