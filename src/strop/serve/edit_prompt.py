"""What a model is shown of a file that is edited, and what its answer means there."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from strop.core.protocols import Tokenizer

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


class PastLines(NamedTuple):
    """One edit that was made: lines of a file, in place of others, without their ends."""

    path: str
    old: list[str]
    new: list[str]


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
    history: tuple[PastLines, ...] = ()


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

    def edit(self, state: EditState, answer: str) -> TextEdit | None:
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

    def ids(self, state: EditState) -> list[int]:
        """Token ids; the far ends of the text are cut."""
        most, room = self._context, _CHARACTERS * self._context
        prefix, suffix = (
            state.text[max(0, state.at - room) : state.at],
            state.text[state.at : state.at + room],
        )
        if self._markers is None:
            return self._tokenizer.encode_text(prefix)[-most:] or list(
                getattr(self._tokenizer, "text_end", ())
            )
        after = self._tokenizer.encode(suffix)[: most // 4] if suffix else []
        free = most - len(after) - len(self._markers)
        before = self._tokenizer.encode(prefix)[-free:] if prefix else []
        first, second, third = self._markers
        return [first, *before, second, *after, third]

    def edit(self, state: EditState, answer: str) -> TextEdit | None:
        """It is put in at the cursor."""
        return TextEdit(state.at, state.at, answer) if answer else None


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
