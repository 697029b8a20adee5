"""What a model is shown of a file that is edited, and what its answer means there."""

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
"""What models that infill put before the prefix, before the suffix and before the middle."""
_CHARACTERS = 8
"""Characters a token, at most: longer texts are cut before they are encoded."""
_STEPS = 8
"""A prompt's beginning moves on by this part of its length: a prompt that moves with every key is computed anew."""


@dataclass(frozen=True)
class EditState:
    """What an editor shows.

    at       the cursor's offset in the text
    path     of the file, relative to the project; "" where the client does not say
    history  the newest edits, the oldest of them first
    """

    text: str
    at: int
    path: str = ""
    history: tuple[PastEdit, ...] = ()


class TextEdit(NamedTuple):
    """text[start:end] becomes `text`."""

    start: int
    end: int
    text: str


class SuggestionPrompt(Protocol):
    """A prompt format."""

    note: str
    """What a user should know of it, "" for nothing."""

    def ids(self, state: EditState) -> list[int]:
        """Token ids of the prompt."""

    def edit(self, state: EditState, answer: Completion) -> TextEdit | None:
        """What an answer asks for; None for silence, and for an answer that cannot be read."""


class FimPrompt:
    """Fill-in-the-middle prompts for a tokenizer: with its own markers where it has some, else the prefix alone.

    Text that is given never becomes a marker. The answer stands at the cursor.
    """

    def __init__(self, tokenizer: Tokenizer, context: int) -> None:
        """`context`: most tokens of a prompt; a quarter of them are for what stands behind the cursor."""
        self._tokenizer, self._context = tokenizer, context
        inner = getattr(tokenizer, "inner", None)
        added = inner.added_tokens_decoder.items() if inner else ()
        ids = {str(token.content): id for id, token in added}
        self._markers = next(
            (tuple(ids[one] for one in three) for three in _MARKERS if all(one in ids for one in three)), None
        )
        blind = (
            "the model has no markers to fill in the middle with; it sees what stands before the cursor alone"
        )
        self.note = "" if self._markers else blind
        control: frozenset[int] = getattr(tokenizer, "control_ids", frozenset())
        names = (re.escape(name) for name, id in ids.items() if id in control)
        self._control = re.compile("|".join(names) or "(?!)")

    def ids(self, state: EditState) -> list[int]:
        """Token ids; the far ends of the text are cut."""
        most, room = self._context, _CHARACTERS * self._context
        prefix, suffix = (
            state.text[_begin(state.at, room, room) : state.at],
            state.text[state.at : state.at + room],
        )
        if self._markers is None:
            ids = self._tokenizer.encode_text(prefix)
            return ids[_begin(len(ids), most, most) :] or list(getattr(self._tokenizer, "text_end", ()))
        after = self._tokenizer.encode(suffix)[: most // 4] if suffix else []
        free = most - len(after) - len(self._markers)
        before = self._tokenizer.encode(prefix) if prefix else []
        first, second, third = self._markers
        return [first, *before[_begin(len(before), free, most) :], second, *after, third]

    def edit(self, state: EditState, answer: Completion) -> TextEdit | None:
        """It is put in at the cursor, up to the first control token: what follows belongs elsewhere."""
        text = self._control.split(answer.text, maxsplit=1)[0]
        return TextEdit(state.at, state.at, text) if text else None


class WindowPrompt:
    """The prompt of next-edit tasks: the newest edits and the lines around the cursor. The answer edits a few lines."""

    note = ""

    def __init__(self, tokenizer: Tokenizer, *, lines: int = 12, history: int = 3) -> None:
        """`lines` of the window, and the newest edits that are shown."""
        self._tokenizer, self._lines, self._history = tokenizer, lines, history

    def ids(self, state: EditState) -> list[int]:
        """Token ids."""
        _, window, cursor = self._window(state)
        parts = sections(state.path, window, cursor, state.history[-self._history :])
        return opening_ids(Opening(as_text(parts), sections=tuple(parts)), self._tokenizer)

    def edit(self, state: EditState, answer: Completion) -> TextEdit | None:
        """What changes, and no more; never without a text, which would be silence."""
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
        if start + end == len(after):  # it takes out alone: all of the window is the text
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


def _begin(length: int, free: int, most: int) -> int:
    """Where to cut what has only `free` places of `most`: the same for most lengths that follow one another."""
    step = max(1, most // _STEPS)
    return max(0, -(-(length - free) // step) * step)


def parts_of(prompt: str) -> tuple[str, str]:
    """(prefix, suffix) of a prompt that a client wrote with the markers of some model; (prompt, "") of another."""
    for first, second, third in _MARKERS:
        if prompt.lstrip().startswith(first) and prompt.rstrip().endswith(third) and second in prompt:
            prefix, _, suffix = prompt.strip().removeprefix(first).removesuffix(third).partition(second)
            if first == "<PRE>":  # written with a space around
                prefix, suffix = prefix.removeprefix(" "), suffix.removesuffix(" ")
                prefix = prefix.removesuffix(" ")
            return prefix, suffix
    if prompt.startswith("[SUFFIX]") and "[PREFIX]" in prompt:
        suffix, _, prefix = prompt.removeprefix("[SUFFIX]").partition("[PREFIX]")
        return prefix, suffix
    return prompt, ""
