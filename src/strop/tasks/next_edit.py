"""Next edits as text: the prompt that shows the newest edits and a window of lines, and the answer that edits it.

    <file_sep>shop/cart.py          each of the newest edits: path, removed lines, added lines
    -    total = price
    +    total = price * count
    <filename>shop/cart.py          the window: a letter per line; the cursor's line has > in place of :
    a:def add(price, count):
    b>    total = price * count
    c:    return price
    <jupyter_output>                the answer begins

    c                               what follows replaces line c; c-e: those lines; if nothing follows, they are deleted
        return total
    b+                              what follows is inserted after line b

An empty answer is silence: the model's end token alone. The names of sections are single control tokens if the model
has such tokens (`MARKS`), so no text of a file can write one.
"""

import re
from collections.abc import Sequence

from strop.tasks.templates import Prompt
from strop_verify.core.checks import NextEditCheck, PastEdit
from strop_verify.core.play import Section
from strop_verify.core.task import Task
from strop_verify.edits.lines import opcodes

EDIT, WINDOW, ANSWER = MARKS = (
    ("<file_sep>", "<|file_sep|>"),
    ("<filename>", "<|repo_name|>"),
    ("<jupyter_output>", "<|fim_middle|>"),
)
"""Names of the sections' tokens: for the SmolLM2 and StarCoder families; for the Qwen2.5-Coder family."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MOST_LINES = len(LETTERS)
"""Maximum lines of a window."""
ABOVE = 1 / 3
"""Share of a window's other lines that lie above the cursor."""
CLIPPED = 4
"""Maximum removed lines, and added lines, shown of a past edit."""
_PLACE = re.compile(r"([a-z])(?:-([a-z])|(\+))?")


class NextEditPrompt(Prompt):
    """Text whose answer is an edit of a few lines, taken as it is."""

    def assemble(self, completion: str) -> str:
        """The completion, unchanged."""
        return completion


def window_around(length: int, cursor: int, lines: int) -> tuple[int, int]:
    """(first line, end) of the window in a text of `length` lines, counted from 0, end excluded."""
    first = max(0, min(cursor - round((lines - 1) * ABOVE), length - lines))
    return first, min(length, first + lines)


def sections(path: str, window: Sequence[str], cursor: int, history: Sequence[PastEdit]) -> list[Section]:
    """The parts of a prompt. `cursor` is a line of the window, which has at most MOST_LINES."""
    past = [(EDIT, f"{edit.path}\n{_signed('-', edit.old)}{_signed('+', edit.new)}") for edit in history]
    lines = (
        f"{letter}{'>' if at == cursor else ':'}{line}\n"
        for at, (letter, line) in enumerate(zip(LETTERS, window, strict=False))
    )
    return [*past, (WINDOW, f"{path}\n{''.join(lines)}"), (ANSWER, "")]


def prompt_of(task: Task) -> Prompt:
    """The prompt of a next-edit task."""
    check = task.check.only(NextEditCheck)
    parts = sections(check.path, check.window, check.cursor, check.history)
    return NextEditPrompt(text=as_text(parts), sections=tuple(parts))


def as_text(parts: Sequence[Section]) -> str:
    """A prompt for readers, and for policies that take text."""
    return "".join(names[0] + text for names, text in parts)


def edited(window: Sequence[str], answer: str) -> list[str]:
    """The window after an answer. Raises a one-line ValueError for an answer that cannot be parsed."""
    if not answer:
        return list(window)
    head, more, body = answer.partition("\n")
    found = _PLACE.fullmatch(head)
    if found is None:
        raise ValueError(f"{head!r:.40} names no line; write c, c-e or c+")
    first = LETTERS.index(found[1])
    last = LETTERS.index(found[2]) if found[2] else first
    if not first <= last < len(window):
        raise ValueError(f"the window has no lines {head}")
    lines = body.split("\n") if more else []
    if found[3]:
        return [*window[: first + 1], *lines, *window[first + 1 :]]
    return [*window[:first], *lines, *window[last + 1 :]]


def answer_for(window: Sequence[str], after: Sequence[str]) -> str:
    """The shortest answer that turns a window into `after`; "" if they are the same."""
    changed = [code for code in opcodes(window, after) if not code[0]]
    if not changed:
        return ""
    first, last, new = changed[0][1], changed[-1][2], list(after[changed[0][3] : changed[-1][4]])
    if first == last and first:
        return "\n".join([f"{LETTERS[first - 1]}+", *new])
    if first == last:  # an insertion above the first line
        last, new = 1, [*new, window[0]]
    place = LETTERS[first] if last == first + 1 else f"{LETTERS[first]}-{LETTERS[last - 1]}"
    return "\n".join([place, *new])


def _signed(sign: str, lines: Sequence[str]) -> str:
    return "".join(f"{sign}{line}\n" for line in lines[:CLIPPED])
