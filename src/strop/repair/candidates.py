"""Stage 3, after sampling: answers -> edits that apply, grouped by what they do.

An answer is hostile text. It is rejected if it holds no edit, does not apply, changes a test or its settings, would
replace a file that was not read, leaves Python that cannot be parsed, or changes only comments and layout. Two samples
are the same edit if they give the same Python syntax trees and, elsewhere, the same lines up to trailing blanks.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from strop.repair.outline import parsed
from strop.repair.record import Edit, SampledEdit
from strop.repair.repository import LARGEST, RepositoryTexts
from strop_verify.core.ids import content_hash
from strop_verify.edits import EditError, Files, Tolerance, apply_answer, format_of
from strop_verify.edits.lines import split

KEPT_ANSWER = 20_000
"""Maximum characters of an answer in the report."""

Changes = Mapping[str, str | None]
"""Path -> text after the edit; None = deleted."""


class NoCandidate(Exception):
    """An answer cannot be used; the message says why in one line."""


@dataclass(frozen=True)
class Applied:
    """The samples, the distinct edits, and each edit's changes by its group."""

    samples: list[SampledEdit]
    edits: list[Edit]
    changes: dict[str, Changes]


def collect(
    answers: Sequence[str],
    repository: RepositoryTexts,
    shown: Sequence[str],
    format: str,
    tolerance: Tolerance,
) -> Applied:
    """Applies every answer. An edit's diff is the smallest among its samples; ties go to the first."""
    samples: list[SampledEdit] = []
    doing: dict[str, list[int]] = {}
    smallest: dict[str, str] = {}
    changes: dict[str, Changes] = {}
    for number, answer in enumerate(answers):
        kept = answer[:KEPT_ANSWER]
        try:
            change = changed(answer, repository, shown, format, tolerance)
        except NoCandidate as fault:
            samples.append(SampledEdit(number=number, answer=kept, fault=str(fault)))
            continue
        key = content_hash({p: None if text is None else normal(p, text) for p, text in change.items()})
        samples.append(SampledEdit(number=number, answer=kept, group=key))
        doing.setdefault(key, []).append(number)
        before = {path: repository.files[path] for path in change if path in repository.files}
        after = {path: text for path, text in change.items() if text is not None}
        diff = format_of("unified-diff").render(before, after)
        if key not in smallest or diff_size(diff) < diff_size(smallest[key]):
            smallest[key], changes[key] = diff, change
    edits = [
        Edit(group=key, samples=doing[key], diff=diff, size=diff_size(diff)) for key, diff in smallest.items()
    ]
    return Applied(samples, edits, changes)


def changed(
    answer: str, repository: RepositoryTexts, shown: Sequence[str], format: str, tolerance: Tolerance
) -> Changes:
    """The changes that an answer's edit makes. Raises NoCandidate."""
    files = repository.files
    try:
        try:
            before: Files = {path: files[path] for path in shown}
            after = apply_answer(answer, before, format, tolerance)
        except EditError as error:
            if error.code not in ("no-file", "no-path"):
                raise
            before = files  # the model may know a file that it was not shown
            after = apply_answer(answer, before, format, tolerance)
    except EditError as error:
        raise NoCandidate(f"{error.code}: {error.text}"[:300]) from None
    change = {p: after.get(p) for p in sorted(before.keys() | after.keys()) if before.get(p) != after.get(p)}
    _check(change, before, repository)
    return change


def _check(change: Changes, before: Files, repository: RepositoryTexts) -> None:
    for path, text in change.items():
        if repository.is_test(path):
            raise NoCandidate(
                f"changes-tests: the edit changes {path!r}, which is a test or configures tests"
            )
        if path not in before and repository.exists(path):
            raise NoCandidate(f"file-exists: the file {path!r} already exists")
        if path not in before and repository.shadows(path):
            raise NoCandidate(f"shadows: {path!r} would shadow a module of the environment")
        if text is not None:
            _check_text(path, text, before.get(path))
    _no_folder_is_a_file(change, repository)
    if all(
        path in before and text is not None and normal(path, before[path]) == normal(path, text)
        for path, text in change.items()
    ):
        raise NoCandidate("no-effect: the edit changes only comments or layout")


def _check_text(path: str, text: str, before: str | None) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise NoCandidate(f"no-text: {path!r} would hold half a surrogate pair") from None
    if size > LARGEST:
        raise NoCandidate(f"too-large: {path!r} would be longer than {LARGEST >> 10} KiB")
    if "\0" in text:
        raise NoCandidate(f"no-text: {path!r} would hold NUL")
    if path.endswith(".py") and parsed(text) is None and (before is None or parsed(before) is not None):
        raise NoCandidate(f"syntax: {path!r} cannot be parsed after the edit")


def _no_folder_is_a_file(change: Changes, repository: RepositoryTexts) -> None:
    """Checks the new paths against the whole repository, not only the files that were shown."""
    gone = {path for path, text in change.items() if text is None}
    for path in change:
        names = path.split("/")
        above = ["/".join(names[:depth]) for depth in range(1, len(names))]
        if any(folder in repository.files and folder not in gone for folder in above):
            raise NoCandidate(f"bad-path: a folder of {path!r} is a file")


@lru_cache(maxsize=64)
def normal(path: str, text: str) -> str:
    """A hash of a text without Python's comments and layout, or without blanks at line ends and empty lines."""
    tree = parsed(text) if path.endswith(".py") else None
    if tree is not None:
        try:
            return content_hash(ast.dump(tree))
        except RecursionError:
            return content_hash(text)
    return content_hash([kept for line in split(text) if (kept := line.rstrip())])


def diff_size(diff: str) -> int:
    """Lines that a diff adds or removes."""
    count, inside = 0, False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            inside = False
        elif line.startswith("@@ "):
            inside = True
        elif inside and line[:1] in ("+", "-"):
            count += 1
    return count
