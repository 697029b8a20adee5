"""Next edits in the formats of Zed and Sweep: the newest edits, the lines around a cursor, and these lines after the
edit.

zeta  zed-industries/zeta on the Hub (train, eval, dpo). `events`: one block per edit, `User edited "PATH":` and a
      unified diff in a fence, oldest first. `input`: an excerpt in a fence that opens with its path, the part that may
      change between `<|editable_region_start|>` and `<|editable_region_end|>`, `<|user_cursor_is_here|>` at the cursor.
      `output`: the same after the edit. Source: `Event::to_prompt` and the markers in Zed's crates/zeta/src/zeta.rs.
sweep-next-edit  `prompt` and `completion`, as trainers take them: Sweep published its models' prompt, not its data.
      Sections begin with `<|file_sep|>NAME`: context files, `PATH.diff` (`original:` and `updated:`), then
      `original/PATH`, `current/PATH`, `updated/PATH`, with `:FIRST:LAST` and `<|cursor|>` from v2 on. Sources: the card
      of sweepai/sweep-next-edit-v2-7B on the Hub; for v1 Zed's crates/edit_prediction/src/sweep_prompt.rs.

1. A row becomes a task of `strop build next-edit`: its prompt and answer are Strop's, not the row's.
2. The window has at most MOST_LINES lines around the cursor. A row whose edit lies outside it is left out.
3. There is no later goal: the simulated user wants only the row's edit.
4. The newest three edits are kept, each hunk or block without its unchanged lines.
5. Empty lines at the end of Sweep's sections do not count, as in its own clients. In v1 the cursor is not marked: it is
   taken as the last line in which `current` differs from `original`, else the middle one.
6. `rejected` and `assertions` of zeta (texts for a judge model) are not read.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from strop.tasks.adapters import Adapter
from strop.tasks.next_edit import MOST_LINES, answer_for, as_text, sections, window_around
from strop.tasks.rows import Row
from strop_tasks.formats.fields import has, text
from strop_verify.core.checks import NextEditCheck, PastEdit
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.edits.languages import LANGUAGES
from strop_verify.edits.lines import changed, opcodes

_HISTORY = 3
_REGION = re.compile(
    r"(.*?)<\|editable_region_start\|>\n(.*?)\n?<\|editable_region_end\|>(?:\n(.*))?", re.DOTALL
)
_EXCERPT = re.compile(r"\s*```([^\n]*)\n(.*?)\n?```\s*", re.DOTALL)
_CURSOR, _FILE_START = "<|user_cursor_is_here|>", "<|start_of_file|>\n"
_EVENT = re.compile(r'^User edited "([^"\n]*)":\n```diff\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_SECTION, _SWEEP_CURSOR = "<|file_sep|>", "<|cursor|>"
_ENDS = re.compile(r"<\|file_sep\|>|<\|endoftext\|>|</s>")
_PLACE = re.compile(r"(original|current|updated)/(.*?)(?::(\d{1,9}):\d+)?")
_BLOCK = re.compile(r"original:\n(?:(.*?)\n)?updated:(?:\n(.*))?", re.DOTALL)


class _Edited(NamedTuple):
    """A file's lines before and after an edit, the cursor's line in them, and the number of the first in the file."""

    path: str
    before: list[str]
    after: list[str]
    cursor: int
    first: int = 1


def _task(edited: _Edited, history: Sequence[PastEdit], source: str, where: str) -> Task:
    """Raises UserError for an edit outside the window."""
    start, end = window_around(len(edited.before), edited.cursor, MOST_LINES)
    for equal, i, j, _, _ in opcodes(edited.before, edited.after):
        if not equal and not start <= i <= j <= end:
            raise UserError(
                f"{where}: its edit is not within the {MOST_LINES} lines around the cursor: left out"
            )
    window = edited.before[start:end]
    after = edited.after[start : len(edited.after) - (len(edited.before) - end)]
    check = NextEditCheck(
        path=edited.path,
        first=edited.first + start,
        window=window,
        cursor=edited.cursor - start,
        history=[one for one in history if one.old or one.new][-_HISTORY:],
        next=after,
        goal=after,
    )
    ending = PurePosixPath(edited.path).suffix[1:].lower() or "text"
    language = LANGUAGES.get(ending, ending)
    return Task(
        family="next-edit",
        language=language,
        statement=as_text(sections(check.path, window, check.cursor, check.history)),
        reference=answer_for(window, after),
        check=check,
        topic=language,
        source=source,
    )


def _region(excerpt: str, column: str, where: str) -> tuple[str, str, str]:
    """The text before, in and after the part that may change. Raises UserError unless there is one such part."""
    found = _REGION.fullmatch(excerpt)
    if found is None or excerpt.count("<|editable_region_") != 2:
        raise UserError(f"{where}: field {column!r} needs one editable region between its two markers")
    return found[1], found[2], found[3] or ""


def _read_zeta(row: Row, where: str) -> Iterator[Task]:
    excerpt = _EXCERPT.fullmatch(text(row, "input", where))
    if excerpt is None:
        raise UserError(f"{where}: field 'input' must hold an excerpt in a fence that opens with its path")
    above, region, below = _region(excerpt[2], "input", where)
    _, new, _ = _region(text(row, "output", where), "output", where)
    if region.count(_CURSOR) != 1:
        raise UserError(f"{where}: field 'input' must hold {_CURSOR} once, in the editable region")
    above = above.removeprefix(_FILE_START)
    cursor = (above + region.partition(_CURSOR)[0]).count("\n")
    before, after = (
        (f"{above}{part.replace(_CURSOR, '')}" + (f"\n{below}" if below else "")).split("\n")
        for part in (region, new)
    )
    history = [
        PastEdit(path=path, old=old, new=added)
        for path, diff in _EVENT.findall(text(row, "events", where, default=""))
        for old, added in _hunks(diff)
    ]
    path = excerpt[1].strip() or "untitled"
    yield _task(_Edited(path, before, after, cursor), history, "zeta", where)


def _hunks(diff: str) -> Iterator[tuple[list[str], list[str]]]:
    """The lines that each hunk of a diff removes, and those that it adds."""
    for hunk in re.split(r"^@@.*\n", diff, flags=re.MULTILINE)[1:]:
        lines = [line for line in hunk.split("\n") if line and line[0] in " +-"]
        yield changed(
            [line[1:] for line in lines if line[0] != "+"], [line[1:] for line in lines if line[0] != "-"]
        )


ZETA = Adapter(
    name="zeta",
    about="Zeta (Zed): the next edit of an excerpt, after the newest edits",
    read=_read_zeta,
    fits=lambda row: (
        has(row, events=str, input=str, output=str) and "<|editable_region_start|>" in row["input"]
    ),
)


def _read_sweep(row: Row, where: str) -> Iterator[Task]:
    prompt, completion = text(row, "prompt", where), text(row, "completion", where)
    parts = [part.partition("\n") for part in prompt.split(_SECTION)[1:]]
    places = [_PLACE.fullmatch(name) for name, _, _ in parts[-3:]]
    if [place[1] for place in places if place] != ["original", "current", "updated"]:
        raise UserError(
            f"{where}: field 'prompt' must end with the sections original/, current/ and updated/ of a file"
        )
    original, current, updated = (body for _, _, body in parts[-3:])
    cursor = _cursor(_lines(original), current)
    if not parts[-1][1]:  # the completion continues after the section's name
        completion = completion.removeprefix("\n")
    new = updated + _ENDS.split(completion, maxsplit=1)[0]
    before, after = (_lines(one.replace(_SWEEP_CURSOR, "")) for one in (current, new))
    place = places[1]
    assert place is not None
    history = [
        _block(name.removesuffix(".diff"), body, where)
        for name, _, body in parts[:-3]
        if name.endswith(".diff")
    ]
    if not history:
        old, added = changed(_lines(original), before)
        history = [PastEdit(path=place[2], old=old, new=added)]
    edited = _Edited(place[2], before, after, min(cursor, len(before) - 1), max(1, int(place[3] or 1)))
    yield _task(edited, history, "sweep-next-edit", where)


def _cursor(original: Sequence[str], current: str) -> int:
    """The cursor's line in the section `current`."""
    if current.count(_SWEEP_CURSOR) == 1:
        return current.partition(_SWEEP_CURSOR)[0].count("\n")
    lines = _lines(current)
    ends = [m if m > n else min(n, len(lines)) for equal, _, _, n, m in opcodes(original, lines) if not equal]
    return max(0, ends[-1] - 1) if ends else (len(lines) - 1) // 2


def _block(path: str, body: str, where: str) -> PastEdit:
    found = _BLOCK.fullmatch(body.removesuffix("\n"))
    if found is None or len(re.findall(r"^updated:$", body, re.MULTILINE)) != 1:
        raise UserError(f"{where}: {path}.diff must hold `original:` and `updated:`, each once")
    old, new = changed(*([] if not part else part.split("\n") for part in found.groups()))
    return PastEdit(path=path, old=old, new=new)


def _lines(section: str) -> list[str]:
    return section.rstrip("\n").split("\n")


SWEEP_NEXT_EDIT = Adapter(
    name="sweep-next-edit",
    about="Sweep's next-edit prompts: original/, current/ and updated/ sections, and the completion",
    read=_read_sweep,
    fits=lambda row: has(row, prompt=str, completion=str) and "<|file_sep|>updated/" in row["prompt"],
)
