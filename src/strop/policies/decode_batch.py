"""Continuous batching: rows join between steps and leave when they are finished.

A prompt is computed and stored once for all rows that begin with it (`SharedPrompts`). Each row's own tokens are in a
preallocated cache. If all rows joined together, they have the same number of own tokens and nothing is masked.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from transformers import DynamicCache, PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from strop.policies.attention import SharedPrompts, grouped
from strop.policies.decoding import PlayContext, RowCache, cache_of, choose, uniforms
from strop.policies.guided import Guide
from strop.policies.packed_weights import PackedWeights
from strop_verify.core.progress import PROGRESS
from strop_verify.core.protocols import Request

PREFILL_TOKENS = 2048 if not torch.cuda.is_available() else 1 << 16
"""Maximum prompt tokens computed at once. On a CPU, more would be slower, since they no longer fit the cache."""
MASKED = 1 << 26
"""Maximum size of a mask in elements; prompts of different lengths need one of (rows, longest, longest)."""
COMPACT = 0.85
"""Finished rows are removed when the others are at most this share of all rows, or FEW."""
FEW = 4

Decoder = Callable[[PreTrainedModel, int], "DecodedRows"]
"""(model, padding token id) -> an empty batch."""


class NobodyWaits(Exception):
    """All requests of the current computation were cancelled."""


@dataclass(eq=False)
class DecodedRow:
    """One completion while it is being sampled. `guide`: which tokens may follow; None for any."""

    request: Request
    guide: Guide | None = None
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)


class DecodedRows:
    """Base class of the decoders. `rows` has None for a finished row that is not yet removed."""

    def __init__(self, model: PreTrainedModel, pad_id: int) -> None:
        self._model, self._pad_id = model, pad_id
        self._device = next(model.parameters()).device
        self._layers = [one for one in model.modules() if isinstance(one, GradientCheckpointingLayer)]
        self.rows: list[DecodedRow | None] = []
        self._draws: list[torch.Tensor] = []
        self.logits: torch.Tensor
        """(R, V) for each row's next token."""
        self._tokens: torch.Tensor
        """(R,) the tokens just chosen."""

    @property
    def live(self) -> list[DecodedRow]:
        """The unfinished rows."""
        return [row for row in self.rows if row is not None]

    def drop(self, row: DecodedRow) -> None:
        """Marks a row as finished."""
        self.rows[self.rows.index(row)] = None

    def context(self, row: DecodedRow) -> PlayContext | None:
        """A copy of a row's keys and values, without its last, uncomputed token; None if the model holds them."""
        return None

    def join(
        self,
        requests: Sequence[Request],
        contexts: Sequence[PlayContext | None],
        unwanted: Callable[[], bool] = lambda: False,
    ) -> list[DecodedRow]:
        """Computes the requests' prompts and adds a row for each; returns the rows in the same order.

        contexts  the part of each prompt that is already computed
        unwanted  asked before each matrix product; if True, raises NobodyWaits and leaves the batch unchanged
        """
        raise NotImplementedError

    def forward(self, unwanted: Callable[[], bool] = lambda: False) -> None:
        """Computes the logits after the tokens just chosen, for the unfinished rows.

        unwanted  asked before each layer if rows are few; if True, raises NobodyWaits: all rows must then be dropped
        """
        raise NotImplementedError

    def choose(self) -> Iterator[DecodedRow]:
        """Samples a token for each row, then yields the unfinished rows."""
        pairs = zip(self.rows, self._draws, strict=True)
        PROGRESS.beat()
        drawn = torch.stack([draws[len(row.tokens) if row else 0] for row, draws in pairs])
        for number, row in enumerate(self.rows):
            if row is not None and row.guide is not None:
                self.logits[number] = row.guide.masked(self.logits[number])
        tokens, logprobs, entropies = self._chosen(drawn.to(self._device))
        self._tokens = tokens
        choices = zip(self.rows, tokens.tolist(), logprobs.tolist(), entropies.tolist(), strict=True)
        for row, token, logprob, entropy in list(choices):
            if row is not None:
                row.tokens.append(token)
                if row.guide is not None:
                    row.guide.took(token)
                row.logprobs.append(logprob)
                row.entropies.append(round(entropy, 4))
                yield row

    def _chosen(self, drawn: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """`choose` with each row's own temperature and nucleus."""
        kinds: dict[tuple[float, float], list[int]] = {}
        for number, row in enumerate(self.rows):
            if row is not None:
                params = row.request.params
                kinds.setdefault((params.temperature, params.top_p), []).append(number)
        if len(kinds) == 1:
            ((temperature, top_p),) = kinds
            return choose(self.logits, drawn, temperature=temperature, top_p=top_p)
        tokens = torch.zeros(len(self.rows), dtype=torch.long, device=self._device)
        logprobs = torch.zeros(len(self.rows), device=self._device)
        entropies = torch.zeros_like(logprobs)
        for (temperature, top_p), numbers in kinds.items():
            here = torch.tensor(numbers, device=self._device)
            found = choose(self.logits[here], drawn[here], temperature=temperature, top_p=top_p)
            tokens[here], logprobs[here], entropies[here] = found
        return tokens, logprobs, entropies

    def _add(self, requests: Iterable[Request]) -> list[DecodedRow]:
        added = [DecodedRow(request) for request in requests]
        self.rows += added
        self._draws += [uniforms([row.request.seed], row.request.params.max_tokens)[0] for row in added]
        return added


@dataclass
class _Prompts:
    """Computed prompts: keys and values (U, heads, longest, size) per layer, mask (U, longest)."""

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
    """Decodes rows that share prompts; see the module's docstring."""

    _compact_at = COMPACT
    _cache_kind = RowCache

    def __init__(self, model: PreTrainedModel, pad_id: int) -> None:
        super().__init__(model, pad_id)
        self._packed = PackedWeights(model)
        self._shared: SharedPrompts
        self._prompt_of: list[int] = []
        self._cache: RowCache
        self._positions: torch.Tensor
        """(R,) prompt length of each row."""

    def context(self, row: DecodedRow) -> PlayContext:
        """Copies the prompt's and the row's own keys and values; see `DecodedRows`."""
        number = self.rows.index(row)
        prompt, own = self._prompt_of[number], int(self._cache.lengths[number])
        used = self._shared.mask[prompt].nonzero()[:, 0]
        keys, values = (
            [layer[prompt].index_select(1, used) for layer in layers]
            for layers in (self._shared.keys, self._shared.values)
        )
        if own:  # before the first own token the cache is not allocated
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
        """Computes each distinct prompt once; see `DecodedRows`."""
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
            self._cache = self._cache_kind(len(prompts.keys), room, len(requests))
        self._shared, self._prompt_of = SharedPrompts.of_rows(
            prompts.keys, prompts.values, prompts.mask, prompt_of
        )
        return self._add(requests)

    @torch.no_grad()
    def forward(self, unwanted: Callable[[], bool] = lambda: False) -> None:
        """Runs one step of the model for all rows; see `DecodedRows`."""
        self._compact()
        if not self.live:
            self.rows = []
            return
        left = max(row.request.params.max_tokens - len(row.tokens) for row in self.live)
        asks = asking(self._layers, unwanted) if len(self.rows) <= FEW else nullcontext()
        with grouped(), self._packed.used(len(self.rows), left), asks:
            self.logits = self._computed()
        self._cache.advanced()

    def _computed(self) -> torch.Tensor:
        """(R, V) logits after the tokens just chosen, which are appended to the cache."""
        own = self._cache.own_mask(self._device)
        return self._logits_after(self._tokens, self._cache.lengths.to(self._device), own)

    def _logits_after(
        self, tokens: torch.Tensor, places: torch.Tensor, own: torch.Tensor | None
    ) -> torch.Tensor:
        """(R, V) logits after tokens (R,), each at its place (R,) among its row's own. own: see `SharedPrompts`."""
        out = self._model(
            input_ids=tokens[:, None],
            position_ids=(self._positions + places)[:, None],
            past_key_values=self._cache,
            use_cache=True,
            shared_prompts=replace(self._shared, own=own),
            logits_to_keep=1,
        )
        return out.logits[:, -1]

    def _compact(self, *, always: bool = False) -> None:
        """Removes finished rows if that saves time, or if `always`."""
        live = [number for number, row in enumerate(self.rows) if row is not None]
        if len(live) == len(self.rows) or not live:
            self.rows = self.rows if live else []
            self._draws = self._draws if live else []
            return
        full = self._cache.longest + 1 >= self._cache.room  # or finished rows would overflow
        if not (always or full or len(live) <= self._compact_at * len(self.rows) or len(live) <= FEW):
            return
        keep = torch.tensor(live, device=self._device)
        self._cache.select(keep)
        self._positions, self.logits = self._positions[keep], self.logits[keep]
        if not always:  # between choosing and computing
            self._tokens = self._tokens[keep]
        self.rows = [self.rows[number] for number in live]
        self._draws = [self._draws[number] for number in live]
        shared, kept = self._shared, [self._prompt_of[number] for number in live]
        self._shared, self._prompt_of = SharedPrompts.of_rows(shared.keys, shared.values, shared.mask, kept)

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
            PROGRESS.beat()
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
        """(cache, mask, logits (U, V)) of prompts that follow these contexts: one per prompt, or none at all."""
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
            # An index gives a contiguous copy; with a slice the head would copy its weights for each row.
            logits_to_keep=torch.tensor([longest - 1], device=self._device),
        )
        return cache, mask, out.logits[:, -1]


@contextmanager
def asking(modules: Iterable[torch.nn.Module], unwanted: Callable[[], bool]) -> Iterator[None]:
    """Asks `unwanted` before each layer and matrix product of these modules, as layers are slow for long prompts."""

    def look(*_: Any) -> None:
        if unwanted():
            raise NobodyWaits

    kinds = (GradientCheckpointingLayer, torch.nn.Linear)
    with ExitStack() as hooks:
        for one in modules:
            if isinstance(one, kinds):
                hooks.enter_context(one.register_forward_pre_hook(look))
        yield


def slices(numbers: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Splits prompts, sorted by length, into parts to compute together, within PREFILL_TOKENS (padded) and MASKED."""
    part: list[int] = []
    for number in numbers:
        rows, longest = len(part) + 1, lengths[number]
        masked = part and lengths[part[0]] < longest
        if part and (longest * rows > PREFILL_TOKENS or (masked and longest**2 * rows > MASKED)):
            yield part
            part = []
        part.append(number)
    if part:
        yield part
