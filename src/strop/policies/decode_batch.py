"""Rows that are decoded side by side: rows join between steps and leave when they are finished.

A prompt is computed once for all rows that begin with it and stays in memory once (`SharedPrompts`). Each row's own
tokens lie in a cache that has room for all of them. Rows that joined together have the same number of own tokens, and
then nothing is masked.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import torch
from transformers import DynamicCache, PreTrainedModel

from strop.core.protocols import Request
from strop.policies.attention import SharedPrompts, grouped
from strop.policies.contexts import PlayContext, cache_of
from strop.policies.decoded_rows import COMPACT, FEW, DecodedRow, DecodedRows, asking, slices
from strop.policies.decoding import RowCache


@dataclass
class _Prompts:
    """Computed prompts: keys and values one (U, heads, longest, size) a layer, mask (U, longest)."""

    keys: list[torch.Tensor]
    values: list[torch.Tensor]
    mask: torch.Tensor

    def joined(self, other: "_Prompts") -> "_Prompts":
        """These, then the others, padded on the left to one length."""
        longest = max(self.mask.shape[1], other.mask.shape[1])
        ours, theirs = self._padded(longest), other._padded(longest)
        return _Prompts(
            [torch.cat(pair) for pair in zip(ours.keys, theirs.keys, strict=True)],
            [torch.cat(pair) for pair in zip(ours.values, theirs.values, strict=True)],
            torch.cat([ours.mask, theirs.mask]),
        )

    def _padded(self, longest: int) -> "_Prompts":
        more = longest - self.mask.shape[1]
        if not more:
            return self
        pad = torch.nn.functional.pad
        return _Prompts(
            [pad(layer, (0, 0, more, 0)) for layer in self.keys],
            [pad(layer, (0, 0, more, 0)) for layer in self.values],
            pad(self.mask, (more, 0)),
        )


class DecodeBatch(DecodedRows):
    """See the module's docstring."""

    def __init__(self, model: PreTrainedModel, pad_id: int) -> None:
        super().__init__(model, pad_id)
        self._shared: SharedPrompts
        self._prompt_of: list[int] = []
        self._cache: RowCache
        self._positions: torch.Tensor
        """(R,) each row's tokens in its prompt."""

    def context(self, row: DecodedRow) -> PlayContext:
        """See `DecodedRows`."""
        number = self.rows.index(row)
        prompt, own = self._prompt_of[number], int(self._cache.lengths[number])
        used = self._shared.mask[prompt].nonzero()[:, 0]
        keys, values = (
            [layer[prompt].index_select(1, used) for layer in layers]
            for layers in (self._shared.keys, self._shared.values)
        )
        if own:  # before the first own token the cache holds nothing at all
            for at, layer in enumerate(self._cache.layers):
                keys[at] = torch.cat([keys[at], layer.keys[number, :, :own]], dim=1)
                values[at] = torch.cat([values[at], layer.values[number, :, :own]], dim=1)
        return PlayContext([*row.request.prompt, *row.tokens[:own]], keys, values)

    @torch.no_grad()
    def join(
        self,
        requests: Sequence[Request],
        contexts: Sequence[PlayContext | None],
        unwanted: Callable[[], bool] = lambda: False,
    ) -> list[DecodedRow]:
        """See `DecodedRows`."""
        unique: dict[tuple[int, ...], PlayContext | None] = {}
        for request, context in zip(requests, contexts, strict=True):
            prompt = tuple(request.prompt)
            unique[prompt] = unique.get(prompt) or context
        where = {prompt: number for number, prompt in enumerate(unique)}
        prompt_of = [where[tuple(request.prompt)] for request in requests]
        with asking(self._model.modules(), unwanted):
            prompts, logits = self._prefill(list(unique), list(unique.values()))
        positions = prompts.mask.sum(dim=1)[prompt_of]
        logits = logits[prompt_of]
        room = max(request.params.max_tokens for request in requests)
        self._compact(always=True)
        if self.rows:
            old = _Prompts(self._shared.keys, self._shared.values, self._shared.mask)
            prompt_of = [*self._prompt_of, *(number + len(old.mask) for number in prompt_of)]
            prompts = old.joined(prompts)
            self.logits = torch.cat([self.logits, logits])
            self._positions = torch.cat([self._positions, positions])
            self._cache.add(len(requests), room)
        else:
            self.logits, self._positions = logits, positions
            self._cache = RowCache(len(prompts.keys), room, len(requests))
        self._shared, self._prompt_of = SharedPrompts.of_rows(
            prompts.keys, prompts.values, prompts.mask, prompt_of
        )
        return self._add(requests)

    @torch.no_grad()
    def forward(self, unwanted: Callable[[], bool] = lambda: False) -> None:
        """See `DecodedRows`."""
        self._compact()
        if not self.live:
            self.rows = []
            return
        own = self._cache.own_mask(self._device)
        with grouped(), asking(self._layers, unwanted) if len(self.rows) <= FEW else nullcontext():
            self.logits = self._model(
                input_ids=self._tokens[:, None],
                position_ids=self._positions[:, None] + self._cache.lengths[:, None].to(self._device),
                past_key_values=self._cache,
                use_cache=True,
                shared_prompts=replace(self._shared, own=own),
                logits_to_keep=1,
            ).logits[:, -1]
        self._cache.advanced()

    def _compact(self, *, always: bool = False) -> None:
        """Leaves finished rows out, where that pays."""
        live = [number for number, row in enumerate(self.rows) if row is not None]
        if len(live) == len(self.rows) or not live:
            self.rows = self.rows if live else []
            self._draws = self._draws if live else []
            return
        full = self._cache.longest + 1 >= self._cache.room  # a finished row must not run out of room
        if not (always or full or len(live) <= COMPACT * len(self.rows) or len(live) <= FEW):
            return
        keep = torch.tensor(live, device=self._device)
        self._cache.select(keep)
        self._positions, self.logits = self._positions[keep], self.logits[keep]
        if not always:  # between choosing and computing
            self._tokens = self._tokens[keep]
        self.rows = [self.rows[number] for number in live]
        self._draws = [self._draws[number] for number in live]
        self._shared, self._prompt_of = SharedPrompts.of_rows(
            self._shared.keys,
            self._shared.values,
            self._shared.mask,
            [self._prompt_of[number] for number in live],
        )

    def _prefill(
        self, prompts: Sequence[Sequence[int]], contexts: Sequence[PlayContext | None]
    ) -> tuple[_Prompts, torch.Tensor]:
        """(the computed prompts, (U, V) logits of the token after each)."""
        known = [len(context.tokens) if context else 0 for context in contexts]
        new = [len(prompt) - before for prompt, before in zip(prompts, known, strict=True)]
        order = sorted(range(len(prompts)), key=lambda n: new[n])
        parts = [
            part
            for fresh in (True, False)
            for part in slices([n for n in order if (known[n] == 0) is fresh], new)
        ]
        longest = max(max(known[n] for n in part) + max(new[n] for n in part) for part in parts)
        mask = torch.zeros((len(prompts), longest), dtype=torch.bool, device=self._device)
        keys: list[torch.Tensor] = []
        values: list[torch.Tensor] = []
        logits: list[torch.Tensor] = [torch.empty(0)] * len(prompts)
        for part in parts:
            cache, part_mask, part_logits = self._prefill_slice(
                [prompts[n][known[n] :] for n in part], [context for n in part if (context := contexts[n])]
            )
            here = slice(longest - part_mask.shape[1], longest)
            mask[part, here] = part_mask
            for number, row in zip(part, part_logits, strict=True):
                logits[number] = row
            if not keys:
                for layer in cache.layers:
                    shape = (len(prompts), layer.keys.shape[1], longest, layer.keys.shape[3])
                    keys.append(part_logits.new_zeros(shape, dtype=self._model.dtype))
                    values.append(torch.zeros_like(keys[-1]))
            for at, layer in enumerate(cache.layers):
                keys[at][part, :, here], values[at][part, :, here] = layer.keys, layer.values
        return _Prompts(keys, values, mask), torch.stack(logits)

    def _prefill_slice(
        self, prompts: Sequence[Sequence[int]], contexts: Sequence[PlayContext]
    ) -> tuple[DynamicCache, torch.Tensor, torch.Tensor]:
        """What follows the contexts, one for each prompt or none at all."""
        longest = max(map(len, prompts))
        ids = torch.full((len(prompts), longest), self._pad_id)
        new = torch.zeros((len(prompts), longest), dtype=torch.bool)
        for row, prompt in enumerate(prompts):
            ids[row, longest - len(prompt) :] = torch.tensor(prompt)
            new[row, longest - len(prompt) :] = True
        ids, mask = ids.to(self._device), new.to(self._device)
        positions = (mask.long().cumsum(dim=1) - 1).clamp(min=0)
        cache = DynamicCache()
        if contexts:
            cache, before = cache_of(contexts)
            positions += before.sum(dim=1, keepdim=True)
            mask = torch.cat([before, mask], dim=1)
        out = self._model(
            input_ids=ids,
            attention_mask=mask.long(),
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            # An index gives a contiguous copy; a slice would make the head's matrix product copy its weights per row.
            logits_to_keep=torch.tensor([longest - 1], device=self._device),
        )
        return cache, mask, out.logits[:, -1]
