"""Finds code outside the tests with which they assert; it counts as part of the tests.

That is: base classes of test classes, fixtures that tests request, and functions that can fail a test and do nothing
else. Such functions are found by running the tests: no test notices when one that it calls is emptied.
"""

import ast
import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from strop_verify.code.python.source import module_of
from strop_verify.core.last_used import LastUsed
from strop_verify.core.snapshots import Files
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.test_code import last_name
from strop_verify.verification.project.backend import Backend
from strop_verify.verification.project.definitions import (
    DEEP,
    Definition,
    Definitions,
    calls_of,
    defined,
    entered,
    fixture_name,
    names_in,
)
from strop_verify.verification.project.runs import RunRequest, TestReach
from strop_verify.verification.project.syntax_of_tests import by_file

_MOST = 24
"""Maximum functions that are emptied to see whether a test notices."""
_KEPT = 32
_Key = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class SupportPart:
    """A function or class of the project.

    path, name  its file, and its qualified name there
    line     first line, decorators included
    sure     whether it belongs to the tests regardless of any run
    through  functions by which tests reach it, empty if they name it
    """

    path: str
    name: str
    line: int
    sure: bool
    through: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}: {self.name.rpartition('.')[2]}"


def _asked(base: Files, tests: Collection[str]) -> tuple[set[str], set[str]]:
    """Names in the tests' files, and in conftest.py of the folders above, that may refer to code outside them: all
    names, and the bases of their classes.
    """
    names, bases = set[str](), set[str]()
    named = by_file(base, tests)
    above = (parent for home in named for parent in PurePosixPath(home).parents)
    homes = {*named} | ({str(parent / "conftest.py") for parent in above} & base.keys())
    for home in homes:
        tree = module_of(base[home])
        names |= names_in(tree)
        wanted = _bases(tree, {part for rest in named.get(home, ()) for part in rest.split("::")[:-1]})
        froms = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        imported = (one for node in froms for one in node.names)
        bases |= wanted | {one.name for one in imported if one.asname in wanted}
    return names - {""}, bases - {""}


def _bases(tree: ast.Module, names: set[str]) -> set[str]:
    """Base classes of the classes with these names, including indirect ones within the file."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found, waiting = set[str](), [*names]
    while waiting:
        node = classes.get(waiting.pop())
        more = {last_name(one) for one in node.bases} - found if node else set()
        found |= more
        waiting += more
    return found


def support_of(digest: str, base: Files, tests: Collection[str]) -> tuple[SupportPart, ...]:
    """What may belong to the tests, judging by the project's text; cached for the last 32 tasks."""
    return _known.get((digest, tuple(sorted(tests))), lambda: tuple(_found(base, tests)))


_known = LastUsed[_Key, tuple[SupportPart, ...]](_KEPT)


def _found(base: Files, tests: Collection[str]) -> Iterator[SupportPart]:
    sources, (names, bases) = Definitions(base), _asked(base, tests)
    waiting: list[tuple[str, tuple[str, ...]]] = []
    waiting += [(name, ()) for name in sorted(names | bases | sources.autouse())]
    done, seen = set[tuple[str, bool]](), set[tuple[str, int]]()
    for name, through in waiting:  # grows in the loop
        if (name, name in bases) in done:
            continue
        done.add((name, name in bases))
        behind = sources.behind(name)
        bases |= behind if name in bases else set()
        waiting += [(one, through) for one in sorted(behind)]
        for path, full, node in sources.named(name):
            if isinstance(node, ast.ClassDef) and name in bases:
                above = {last_name(one) for one in node.bases}
                bases |= above
                waiting += [(one, ()) for one in sorted(above | names_in(node))]
                yield SupportPart(path, full, _line(node), True)
                continue
            for one in entered(node):
                if (path, one.lineno) in seen:
                    continue
                seen.add((path, one.lineno))
                inner = full if one is node else f"{full}.{one.name}"
                if fixture_name(one):
                    waiting += [(asked_for, ()) for asked_for in sorted(names_in(one))]
                    yield SupportPart(path, inner, _line(one), True)
                elif sources.can_fail(one):
                    yield SupportPart(path, inner, _line(one), False, through)
                    if len(through) < DEEP:
                        inside = sorted(name for name in calls_of(one) if sources.fails(name))
                        waiting += [(called, (*through, one.name)) for called in inside]


def changed(
    pieces: Collection[SupportPart], base: Files, files: Mapping[str, str], removed: Collection[str]
) -> list[SupportPart]:
    """The parts that an edit changes or removes."""
    found = []
    for path in {piece.path for piece in pieces} & ({*files} | {*removed}):
        before = dict(defined(module_of(base[path])))
        after = dict(defined(module_of(files.get(path, "").encode("utf-8", "surrogatepass"))))
        for piece in pieces:
            if piece.path == path and _text(before.get(piece.name)) != _text(after.get(piece.name)):
                found.append(piece)
    return sorted(found, key=str)


def asserting(
    digest: str, base: Files, tests: Sequence[str], backend: Backend
) -> Mapping[SupportPart, tuple[str, ...]]:
    """The parts that belong to the tests, and for those found only by running, the tests that call them: no passing
    test fails if such a part is emptied. Cached for the last 32 tasks. Raises WorkerDied.
    """
    if not (pieces := support_of(digest, base, tests)):
        return {}
    key = digest, tuple(sorted(tests))
    return _proven.get(key, lambda: _asserting(pieces, base, tests, backend))


_proven = LastUsed[_Key, Mapping[SupportPart, tuple[str, ...]]](_KEPT)


def _asserting(
    pieces: Sequence[SupportPart], base: Files, tests: Sequence[str], backend: Backend
) -> Mapping[SupportPart, tuple[str, ...]]:
    found: dict[SupportPart, tuple[str, ...]] = {piece: () for piece in pieces if piece.sure}
    if len(found) == len(pieces):
        return found
    usual = backend.run(RunRequest(tests=tests, reach=True))
    calls = {
        piece: tuple(
            test
            for test in tests
            if test in usual.reached and (piece.path, piece.line) in usual.reached[test].code
        )
        for piece in pieces
        if not piece.sure
    }
    for piece in sorted(calls, key=lambda one: (len(one.through), -len(calls[one])))[:_MOST]:
        calling, text = calls[piece], _emptied(base[piece.path], piece.name)
        if not calling or text is None or not {*piece.through} <= names_of(found):
            continue
        without = backend.run(RunRequest(tests=calling), files={piece.path: text})
        passed, still = set(filter(usual.passed, calling)), set(filter(without.passed, calling))
        if passed <= still and still:
            found[piece] = calling
    return found


def bypassed(
    own: Mapping[SupportPart, tuple[str, ...]],
    edited: Files,
    reach: Callable[[list[str]], Mapping[str, TestReach]],
) -> SupportPart | None:
    """A part that a test calls in the unedited project but does not run with the edit, so that it was replaced."""
    tests = sorted({test for calling in own.values() for test in calling})
    reached = reach(tests) if tests else {}
    for piece, calling in own.items():
        node = dict(defined(module_of(edited.get(piece.path, b"")))).get(piece.name)
        line = 0 if node is None else _line(node)
        for test in calling:
            if test in reached and (piece.path, line) not in reached[test].code:
                return piece
    return None


def names_of(own: Iterable[SupportPart]) -> frozenset[str]:
    """The names by which tests call functions that assert."""
    parts = (piece.name.split(".") for piece in own if not piece.sure)
    return frozenset(part for *above, last in parts for part in (last, *above[-1:] * last.startswith("__")))


def _line(node: Definition) -> int:
    return min([node.lineno, *(mark.lineno for mark in node.decorator_list)])


def _emptied(data: bytes, name: str) -> str | None:
    """The file with the function's body replaced by one that does nothing; None if that is not possible."""
    tree = copy.deepcopy(module_of(data))
    node = dict(defined(tree)).get(name)
    if node is None or isinstance(node, ast.ClassDef):
        return None
    manages = any("contextmanager" in ast.unparse(mark) for mark in node.decorator_list)
    yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(node))
    if yields != manages:
        return None
    nothing = "try:\n    yield\nexcept Exception:\n    pass" if manages else "pass"
    node.body = syntax_tree(nothing).body
    return ast.unparse(tree)


def _text(node: Definition | None) -> str:
    return "" if node is None else ast.dump(node)
