"""Turns tasks with a wrong and a right program into tasks whose answer is an edit: source `edits:[FORMAT:]SOURCE`.

These have both: `metadata.broken` with a reference (QuixBugs, `strop build rust-fix`), code around a hole
(`metadata.prefix` and `suffix`: infilling), and the vulnerable member of a SVEN pair. FORMAT is one of
`strop_verify.edits.FORMATS`; the default is `infill` if there is a hole, else `search-replace`.

1. The edited file is judged by the task's own check; a SVEN pair, which has no tests, is judged against the fix itself.
2. The only file is `solution.py` or similar. It always ends in a newline, even if the program did not.
3. Blocks and hunks are applied with every tolerance of docs/edits.md.
4. A task keeps the split of its original, and names that in `metadata.original`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from strop.tasks.edit_prompts import reference
from strop.tasks.lines import Report, fail
from strop.tasks.templates import around_hole
from strop_verify.core.checks import Check, EditCheck, LabelCheck
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS, HOLE

PREFIX = "edits"
ENDINGS = {"python": "py", "rust": "rs", "javascript": "js", "typescript": "ts", "c++": "cpp", "bash": "sh"}
"""File extensions that differ from the language's name."""
TOLERANCE = ["line_ends", "trailing_space", "indentation", "offset"]
_PLACED = {"search-replace", "unified-diff"}
"""Formats whose lines are searched for in the file, so that a tolerance means something."""
_KEPT = {"message", "examples", "kind", "operator", "error_code", "pair", "cwe", "func_name", "lines", "date"}
"""Metadata that also holds for the edit task."""


class Unfit(Exception):
    """A task has no edit; the message says why."""


class _Change(NamedTuple):
    """What an edit has to do, and the check that judges it."""

    family: str
    statement: str
    path: str
    before: str
    after: str
    judge: Check | None


def named(rest: str) -> tuple[str | None, str]:
    """(format, source) of the text after `edits:`; format is None if none is named. Raises UserError."""
    first, colon, source = rest.partition(":")
    if colon and first in FORMATS:
        return first, source
    if not rest or (colon and not source):
        fail(f"'{PREFIX}:{rest}' names no source: write {PREFIX}:[FORMAT:]SOURCE, as edits:quixbugs:PATH")
    return None, rest


def wrapped(tasks: Iterable[Task], format: str | None, report: Report = fail) -> Iterator[Task]:
    """Yields the tasks as edits. A task that has none is reported in one line and left out."""
    for task in tasks:
        if _is_fixed_member(task):
            continue
        try:
            yield as_edit(task, format)
        except Unfit as error:
            report(f"task {task.id!r}: {error}")


def as_edit(task: Task, format: str | None = None) -> Task:
    """The task with an edit as its answer. Raises Unfit with the reason."""
    if task.edit is not None:
        return _in_format(task, task.edit, format)
    hole = around_hole(task)
    format = format or ("infill" if hole else "search-replace")
    if hole:
        change = _infilled(task, *hole, marked=format == "infill")
    elif task.family == "vulnerability":
        change = _fix(task)
    else:
        change = _repair(task)
    check = EditCheck(
        format=format,
        files={change.path: change.before},
        oracle={change.path: change.after},
        tolerance=TOLERANCE if format in _PLACED else [],
        judge=change.judge,
        path=change.path if change.judge else "",
    )
    known = {name: value for name, value in task.metadata.items() if name in _KEPT}
    update = {
        "id": f"{task.id}:{format}",
        "family": change.family,
        "statement": change.statement,
        "check": check,
        "prompt": None,
        "metadata": {**known, "original": task.id},
    }
    return _with_reference(task.model_copy(update=update), check)


def _in_format(task: Task, check: EditCheck, format: str | None) -> Task:
    if format is None or format == check.format:
        return task
    if any(HOLE in text for text in check.files.values()) and check.format == "infill":
        raise Unfit(f"its file has a hole, which the format {format!r} cannot fill")
    update = {"format": format, "tolerance": check.tolerance or (TOLERANCE if format in _PLACED else [])}
    changed = check.model_copy(update=update)
    return _with_reference(task.model_copy(update={"id": f"{task.id}:{format}", "check": changed}), changed)


def _with_reference(task: Task, check: EditCheck) -> Task:
    text = reference(check)
    if not text:
        raise Unfit("the known program is the broken one, or no edit leads to it")
    return task.model_copy(update={"reference": text})


def _repair(task: Task) -> _Change:
    broken = task.metadata.get("broken")
    if not isinstance(broken, str) or not broken.strip():
        raise Unfit("it has no broken program (`metadata.broken`); `strop build bugs` makes some")
    if not task.reference.strip() or task.check.answer == "label":
        raise Unfit("it has no right program (`reference`)")
    family = "fix-compile" if task.metadata.get("error_code") else "repair"
    path = solution_of(task)
    return _Change(family, task.statement, path, _ended(broken), _ended(task.reference), task.check)


def _infilled(task: Task, prefix: str, suffix: str, *, marked: bool) -> _Change:
    """`marked`: the file says where the hole is."""
    whole = task.reference
    if not (whole.startswith(prefix) and whole.endswith(suffix) and len(whole) >= len(prefix) + len(suffix)):
        raise Unfit("its reference is not what stands around the hole")
    prefix, suffix = _at_line_ends(prefix, whole[len(prefix) : len(whole) - len(suffix)], suffix)
    before = prefix + (HOLE if marked else "") + suffix
    if HOLE in prefix + suffix:
        raise Unfit(f"its code holds the mark {HOLE}")
    name = task.check.function
    what = f"the function `{name}`" if name else "this code"
    statement = f"Complete {what}." + ("" if marked else " A part of it is missing.")
    before = _ended(before) if suffix else before
    return _Change("infill", statement, solution_of(task), before, _ended(task.reference), task.check)


def _at_line_ends(prefix: str, middle: str, suffix: str) -> tuple[str, str]:
    """The code around the hole, adjusted so that a fenced text, which ends in a newline, fills it exactly."""
    if not suffix:
        return prefix, suffix
    whole_lines = prefix.endswith("\n") and suffix[0] not in "\r\n"
    if whole_lines and middle and not middle.endswith("\n"):
        return prefix[:-1], suffix
    if not whole_lines and middle.endswith("\n") and len(middle) > 1:
        return prefix, "\n" + suffix
    return prefix, suffix


def _fix(task: Task) -> _Change:
    row = task.metadata.get("original")
    texts = _members(row) if isinstance(row, dict) else None
    check = task.check.maybe(LabelCheck)
    if texts is None or check is None:
        raise Unfit("it holds no function before and after a fix")
    meaning = (task.metadata.get("choices") or {}).get(check.expected, "")
    weakness = f"{check.expected} ({meaning})" if meaning else check.expected
    statement = f"This function has a weakness, {weakness}. Mend it."
    return _Change("repair", statement, solution_of(task), _ended(texts[0]), _ended(texts[1]), None)


def _members(row: dict[str, Any]) -> tuple[str, str] | None:
    """The texts before and after the fix, by the field names of either form of row."""
    for before, after in (("vulnerable", "fixed"), ("func_src_before", "func_src_after")):
        old, new = row.get(before), row.get(after)
        if isinstance(old, str) and isinstance(new, str):
            return old, new
    return None


def _is_fixed_member(task: Task) -> bool:
    """Whether a task is the fixed half of a pair; a pair makes only one edit task."""
    check = task.check.maybe(LabelCheck)
    return task.family == "vulnerability" and check is not None and check.expected == "safe"


def solution_of(task: Task) -> str:
    """The file that a task without an edit asks for."""
    return f"solution.{ENDINGS.get(task.language, task.language)}"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
