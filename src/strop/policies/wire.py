"""A tokenizer without a vocabulary, for policies that own no model: text and conversations as token ids, reversibly.

One token is up to four bytes of UTF-8, which is about as much code as one token of a code model's tokenizer, so limits
counted in tokens keep their meaning. A conversation is its messages as JSON between two markers. Token lists can be
concatenated: text outside the markers is what the assistant said, as in a multi-turn rollout.
"""

import json
from collections.abc import Sequence

from strop.core.rollout import Message

BEGIN, END = 0, 1
"""Token ids around a conversation; every other id is 256 or above."""

BYTES_PER_TOKEN = 4


class WireTokenizer:
    """Reversible and stateless: the same ids mean the same text in every process."""

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
