"""A reward model: a transformers model with one number at the last token of a task and an answer.

What it reads is the task as a user's message and the answer as the assistant's, by the tokenizer's chat template, or
one text where it has none; no text of either becomes a control token. Too long ones lose their beginning.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification

from strop.core.errors import UserError
from strop.core.rollout import Message
from strop.policies.loading import has_fast_bfloat16, load_end_ids, load_tokenizer, model_path
from strop.policies.tokenizer import HubTokenizer

BATCH_TOKENS = 8192
"""Tokens in one forward pass that scores, padding included."""
LONGEST = 2048
"""Tokens of a task and an answer, where the model has positions for them."""


class RewardModel:
    """Scores answers. `model` is transformers' sequence classification model with one label."""

    def __init__(self, model: Any, tokenizer: HubTokenizer, *, max_tokens: int = LONGEST) -> None:
        if getattr(model.config, "num_labels", 0) != 1 or not hasattr(model, "score"):
            kind, labels = type(model).__name__, getattr(model.config, "num_labels", 0)
            raise UserError(
                f"{kind} with {labels} labels has no scalar head named score at its last token; take a model of a "
                "family that has, such as Llama, Qwen, Gemma or Mistral"
            )
        context = getattr(model.config, "max_position_embeddings", None) or max_tokens
        self.model, self.tokenizer, self.longest = model, tokenizer, min(max_tokens, context)

    @classmethod
    def load(
        cls,
        name: str,
        *,
        dtype: torch.dtype,
        revision: str | None = None,
        tokenizer: HubTokenizer | None = None,
        max_tokens: int = LONGEST,
    ) -> "RewardModel":
        """A model that scores, or one of another kind with a head of zeros. Raises UserError."""
        if tokenizer is None:
            inner = load_tokenizer(name, revision)
            tokenizer = HubTokenizer(inner, load_end_ids(name, inner, revision))
        path = model_path(name, revision)
        try:
            model, found = AutoModelForSequenceClassification.from_pretrained(
                path, revision=revision, num_labels=1, dtype=dtype, output_loading_info=True
            )
        except (ValueError, KeyError) as error:
            raise UserError(
                f"{name}: no reward model can be made of it: {' '.join(str(error).split()):.300}"
            ) from None
        if any(key.startswith("score") for key in found["missing_keys"]):
            torch.nn.init.zeros_(model.score.weight)
        model.config.pad_token_id = tokenizer.pad_id
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(model.to(device).eval(), tokenizer, max_tokens=max_tokens)

    def ids(self, prompt: str, answer: str) -> list[int]:
        """Token ids of a task and an answer, at least one."""
        tokenizer = self.tokenizer
        if tokenizer.inner.chat_template:
            head = tokenizer.encode_chat([Message(role="user", content=prompt)])
            found = [*head, *(tokenizer.encode(answer, opens=True) if answer else []), *tokenizer.turn_end]
        else:
            found = [*tokenizer.encode_text(f"{prompt}\n\n{answer}"), *tokenizer.text_end]
        return found[-self.longest :] or [tokenizer.pad_id]

    def scores(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """(rows,) in float32, with a gradient where there is one: one forward pass, padded on the right, where causal
        attention never looks.
        """
        model = self.model
        width, device = max(map(len, rows)), model.device
        ids = torch.full((len(rows), width), self.tokenizer.pad_id, dtype=torch.long)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
        ends = torch.tensor([len(row) - 1 for row in rows], device=device)
        hidden = model.base_model(input_ids=ids.to(device), use_cache=False).last_hidden_state
        chosen = hidden[torch.arange(len(rows), device=device), ends]
        found: torch.Tensor = model.score(chosen.to(model.score.weight.dtype))[:, 0].float()
        return found

    @torch.no_grad()
    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One number for each (task's prompt, answer), in order."""
        rows = [self.ids(*pair) for pair in pairs]
        found = [0.0] * len(rows)
        training = self.model.training
        self.model.eval()
        kind = self.model.device.type
        try:
            with torch.autocast(kind, dtype=torch.bfloat16, enabled=has_fast_bfloat16()):
                for batch in batches([len(row) for row in rows], BATCH_TOKENS):
                    for number, value in zip(
                        batch, self.scores([rows[n] for n in batch]).tolist(), strict=True
                    ):
                        found[number] = value
        finally:
            self.model.train(training)
        return found

    def save(self, folder: Path) -> None:
        """Writes model and tokenizer as transformers loads them."""
        self.model.save_pretrained(folder)
        self.tokenizer.inner.save_pretrained(folder)


def batches(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Numbers in batches of like sizes, each at most `most` with padding, or one number."""
    found: list[list[int]] = []
    for number in sorted(range(len(sizes)), key=lambda number: sizes[number]):
        if found and (len(found[-1]) + 1) * sizes[number] <= most:
            found[-1].append(number)
        else:
            found.append([number])
    return found


@cache
def loaded(name: str) -> RewardModel:
    """A model that scores, once a process."""
    dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    return RewardModel.load(name, dtype=dtype)
