"""Prompts for suggestions in an edited file, and the conversion of answers to edits."""

import re
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rapidfuzz.distance import Postfix, Prefix

from strop.rollouts.encoding import opening_ids
from strop.tasks.next_edit import as_text, edited, sections, window_around
from strop_verify.core.checks import PastEdit
from strop_verify.core.play import Opening
from strop_verify.core.protocols import Tokenizer
from strop_verify.core.rollout import Completion

_MARKERS = (
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # noqa: RUF001
    ("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),
    ("<PRE>", "<SUF>", "<MID>"),
)
"""Markers that infilling models expect before the prefix, before the suffix and before the middle."""
_CHARACTERS = 8
"""Characters allowed per token of the context: longer texts are cut before they are encoded."""
BEHIND = 64
"""Maximum tokens after the cursor. Four times as many made suggestions not measurably better, and the first token two
to three times later (benchmarks/behind.py, first_token.py)."""
_OPENING, _CLOSING, _OPENERS = "([{", ")]}", (":", "{")
"""Brackets, and the characters that end a line that opens a block."""
_QUOTED = re.compile(r"""\"(?:\\.|[^"\\\n])*\"|'(?:\\.|[^'\\\n])*'""")
_STEPS = 8
"""A prompt's start moves in steps of 1/_STEPS of its length: if it moved with every keystroke, no cache would help."""


@dataclass(frozen=True)
class EditState:
    """The state of an editor.

    at       the cursor's offset in the text
    path     the file's path relative to the project; "" if the client does not send it
    history  the newest edits, oldest first
    """

    text: str
    at: int
    path: str = ""
    history: tuple[PastEdit, ...] = ()


class TextEdit(NamedTuple):
    """Replaces [start:end] of a text with `text`."""

    start: int
    end: int
    text: str


class SuggestionPrompt(Protocol):
    """A prompt format: makes prompts, and edits of the answers."""

    note: str
    """A note for the user, "" for none."""

    def ids(self, state: EditState) -> list[int]:
        """Token ids of the prompt."""

    def ends(self, state: EditState, answer: str) -> bool:
        """Whether sampling can stop because no continuation of the answer can belong to its edit."""

    def edit(self, state: EditState, answer: Completion) -> TextEdit | None:
        """The edit of an answer; None for silence or an answer that cannot be parsed."""


class FimPrompt:
    """Fill-in-the-middle prompts: with the tokenizer's own markers if it has some, else only the prefix.

    Text of the file never becomes a marker. The part of the answer that is one edit (`logical_edit`) is inserted at the
    cursor; a truncated answer keeps its complete lines.
    """

    def __init__(self, tokenizer: Tokenizer, context: int, behind: int | None = None) -> None:
        """`context`: maximum tokens of a prompt. `behind`: maximum tokens after the cursor, by default BEHIND, at most
        a quarter of `context`; each keystroke recomputes them, since models are trained with them after the prefix.
        """
        self._tokenizer, self._context = tokenizer, context
        self._behind = min(BEHIND, context // 4) if behind is None else min(behind, context // 2)
        inner = getattr(tokenizer, "inner", None)
        added = inner.added_tokens_decoder.items() if inner else ()
        ids = {str(token.content): id for id, token in added}
        self._markers = next(
            (tuple(ids[one] for one in three) for three in _MARKERS if all(one in ids for one in three)), None
        )
        blind = "the model has no fill-in-the-middle markers; it sees only the text before the cursor"
        self.note = "" if self._markers else blind
        control: frozenset[int] = getattr(tokenizer, "control_ids", frozenset())
        names = (re.escape(name) for name, id in ids.items() if id in control)
        self._control = re.compile("|".join(names) or "(?!)")

    def ids(self, state: EditState) -> list[int]:
        """Token ids of the prompt; text far from the cursor is cut off."""
        most, room = self._context, _CHARACTERS * self._context
        prefix, suffix = (
            state.text[_begin(state.at, room, room) : state.at],
            state.text[state.at : state.at + room],
        )
        if self._markers is None:
            ids = self._tokenizer.encode_text(prefix)
            return ids[_begin(len(ids), most, most) :] or list(getattr(self._tokenizer, "text_end", ()))
        after = self._tokenizer.encode(suffix)[: self._behind] if suffix else []
        free = most - len(after) - len(self._markers)
        before = self._tokenizer.encode(prefix) if prefix else []
        first, second, third = self._markers
        return [first, *before[_begin(len(before), free, most) :], second, *after, third]

    def ends(self, state: EditState, answer: str) -> bool:
        """Whether the edit is complete or a control token was sampled."""
        return bool(self._control.search(answer)) or logical_edit(*_line_around(state), answer)[1]

    def edit(self, state: EditState, answer: Completion) -> TextEdit | None:
        """Inserts the answer at the cursor, up to the first control token."""
        text, line = self._control.split(answer.text, maxsplit=1)[0], _line_around(state)
        end, over = logical_edit(*line, text)
        if not over and (
            answer.finish_reason != "length" or text != answer.text
        ):  # its last line is complete
            end, over = logical_edit(*line, text + "\n")
            end = min(end, len(text)) if over else len(text)
        return TextEdit(state.at, state.at, text[:end]) if text[:end].strip() else None


class WindowPrompt:
    """The prompt of next-edit tasks: the newest edits and the lines around the cursor, which the answer edits."""

    note = ""

    def __init__(self, tokenizer: Tokenizer, *, lines: int = 12, history: int = 3) -> None:
        """`lines`: lines of the window; `history`: number of newest edits that are shown."""
        self._tokenizer, self._lines, self._history = tokenizer, lines, history

    def ids(self, state: EditState) -> list[int]:
        """Token ids of the prompt."""
        _, window, cursor = self._window(state)
        parts = sections(state.path, window, cursor, state.history[-self._history :])
        return opening_ids(Opening(as_text(parts), sections=tuple(parts)), self._tokenizer)

    def ends(self, state: EditState, answer: str) -> bool:
        """Never: the model was trained to end its answers."""
        return False

    def edit(self, state: EditState, answer: Completion) -> TextEdit | None:
        """The smallest change, or the whole window if that change only deletes text, since an empty text means
        silence."""
        offset, window, _ = self._window(state)
        try:
            after = "\n".join(edited(window, "" if answer.finish_reason == "length" else answer.text))
        except ValueError:
            return None
        before = "\n".join(window)
        if before == after:
            return None
        start = Prefix.similarity(before, after)
        end = Postfix.similarity(before[start:], after[start:])
        if start + end == len(after):  # it only deletes: replace the whole window
            start = end = 0
        text = after[start : len(after) - end]
        return TextEdit(offset + start, offset + len(before) - end, text) if text else None

    def _window(self, state: EditState) -> tuple[int, list[str], int]:
        """(offset of the window, its lines, the cursor's line in it)."""
        lines, cursor = state.text.split("\n"), state.text.count("\n", 0, state.at)
        if not lines[-1] and cursor < len(lines) - 1:
            lines.pop()
        first, last = window_around(len(lines), cursor, self._lines)
        return sum(len(line) + 1 for line in lines[:first]), lines[first:last], cursor - first


def logical_edit(head: str, tail: str, text: str) -> tuple[int, bool]:
    """(end, over): text[:end] holds the complete lines of one edit; `over`: no later text can belong to it.

    The text is inserted between the head and the tail of a line. With a tail, the edit is the rest of the line, up to
    the closing bracket that the tail begins with. Otherwise it is the logical line, until its brackets are closed, and
    the block that it opens: the lines indented deeper, up to an empty one. A complete line needs no edit.
    """
    if tail.strip():
        return _edit_before(tail.strip()[0], text)
    *lines, last = text.split("\n")
    begun, end, after = head, 0, 0
    block, inside = -1, False  # indentation of the line that opens a block; whether the block has a line yet
    for line in lines:
        begun, after = begun + line, after + len(line) + 1
        if not begun.strip():
            if inside:
                return end, True
            begun = ""
        elif _indent(begun) <= block:
            return (after - 1 if begun.strip()[0] in _CLOSING else end), True
        elif _goes_on(begun):
            begun += "\n"
        else:
            opens, new = begun.rstrip().endswith(_OPENERS), bool(text[: after - 1].strip())
            end = after - 1 if new else 0
            if block < 0 and not opens:
                return end, True
            block, inside = (_indent(begun), False) if block < 0 else (block, True)
            begun = ""
    begun += last
    return end, bool(begun.strip()) and _indent(begun) <= block and begun.strip()[0] not in _CLOSING


def _edit_before(tail: str, text: str) -> tuple[int, bool]:
    """`logical_edit` of the rest of a line whose tail begins with the character `tail`."""
    line, newline, _ = text.partition("\n")
    open = 0
    for at, one in enumerate(line):
        if one in _CLOSING and not open and one == tail:
            return at, True
        open = max(0, open + (one in _OPENING) - (one in _CLOSING))
    return (len(line), True) if newline else (0, False)


def _goes_on(line: str) -> bool:
    """Whether a logical line continues: it ends in a backslash, or a bracket is open (a final brace opens a block)."""
    code = _QUOTED.sub("", line).rstrip()
    open = sum((one in _OPENING) - (one in _CLOSING) for one in code)
    return code.endswith("\\") or (open > 0 and not code.endswith("{"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _line_around(state: EditState) -> tuple[str, str]:
    """The cursor's line before and after the cursor."""
    return state.text[: state.at].rpartition("\n")[2], state.text[state.at :].partition("\n")[0]


def _begin(length: int, free: int, most: int) -> int:
    """Where to cut a sequence to at most `free` items; most consecutive lengths give the same place (`_STEPS`)."""
    step = max(1, most // _STEPS)
    return max(0, -(-(length - free) // step) * step)


def parts_of(prompt: str) -> tuple[str, str]:
    """(prefix, suffix) of a prompt that a client wrote with some model's markers; (prompt, "") without markers."""
    for first, second, third in _MARKERS:
        if prompt.lstrip().startswith(first) and prompt.rstrip().endswith(third) and second in prompt:
            prefix, _, suffix = prompt.strip().removeprefix(first).removesuffix(third).partition(second)
            if first == "<PRE>":  # these markers are surrounded by spaces
                prefix, suffix = prefix.removeprefix(" "), suffix.removesuffix(" ")
                prefix = prefix.removesuffix(" ")
            return prefix, suffix
    if prompt.startswith("[SUFFIX]") and "[PREFIX]" in prompt:
        suffix, _, prefix = prompt.removeprefix("[SUFFIX]").partition("[PREFIX]")
        return prefix, suffix
    return prompt, ""
