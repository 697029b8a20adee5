"""Tokenizers for policies: text from data never becomes a control token.

A chat template writes control tokens (`<|im_start|>`) and contents into one text. Only those that the template wrote
become control ids; one that stands in a task, a file or a program's output is encoded as the plain text that it is.
Text without any is encoded exactly as the tokenizer does it.
"""

import json
import re
import secrets
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from strop.core.errors import UserError
from strop.core.rollout import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_PRIVATE = range(0xE000, 0xF8FF)
"""Code points of Unicode's private use area."""

BEGIN, END = 0, 1
"""Token ids around a conversation; every other id is 256 or above."""

BYTES_PER_TOKEN = 4


class HubTokenizer:
    """A transformers tokenizer as a `core.protocols.Tokenizer`.

    control_ids  ids that structure a conversation: special tokens, and added ones that are not runs of white space
    """

    def __init__(self, inner: "PreTrainedTokenizerBase") -> None:
        self.inner = inner
        eos = inner.eos_token_id
        self.eos_ids = frozenset([eos] if isinstance(eos, int) else eos or [])
        self.pad_id = int(inner.pad_token_id or 0)
        added = inner.added_tokens_decoder
        self._control = {
            str(token.content): token
            for token in added.values()
            if token.special or str(token.content).strip()
        }
        self._id_of = {str(token.content): number for number, token in added.items()}
        self.control_ids = frozenset(self._id_of[text] for text in self._control)
        longest_first = sorted(self._control, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, none of them a control id. The text comes back from `decode` as it is."""
        ids = list(self.inner.encode(text, add_special_tokens=False))
        return ids if self.control_ids.isdisjoint(ids) else self._plain(text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, special tokens left out."""
        return str(self.inner.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def vocabulary(self) -> list[str]:
        """The text of each token id, special tokens by their names; what is no whole character shows as U+FFFD."""
        ids = range(len(self.inner))
        pieces = self.inner.convert_ids_to_tokens(list(ids))
        texts = self.inner.batch_decode([[i] for i in ids], clean_up_tokenization_spaces=False)
        # SentencePiece drops the space that begins a text.
        return [
            f" {text}" if str(piece).startswith("\u2581") and not text.startswith(" ") else text
            for piece, text in zip(pieces, texts, strict=True)
        ]

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to where the assistant begins to speak, contents without control ids.

        Raises UserError without a chat template.
        """
        if not self.inner.chat_template:
            fault = "this model's tokenizer has no chat template"
            raise UserError(f"tasks.style=chat, but {fault}; use tasks.style=continue")
        if not any(self._pattern.search(message.content) for message in messages):
            return list(self.inner.encode(self._rendered(messages), add_special_tokens=False))
        guard = self._guard(messages)
        guarded = [m.model_copy(update={"content": self._guarded(m.content, guard)}) for m in messages]
        return self._markup(self._rendered(guarded), guard)

    def encode_turn(self, messages: Sequence[Message], *, ended: bool) -> list[int]:
        """Token ids that follow what the assistant sampled: the end of its turn, these messages, the start of its next.

        ended  whether its turn ends with the end-of-turn token already
        The markup is the chat template's, as it stands after an assistant's message.
        """
        guard = self._guard(messages)
        guarded = [m.model_copy(update={"content": self._guarded(m.content, guard)}) for m in messages]
        mark = secrets.token_hex(8)
        before = [Message(role="user", content="x"), Message(role="assistant", content=mark)]
        text = self._rendered([*before, *guarded]).partition(mark)[2]
        closing = self._pattern.match(text)
        if ended and closing and self._id_of[closing[0]] in self.eos_ids:
            text = text[closing.end() :]
        return self._markup(text, guard)

    def _rendered(self, messages: Sequence[Message]) -> str:
        turns = [message.model_dump() for message in messages]
        return str(self.inner.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))

    def _guard(self, messages: Sequence[Message]) -> str:
        """A character that no content holds."""
        used = {character for message in messages for character in message.content}
        return next(character for character in map(chr, _PRIVATE) if character not in used)

    def _guarded(self, content: str, guard: str) -> str:
        """The content with a guard inside every control token's text, overlapping ones too."""
        starts = {found.start() for found in re.finditer(f"(?={self._pattern.pattern})", content)}
        return "".join(c + guard if at in starts else c for at, c in enumerate(content))

    def _markup(self, text: str, guard: str) -> list[int]:
        """Ids of a rendered conversation: control ids for what the template wrote, plain ones for the rest."""
        ids: list[int] = []
        end, strip_next = 0, False
        for found in [*self._pattern.finditer(text), None]:
            between = text[end : found.start()] if found else text[end:]
            token = self._control[found[0]] if found else None
            between = between.lstrip() if strip_next else between
            between = between.rstrip() if token is not None and token.lstrip else between
            ids += self.encode(between.replace(guard, "")) if between else []
            if found and token is not None:
                ids.append(self._id_of[found[0]])
                end, strip_next = found.end(), token.rstrip
        return ids

    def _plain(self, text: str) -> list[int]:
        ids = self._without_control.encode(text, add_special_tokens=False).ids
        if self.control_ids.isdisjoint(ids):
            return list(ids)
        # The model itself has such a piece: character by character none can form.
        return [
            number for character in text for number in self.inner.encode(character, add_special_tokens=False)
        ]

    @cached_property
    def _without_control(self) -> Any:
        """The same tokenizer, for which control tokens are not tokens. Raises UserError for one written in Python."""
        backend = getattr(self.inner, "backend_tokenizer", None)
        if backend is None:
            raise UserError(
                f"a task holds the text of a control token, which {type(self.inner).__name__} cannot encode as plain "
                "text; use a model with a fast tokenizer"
            )
        data = json.loads(backend.to_str())
        never = secrets.token_hex(16)  # no text holds it; taken out, they would shift the others' ids
        for number, token in enumerate(data["added_tokens"]):
            if token["content"] in self._control:
                token["content"] = f"{never}.{number}"
        return type(backend).from_str(json.dumps(data))


class WireTokenizer:
    """A tokenizer without a vocabulary, for policies that own no model: texts and conversations as ids, reversibly.

    One token is up to four bytes of UTF-8, which is about as much code as one token of a code model's tokenizer, so
    limits counted in tokens keep their meaning. A conversation is its messages as JSON between two markers. Token lists
    can be concatenated: text outside the markers is what the assistant said, as in a multi-turn rollout.
    """

    def encode(self, text: str) -> list[int]:
        """Token ids of a text; lone surrogates become "?"."""
        data = text.encode("utf-8", errors="replace")
        return [
            int.from_bytes(b"\x01" + data[at : at + BYTES_PER_TOKEN], "big")
            for at in range(0, len(data), BYTES_PER_TOKEN)
        ]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, for readers: of a conversation its messages' contents, one under the other."""
        messages = self.messages(ids)
        return self._text(ids) if messages is None else "\n".join(m.content for m in messages)

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to the point where the assistant begins to speak."""
        text = json.dumps([m.model_dump() for m in messages], ensure_ascii=False, separators=(",", ":"))
        return [BEGIN, *self.encode(text), END]

    def encode_turn(self, messages: Sequence[Message], *, ended: bool) -> list[int]:
        """A conversation that goes on: text between two is what the assistant said."""
        return self.encode_chat(messages)

    def messages(self, ids: Sequence[int]) -> list[Message] | None:
        """The conversation that token ids hold, or None when they are plain text.

        Text between and after conversations is a message of the assistant.
        Raises ValueError for ids that `encode` and `encode_chat` did not make.
        """
        if BEGIN not in ids:
            return None
        found: list[Message] = []
        rest = list(ids)
        while rest:
            start = rest.index(BEGIN) if BEGIN in rest else len(rest)
            if start:
                found.append(Message(role="assistant", content=self._text(rest[:start])))
            if start < len(rest):
                end = rest.index(END, start)
                found += [Message.model_validate(m) for m in json.loads(self._text(rest[start + 1 : end]))]
                start = end + 1
            rest = rest[start:]
        return found

    @staticmethod
    def _text(ids: Sequence[int]) -> str:
        if any(i < 256 for i in ids):
            raise ValueError("these token ids are not WireTokenizer's")
        data = b"".join(i.to_bytes((i.bit_length() + 7) // 8, "big")[1:] for i in ids)
        return data.decode("utf-8", errors="replace")
