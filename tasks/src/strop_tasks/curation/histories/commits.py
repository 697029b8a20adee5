"""Selects commits that may become tasks: those that change programs and tests, with a usable message."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from strop_tasks.curation.edits.history import is_packaging, is_program, is_test, said_of
from strop_tasks.curation.edits.repository import Commit
from strop_tasks.curation.engine.tally import LeftOut
from strop_tasks.curation.histories import HistorySettings
from strop_verify.code.python.source import UNPARSABLE, Function, tree_of
from strop_verify.core.ranges import Range, merged
from strop_verify.core.snapshots import Files
from strop_verify.core.task import Task
from strop_verify.edits.paths import unquoted
from strop_verify.verification.project.layout import is_protected

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ENDINGS = {"python": (".py",), "rust": (".rs",)}


@dataclass(frozen=True)
class HistoryCommit:
    """A commit that may become a task."""

    repository: str
    commit: Commit
    said: str
    """Its message, or the text of the issue that it closes."""
    issue: int
    """Number of that issue; 0 if it is the message."""
    lines: Mapping[str, list[Range]]
    """Changed file to its changed lines, as numbered after the commit."""
    tests: Sequence[str] = ()
    """For a row of SWE-bench, the tests that its patch fixes, as pytest names them without parameters."""
    instance: str = ""
    """For a commit made from a row, the row's name."""

    @property
    def key(self) -> str:
        """Its name in a journal."""
        return f"{self.repository}@{self.commit.id}"


def judges(path: str, language: str = "python") -> bool:
    """Whether both sides use the commit's version of a file: a test, or one that tests need or that configures them."""
    return is_test(path) or is_protected(path, language)


def programs_of(before: Files, after: Files, language: str) -> tuple[dict[str, str], dict[str, str | None]]:
    """The programs that differ between two trees, as texts: before, and after (None: deleted). Raises LeftOut."""
    differing = (p for p in sorted(before.keys() | after.keys()) if before.get(p) != after.get(p))
    changed = [p for p in differing if p.endswith(_ENDINGS[language]) and not judges(p, language)]
    try:
        texts = {path: before[path].decode() for path in changed if path in before}
        new = {path: after[path].decode() if path in after else None for path in changed}
    except UnicodeDecodeError:
        raise LeftOut("changes files that are not text") from None
    return texts, new


def candidate(
    repository: str,
    commit: Commit,
    diff: str,
    settings: HistorySettings,
    issues: Mapping[int, str],
    *,
    row: Task | None = None,
    tests: Sequence[str] = (),
) -> HistoryCommit:
    """The commit as a candidate; `diff`: what it changes, without lines around it. Raises LeftOut.

    For a commit made from a row, the issue is used as it is.
    """
    if not commit.parent:
        raise LeftOut("the first commit")
    lines, count = new_lines(diff)
    programs = [path for path in lines if is_program(path) and not judges(path)]
    if not programs:
        raise LeftOut("changes no program")
    if not tests and not any(is_test(path) for path in lines):
        raise LeftOut("changes no test")
    if all(is_packaging(path) for path in programs):
        raise LeftOut("changes only how the project is built or its version")
    if len(programs) > settings.max_files:
        raise LeftOut("changes too many files")
    if sum(count[path] for path in programs) > settings.max_lines:
        raise LeftOut("changes too many lines")
    if row is not None:
        return HistoryCommit(repository, commit, row.statement, 0, lines, tests, row.id)
    return HistoryCommit(repository, commit, *said_of(commit, issues), lines)


def new_lines(diff: str) -> tuple[dict[str, list[Range]], dict[str, int]]:
    """(path to changed lines, path to number of added and removed lines) of a diff without context, after the change.

    For a pure deletion, the lines around it count. Binary files have none.
    """
    found: dict[str, list[Range]] = {}
    count: dict[str, int] = {}
    path, left = "", 0
    for line in diff.split("\n"):
        if left > 0 and line[:1] in "+-":
            left -= 1
        elif line.startswith("diff --git "):
            half = line.removeprefix("diff --git ")
            path = unquoted(half[(len(half) + 1) // 2 :]).removeprefix("b/")
            found[path], count[path] = [], 0
        elif line.startswith("+++ ") and line != "+++ /dev/null":
            named = unquoted(line[4:].removesuffix("\t")).removeprefix("b/")
            if named != path:  # a rename
                found[named], count[named] = found.pop(path, []), count.pop(path, 0)
                path = named
        elif hunk := _HUNK.match(line):
            removed, first, added = int(hunk[2] or 1), int(hunk[3]), int(hunk[4] or 1)
            left = removed + added
            count[path] += left
            found[path].append((max(1, first), first + added - 1) if added else (max(1, first), first + 1))
    return {path: merged(spans) for path, spans in found.items()}, count


def touched_tests(path: str, text: str, spans: Collection[Range]) -> list[str]:
    """The tests of a Python file in changed lines, as pytest names them without parameters; the class if only other
    parts of it change, the file if only its top level does.
    """
    try:
        tree = tree_of(text)
    except UNPARSABLE:
        return []
    found = list(_touched(path, tree, spans))
    return found or [path]


def _touched(name: str, scope: ast.AST, spans: Collection[Range]) -> Iterator[str]:
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, Function | ast.ClassDef):
            continue
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        if not any(a <= (node.end_lineno or first) and first <= b for a, b in spans):
            continue
        inner = f"{name}::{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from list(_touched(inner, node, spans)) or [inner]
        elif node.name.startswith("test"):
            yield inner
