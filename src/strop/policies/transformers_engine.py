"""The `transformers` engine: batched sampling for any causal language model that transformers loads.

A group's prompt is prefilled once, finished rows are dropped, and a row ends at a stop string. What a row samples
depends on its prompt, its seed and the weights; the batch around it changes only the last bits of floating point.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from transformers import DynamicCache, PreTrainedModel

from strop.core.rollout import Completion, FinishReason, SamplingParams
from strop.policies.attention import SharedPrompts, attend_in_groups
from strop.policies.decoding import RowCache, choose, uniforms
from strop.policies.loading import HubTokenizer, named_weights

PREFILL_TOKENS = 2048 if not torch.cuda.is_available() else 1 << 16
"""Prompt tokens computed at once. What a CPU computes should fit into its cache: more at a time is slower."""


@dataclass
class _Row:
    """One completion while it is being sampled."""

    index: int
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)


def _slices(prompts: Sequence[Sequence[int]]) -> Iterator[slice]:
    """Prompts to prefill side by side: neighbours, which are of like length, up to PREFILL_TOKENS with the padding."""
    start = longest = 0
    for end, prompt in enumerate(prompts):
        longest = max(longest, len(prompt))
        if end > start and longest * (end + 1 - start) > PREFILL_TOKENS:
            yield slice(start, end)
            start, longest = end, len(prompt)
    yield slice(start, len(prompts))


class TransformersPolicy:
    """Samples from a transformers model, or from a copy of it in a faster type that `update` refreshes.

    max_rows  most rows side by side
    max_tokens_held  most tokens (prompts x longest prompt + rows x max_tokens) in the key-value cache; bounds memory
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: HubTokenizer,
        *,
        name: str = "model",
        dtype: torch.dtype | None = None,
        max_rows: int = 128,
        max_tokens_held: int = 1 << 18,
    ) -> None:
        self.name = name
        self.version = 0
        self.tokenizer = tokenizer
        self.max_rows = max_rows
        self.max_tokens_held = max_tokens_held
        self._source = model
        self._shares_weights = dtype is None or dtype == model.dtype
        self._model = model if self._shares_weights else copy.deepcopy(model).to(dtype)
        if not self._shares_weights:
            self._model.requires_grad_(False)
        attend_in_groups(self._model)
        self._device = next(model.parameters()).device

    @torch.no_grad()
    def update(self, version: int) -> None:
        """Takes over the trained model's weights; `version` is the number of updates that it has seen."""
        self.version = version
        if not self._shares_weights:
            ours = dict(self._model.named_parameters())
            for name, weight in named_weights(self._source):
                ours[name].copy_(weight)

    def sample(
        self, prompts: Sequence[Sequence[int]], seeds: Sequence[int], params: SamplingParams
    ) -> Iterator[tuple[int, Completion]]:
        """Yields (row, completion) as rows finish; see `core.protocols.Policy`."""
        for chunk in self._chunks(prompts, params.max_tokens):
            was_training = self._model.training
            self._model.eval()
            try:
                for row, completion in self._decode(
                    [prompts[i] for i in chunk], [seeds[i] for i in chunk], params
                ):
                    yield chunk[row], completion
            finally:
                self._model.train(was_training)

    def _chunks(self, prompts: Sequence[Sequence[int]], max_tokens: int) -> Iterator[list[int]]:
        """Rows to sample side by side: prompts of like length together, within `max_rows` and `max_tokens_held`."""
        chunk: list[int] = []
        held: set[tuple[int, ...]] = set()
        for row in sorted(range(len(prompts)), key=lambda i: (len(prompts[i]), tuple(prompts[i]), i)):
            prompt = tuple(prompts[row])
            room = (len(chunk) + 1) * max_tokens + len(held | {prompt}) * len(prompt)
            if chunk and (len(chunk) == self.max_rows or room > self.max_tokens_held):
                yield chunk
                chunk, held = [], set()
            chunk.append(row)
            held.add(prompt)
        if chunk:
            yield chunk

    @torch.no_grad()
    def _prefill(
        self, prompts: Sequence[Sequence[int]]
    ) -> tuple[list[torch.Tensor], list[torch.Tensor], torch.Tensor, torch.Tensor]:
        """(keys and values, one (prompts, heads, longest, size) a layer; mask (prompts, longest); logits)."""
        longest = max(map(len, prompts))
        mask = torch.zeros((len(prompts), longest), dtype=torch.bool, device=self._device)
        keys: list[torch.Tensor] = []
        values: list[torch.Tensor] = []
        logits = []
        for part in _slices(prompts):
            cache, part_mask, part_logits = self._prefill_slice(prompts[part])
            here = slice(longest - part_mask.shape[1], longest)
            mask[part, here] = part_mask
            logits.append(part_logits)
            if not keys:
                for layer in cache.layers:
                    shape = (len(prompts), layer.keys.shape[1], longest, layer.keys.shape[3])
                    keys.append(part_logits.new_zeros(shape, dtype=self._model.dtype))
                    values.append(torch.zeros_like(keys[-1]))
            for at, layer in enumerate(cache.layers):
                keys[at][part, :, here], values[at][part, :, here] = layer.keys, layer.values
        return keys, values, mask, torch.cat(logits)

    def _prefill_slice(
        self, prompts: Sequence[Sequence[int]]
    ) -> tuple[DynamicCache, torch.Tensor, torch.Tensor]:
        longest = max(map(len, prompts))
        ids = torch.full((len(prompts), longest), self.tokenizer.pad_id)
        mask = torch.zeros((len(prompts), longest), dtype=torch.bool)
        for row, prompt in enumerate(prompts):
            ids[row, longest - len(prompt) :] = torch.tensor(prompt)
            mask[row, longest - len(prompt) :] = True
        ids, mask = ids.to(self._device), mask.to(self._device)
        cache = DynamicCache()
        out = self._model(
            input_ids=ids,
            attention_mask=mask.long(),
            position_ids=(mask.long().cumsum(dim=1) - 1).clamp(min=0),
            past_key_values=cache,
            use_cache=True,
            # An index gives a contiguous copy; a slice would make the head's matrix product copy its weights per row.
            logits_to_keep=torch.tensor([longest - 1], device=self._device),
        )
        return cache, mask, out.logits[:, -1]

    @torch.no_grad()
    def _decode(
        self, prompts: Sequence[Sequence[int]], seeds: Sequence[int], params: SamplingParams
    ) -> Iterator[tuple[int, Completion]]:
        unique = list(dict.fromkeys(map(tuple, prompts)))
        where = {prompt: i for i, prompt in enumerate(unique)}
        prompt_of = [where[tuple(p)] for p in prompts]
        keys, values, mask, logits = self._prefill(unique)
        logits, positions = logits[prompt_of], mask.sum(dim=1)[prompt_of]
        shared, prompt_of = SharedPrompts.of_rows(keys, values, mask, prompt_of)
        cache = RowCache(len(keys), params.max_tokens)
        draws = uniforms(seeds, params.max_tokens)
        rows: list[_Row | None] = [_Row(i) for i in range(len(prompts))]
        for step in range(params.max_tokens):
            drawn = draws[[r.index if r else 0 for r in rows], step].to(self._device)
            tokens, logprobs, entropies = choose(
                logits, drawn, temperature=params.temperature, top_p=params.top_p
            )
            yield from self._advance(rows, tokens.tolist(), logprobs.tolist(), entropies.tolist(), params)
            live = [i for i, row in enumerate(rows) if row is not None]
            if not live or step + 1 == params.max_tokens:
                return
            if len(live) < len(rows) and (len(live) <= 0.85 * len(rows) or len(live) <= 4):
                keep = torch.tensor(live, device=self._device)
                if step:
                    cache.select(keep)
                tokens, positions = tokens[keep], positions[keep]
                rows = [rows[i] for i in live]
                shared, prompt_of = SharedPrompts.of_rows(
                    shared.keys, shared.values, shared.mask, [prompt_of[i] for i in live]
                )
            logits = self._model(
                input_ids=tokens[:, None],
                position_ids=positions[:, None] + step,
                past_key_values=cache,
                use_cache=True,
                shared_prompts=shared,
                logits_to_keep=1,
            ).logits[:, -1]

    def _advance(
        self,
        rows: list[_Row | None],
        tokens: list[int],
        logprobs: list[float],
        entropies: list[float],
        params: SamplingParams,
    ) -> Iterator[tuple[int, Completion]]:
        """Appends one token a row, yields the rows that are finished and marks them None."""
        for i, row in enumerate(rows):
            if row is None:
                continue
            row.tokens.append(tokens[i])
            row.logprobs.append(logprobs[i])
            row.entropies.append(round(entropies[i], 4))
            text, reason = self._ending(row, params)
            if reason is not None:
                rows[i] = None
                yield (
                    row.index,
                    Completion(
                        token_ids=row.tokens,
                        logprobs=row.logprobs,
                        entropies=row.entropies,
                        text=text,
                        finish_reason=reason,
                        policy_version=self.version,
                    ),
                )

    def _ending(self, row: _Row, params: SamplingParams) -> tuple[str, FinishReason | None]:
        if row.tokens[-1] in self.tokenizer.eos_ids:
            return self.tokenizer.decode(row.tokens[:-1]), "eos"
        text = self.tokenizer.decode(row.tokens)
        cut = min((at for s in params.stop if (at := text.find(s)) >= 0), default=-1)
        if cut >= 0:
            return text[:cut], "stop"
        return text, "length" if len(row.tokens) == params.max_tokens else None
