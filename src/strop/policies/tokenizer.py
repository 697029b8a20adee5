"""A transformers tokenizer behind Strop's `Tokenizer` protocol."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from strop.core.errors import UserError
from strop.core.rollout import Message


class HubTokenizer:
    """Text to tokens and back with a Hugging Face tokenizer."""

    def __init__(self, inner: PreTrainedTokenizerBase) -> None:
        self.inner = inner
        eos = inner.eos_token_id
        self.eos_ids = frozenset([eos] if isinstance(eos, int) else eos or [])
        self.pad_id = int(inner.pad_token_id or 0)

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, without added special tokens."""
        return list(self.inner.encode(text, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, special tokens left out."""
        return str(self.inner.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def vocabulary(self) -> list[str]:
        """The text of each token id, special tokens by their names; what is no whole character shows as U+FFFD."""
        pieces = self.inner.convert_ids_to_tokens(list(range(len(self.inner))))
        texts = self.inner.batch_decode(
            [[i] for i in range(len(self.inner))], clean_up_tokenization_spaces=False
        )
        # SentencePiece drops the space that begins a text.
        return [
            f" {text}" if str(piece).startswith("\u2581") and not text.startswith(" ") else text
            for piece, text in zip(pieces, texts, strict=True)
        ]

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to where the assistant begins to speak. UserError without a chat template."""
        if not self.inner.chat_template:
            raise UserError(
                "tasks.style=chat, but this model's tokenizer has no chat template; use tasks.style=continue"
            )
        text = self.inner.apply_chat_template(
            [m.model_dump() for m in messages], tokenize=False, add_generation_prompt=True
        )
        return self.encode(str(text))
