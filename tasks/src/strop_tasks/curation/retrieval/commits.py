"""Retrieval tasks from commits: the message is the request, and the lines that the commit changes are relevant.

The relevant lines are those of the parent's tree that the commit removes or replaces (`git diff -U0`); for an
insertion, the last line before it that is not blank. Renames are followed. Only program files of the parent count,
without tests and build configuration. If the message closes an issue whose text is known, that text is the request.
docs/search.md lists the reasons for which commits are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

from strop.environments.search_pattern import words
from strop_tasks.curation.edits.history import is_packaging, is_program, is_test, said_of
from strop_tasks.curation.edits.programs import same_program
from strop_tasks.curation.edits.repository import Commit, Repository, SourceHistory
from strop_tasks.curation.engine.tally import LeftOut, Tally
from strop_tasks.curation.retrieval import FAMILY, RetrievalSettings
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.ranges import Range, merged, write_ranges
from strop_verify.core.task import Task
from strop_verify.edits.languages import LANGUAGES
from strop_verify.edits.lines import split
from strop_verify.edits.paths import unquoted

_VAGUE = """
minor small various misc some code style readability cleanup cleanups clean build interface documentation docs address
review comment comments refactor refactored refactoring rework tidy tweak tweaks polish lint linting formatting format
flake8 black ruff isort mypy typo typos warning warnings better nicer simplify simplification improvement improvements
sort sorted imports import unused unnecessary redundant type types hint hints typing annotation annotations pyupgrade
modernize else elif after return drop python python2 python3 eol pass passes
"""
"""Words that do not point to a place in the code."""
_VERSION = re.compile(r"\s*_*version(?:_info)?_*\s*[:=]", re.IGNORECASE)
_NAMED_AT_LEAST = 4
"""Minimum length of a file's stem for a message that contains it to count as naming the file."""


def of_commits(
    repository: Repository,
    commits: list[Commit],
    history: SourceHistory,
    store: str,
    settings: RetrievalSettings,
    issues: Mapping[int, str],
    tally: Tally,
) -> Iterator[Task]:
    """One task per commit, newest first. `store`: the tasks' name for the repository of trees; `issues`: by number."""
    for commit, diff in repository.diffs(commits):
        yield from tally.one(partial(_task, repository, commit, diff, history, store, settings, issues))


def _task(
    repository: Repository,
    commit: Commit,
    diff: str,
    history: SourceHistory,
    store: str,
    settings: RetrievalSettings,
    issues: Mapping[int, str],
) -> Task:
    message, issue = said_of(commit, issues)
    if {word.lower() for word in words(message)} <= {*_VAGUE.split()}:
        raise LeftOut("gives no location")
    if not commit.parent:
        raise LeftOut("the first commit")
    truth = {path: spans for path, spans in changed_lines(diff).items() if _counts(path)}
    if not truth:
        raise LeftOut("changes no existing program")
    lines = sum(last - first + 1 for spans in truth.values() for first, last in spans)
    if len(truth) > settings.max_files or lines > settings.max_lines:
        raise LeftOut("huge")
    before = repository.texts(commit.parent, truth)
    if any(path not in before or spans[-1][1] > len(split(before[path])) for path, spans in truth.items()):
        raise LeftOut("changes files that are not text")
    telling = {path: _telling(before[path], spans) for path, spans in truth.items()}
    truth = {path: spans for path, spans in telling.items() if spans}
    if not truth:
        raise LeftOut("a bump or release")
    named = [path for path in truth if names_file(message, path)]
    if named and not settings.named:
        raise LeftOut("the message names a file that matters")
    after = repository.texts(commit.id, truth)
    if all(same_program(path, before[path], after.get(path)) for path in truth):
        raise LeftOut("changes only comments, docstrings or layout")
    return Task(
        family=FAMILY,
        language=LANGUAGES[next(iter(truth)).rpartition(".")[2].lower()],
        statement=message,
        reference=write_ranges(truth),
        check=RetrievalCheck(tree=store, commit=commit.parent, truth=truth),
        topic=history.name,
        source=f"{history.name}@{commit.id[:12]}",
        metadata={
            "kind": "commit", "repository": history.name, "commit": commit.id, "date": commit.date,
            **({"names_file": True} if named else {}), **({"issue": issue} if issue else {}),
        },
    )  # fmt: skip


def changed_lines(diff: str) -> dict[str, list[Range]]:
    """Path in the old tree to the lines that a diff without context changes there; see the module's docstring."""
    found: dict[str, list[Range]] = {}
    path, left = "", 0
    for line in diff.split("\n"):
        if left > 0 and line[:1] in "+-":
            left -= 1
        elif line.startswith("diff --git "):
            path = ""
        elif line.startswith("--- "):
            named = unquoted(line[4:].removesuffix("\t"))
            path = named.removeprefix("a/") if named.startswith("a/") else ""
        elif hunk := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@", line):
            first, removed, added = int(hunk[1]), int(hunk[2] or 1), int(hunk[3] or 1)
            left = removed + added
            if path:
                found.setdefault(path, []).append(
                    (first, first + removed - 1) if removed else (max(1, first),) * 2
                )
    return {path: merged(spans) for path, spans in sorted(found.items())}


def names_file(message: str, path: str) -> bool:
    """Whether a message names a file: by its name, its path as a module, or its name without the ending as a word."""
    name = PurePosixPath(path)
    dotted = ".".join((*name.parent.parts, name.stem))
    if name.name in message or (name.parent.parts and dotted in message):
        return True
    return (
        len(name.stem) >= _NAMED_AT_LEAST and re.search(rf"\b{re.escape(name.stem)}\b", message) is not None
    )


def _counts(path: str) -> bool:
    return is_program(path) and not is_test(path) and not is_packaging(path)


def _telling(text: str, spans: list[Range]) -> list[Range]:
    """The ranges that hold more than the project's version, as `not_blank` returns them."""
    lines = text.split("\n")
    return not_blank(
        lines, [(a, b) for a, b in spans if not all(_VERSION.match(line) for line in lines[a - 1 : b])]
    )


def not_blank(lines: Sequence[str], spans: Iterable[Range]) -> list[Range]:
    """The ranges; one of only blank lines becomes the last line above that is not blank, else the first one below."""
    found: list[Range] = []
    for first, last in spans:
        near = first
        if not any(map(str.strip, lines[first - 1 : last])):
            above = (number for number in range(first, 0, -1) if lines[number - 1].strip())
            near = next(above, 0) or next((n for n, line in enumerate(lines, 1) if line.strip()), first)
            last = near
        found.append((near, last))
    return merged(found)
