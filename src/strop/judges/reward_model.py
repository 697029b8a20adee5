"""A reward model: a transformers model with a scalar head at the last token of a task and an answer.

It reads the task as a user message and the answer as an assistant message in the tokenizer's chat template, or both as
one text without a template; text in either never becomes a control token. Inputs that are too long lose their start.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification

from strop.policies.attention import grouped, prefix_tree
from strop.policies.loading import has_fast_bfloat16, load_end_ids, load_tokenizer, model_path
from strop.policies.proof import ANSWERS, PROMPT, at_rest, random_ids, watch
from strop.policies.tokenizer import HubTokenizer
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Message

BATCH_TOKENS = 4096
"""Maximum tokens in a scoring forward pass, including padding."""
SHARES = "strop_shared_prefix"
"""Key in config.json that is set if the model attends in groups."""
Row = tuple[tuple[int, ...], list[int]]
"""(token ids of a task, token ids of an answer)."""
NEAR = 1e-3
"""Maximum relative difference at which hidden states count as equal in float32; 100 times that in shorter types."""
LONGEST = 2048
"""Default limit on the tokens of a task and an answer together."""


class RewardModel:
    """Scores answers. `model` is transformers' sequence classification model with one label."""

    def __init__(self, model: Any, tokenizer: HubTokenizer, *, max_tokens: int = LONGEST) -> None:
        if getattr(model.config, "num_labels", 0) != 1 or not hasattr(model, "score"):
            kind, labels = type(model).__name__, getattr(model.config, "num_labels", 0)
            raise UserError(
                f"{kind} with {labels} labels has no scalar head named score at its last token; use a model of a "
                "family that has one, such as Llama, Qwen, Gemma or Mistral"
            )
        context = getattr(model.config, "max_position_embeddings", None) or max_tokens
        self.model, self.tokenizer, self.longest = model, tokenizer, min(max_tokens, context)
        self.shares = False
        """Whether answers to one task share the computation of its tokens."""
        if getattr(model.config, SHARES, False):
            self.share()

    def share(self) -> None:
        """Shares the computation of a task's tokens among its answers, if that gives the same hidden states."""
        self.shares = watch(self.model) is not None and self._comes_to_the_same()
        setattr(self.model.config, SHARES, self.shares)

    @torch.no_grad()
    def _comes_to_the_same(self) -> bool:
        prompt = tuple(random_ids(self.model, PROMPT, 0))
        rows = [(prompt, random_ids(self.model, count, count)) for count in ANSWERS]
        with at_rest(self.model):
            plain = torch.cat([self._padded([row]) for row in rows]).float()
            far = (self._packed(rows).float() - plain).norm() / plain.norm()
        return bool(far <= (NEAR if self.model.dtype == torch.float32 else 100 * NEAR))

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
        """Loads a saved reward model, or any other model with a new head of zeros. Raises UserError."""
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
                f"{name}: cannot be loaded as a reward model: {' '.join(str(error).split()):.300}"
            ) from None
        if any(key.startswith("score") for key in found["missing_keys"]):
            torch.nn.init.zeros_(model.score.weight)
        model.config.pad_token_id = tokenizer.pad_id
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(model.to(device).eval(), tokenizer, max_tokens=max_tokens)

    def row(self, prompt: str, answer: str) -> Row:
        """Token ids of a task and an answer, at least one each."""
        tokenizer = self.tokenizer
        if tokenizer.inner.chat_template:
            head = tokenizer.encode_chat([Message(role="user", content=prompt)])
            tail = [*(tokenizer.encode(answer, opens=True) if answer else []), *tokenizer.turn_end]
        else:
            head = tokenizer.encode_text(f"{prompt}\n\n")
            tail = [*(tokenizer.encode(answer) if answer else []), *tokenizer.text_end]
        whole = [*head, *tail][-self.longest :]
        whole = [*[tokenizer.pad_id] * (2 - len(whole)), *whole]
        cut = min(max(1, len(whole) - len(tail)), len(whole) - 1)
        return tuple(whole[:cut]), whole[cut:]

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """(rows,) float32 scores from one forward pass, with gradients if enabled. The head is computed in float32, as
        bfloat16 would make different scores equal.
        """
        hidden, head = (self._packed if self.shares else self._padded)(rows), self.model.score
        with torch.autocast(self.model.device.type, enabled=False):
            bias = None if head.bias is None else head.bias.float()
            return torch.nn.functional.linear(hidden.float(), head.weight.float(), bias)[:, 0]

    def _padded(self, rows: Sequence[Row]) -> torch.Tensor:
        """Last hidden states of rows padded on the right, where causal attention never looks."""
        device, whole = self.model.device, [[*prompt, *answer] for prompt, answer in rows]
        ids = torch.full((len(rows), max(map(len, whole))), self.tokenizer.pad_id, dtype=torch.long)
        for number, row in enumerate(whole):
            ids[number, : len(row)] = torch.tensor(row)
        ends = torch.tensor([len(row) - 1 for row in whole], device=device)
        hidden: torch.Tensor = self.model.base_model(
            input_ids=ids.to(device), use_cache=False
        ).last_hidden_state
        return hidden[torch.arange(len(rows), device=device), ends]

    def _packed(self, rows: Sequence[Row]) -> torch.Tensor:
        """The same as `_padded`, with common prefixes computed once."""
        tree, places = prefix_tree([[*prompt, *answer] for prompt, answer in rows], self.model.device)
        with grouped():
            hidden: torch.Tensor = self.model.base_model(
                input_ids=tree.ids[None], position_ids=tree.positions[None], prefix_tree=tree, use_cache=False
            ).last_hidden_state
        return hidden[0, torch.tensor([place[-1] for place in places], device=self.model.device)]

    def cost(self, rows: Sequence[Row]) -> int:
        """Number of tokens in one forward pass over these rows."""
        if not self.shares:
            return len(rows) * max((len(prompt) + len(answer) for prompt, answer in rows), default=0)
        prompts = sum(len(prompt) for prompt, _ in groupby(rows, key=itemgetter(0)))
        return prompts + sum(len(answer) for _, answer in rows)

    @torch.no_grad()
    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One score per (task's prompt, answer), in order. Answers to one task should be adjacent."""
        rows = [self.row(*pair) for pair in pairs]
        order = list(range(len(rows)))
        if not self.shares:
            order.sort(key=lambda number: len(rows[number][0]) + len(rows[number][1]))
        found = [0.0] * len(rows)
        training, kind = self.model.training, self.model.device.type
        self.model.eval()
        try:
            with torch.autocast(kind, dtype=torch.bfloat16, enabled=has_fast_bfloat16()):
                for some in self.batches([rows[number] for number in order], BATCH_TOKENS):
                    values = self.scores([rows[order[at]] for at in some]).tolist()
                    for at, value in zip(some, values, strict=True):
                        found[order[at]] = value
        finally:
            self.model.train(training)
        return found

    def batches(self, rows: Sequence[Row], most: int) -> Iterator[range]:
        """Ranges of adjacent rows with at most `most` tokens, or of one row."""
        start = 0
        for end in range(1, len(rows) + 1):
            if end == len(rows) or self.cost(rows[start : end + 1]) > most:
                yield range(start, end)
                start = end

    def save(self, folder: Path) -> None:
        """Writes model and tokenizer as transformers loads them."""
        self.model.save_pretrained(folder)
        self.tokenizer.inner.save_pretrained(folder)


@cache
def loaded(name: str) -> RewardModel:
    """The reward model, loaded once per process."""
    dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    return RewardModel.load(name, dtype=dtype)
