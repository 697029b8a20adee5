"""What an expert does in a workspace: the calls that lead to a task's known answer, drawn anew for each play.

Look for a name of the changed place, read around it, edit by the smallest text that is there once, test, finish. Now
and then the tests come first, a search finds nothing, or testing is left out. What is edited was read.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from random import Random

from strop.core.task import Task
from strop.edits.lines import split
from strop.edits.smallest import unique_hunks
from strop.environments.calls import ToolCall
from strop.environments.task_tree import project_of, solution_of

_DEFINED = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))? +|async +)*(?:def|class|fn|struct|impl|enum|trait) +(\w+)", re.MULTILINE
)
_WORD = re.compile(r"[A-Za-z_]\w{3,}")
_ABOVE = 10
"""Lines that are read above a place which is not at the top of its file."""


def demonstrated(task: Task, turns: int, tools: Collection[str], rng: Random) -> Iterator[ToolCall]:
    """The calls of these tools, one a turn, in at most `turns` turns; none where no answer is known or the turns do not
    suffice.
    """
    edit = task.edit
    before = dict(edit.files) if edit else {}
    after: Mapping[str, str | None] = edit.oracle if edit else {solution_of(task): task.reference or None}
    needed = [call for path, text in sorted(after.items()) for call in _changes(path, before.get(path), text)]
    if not needed or len(needed) > turns:
        return
    finish = [ToolCall("finish", {})]
    optional = _looks(task, before, after, rng)
    if rng.random() < 0.3:
        optional.insert(0, ToolCall("test", {}))
    optional = [call for call in optional if call.name in tools]
    tested = [ToolCall("test", {})] if "test" in tools and rng.random() < 0.8 else []
    while optional and len(optional) + len(needed) + len(tested) + len(finish) > turns:
        optional.pop(0)
    yield from [*optional, *needed, *tested, *finish][:turns]


def _looks(
    task: Task, before: Mapping[str, str], after: Mapping[str, str | None], rng: Random
) -> list[ToolCall]:
    """Searches and reads, of the first changed file that is there."""
    path = next((path for path in sorted(after) if path in before), None)
    if path is None:
        return []
    text, line = before[path], _first_line(before[path], after[path] or "")
    above = split(text)[: line + 1]
    defined = [match[1] for match in _DEFINED.finditer("".join(above))]
    words = _WORD.findall(above[-1] if above else "")
    name = defined[-1] if defined else rng.choice(words) if words else ""
    found: list[ToolCall] = []
    if name and project_of(task) is not None:
        if rng.random() < 0.2:
            found.append(ToolCall("search", {"pattern": f"def {name.title().replace('_', '')}"}))
        found.append(ToolCall("search", {"pattern": rng.choice([name, name, f"(def|fn|class) {name}"])}))
    start = max(1, line + 1 - _ABOVE - rng.randrange(5))
    return [*found, ToolCall("read", {"path": path, **({"start": start} if start > _ABOVE else {})})]


def _first_line(before: str, after: str) -> int:
    """Number, from 0, of the first line that changes."""
    pairs = zip(split(before), split(after), strict=False)
    return next((at for at, (old, new) in enumerate(pairs) if old != new), 0)


def _changes(path: str, before: str | None, after: str | None) -> Iterator[ToolCall]:
    """The calls that change one file."""
    if before == after:
        return
    if after is None:
        yield ToolCall("run", {"command": f"rm {path}"})
        return
    if not before:
        yield ToolCall("write", {"path": path, "text": after})
        return
    old, new = split(before), split(after)
    for hunk in reversed(unique_hunks(before, after, gap=1)):  # from below, so that line numbers stay
        text = "".join(old)
        first, last, piece = hunk.first, hunk.last, new[hunk.new_first : hunk.new_last]
        while text.count("".join(old[first:last])) != 1:  # as a part of other lines
            if first == 0 and last == len(old):
                break
            piece = [*old[max(0, first - 1) : first], *piece, *old[last : last + 1]]
            first, last = max(0, first - 1), min(len(old), last + 1)
        left, right = _shorter(text, "".join(old[first:last]), "".join(piece))
        yield ToolCall("edit", {"path": path, "old": left, "new": right})
        old[first:last] = piece


def _shorter(text: str, old: str, new: str) -> tuple[str, str]:
    """Both without the line end and the indentation that they share, while the old one is in the text once."""
    if old.endswith("\n") and new.endswith("\n") and text.count(old[:-1]) == 1:
        old, new = old[:-1], new[:-1]
    if "\n" not in old + new:
        indent = len(old) - len(old.lstrip(" \t"))
        if old[:indent] == new[:indent] and text.count(old[indent:]) == 1:
            return old[indent:], new[indent:]
    return old, new
