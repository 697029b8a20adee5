"""Choosing next tokens, a preallocated key/value cache for sampled tokens, and contexts kept between a play's turns.

Each row has one uniform number per token, so it never depends on its neighbours' draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import DynamicCache
from transformers.cache_utils import Cache, CacheLayerMixin

from strop_verify.core.protocols import CacheHandle

_BLOCK = 256
_NUMBERS = 1 << 20
"""Logits per chunk: they fit the processor's cache, and their memory is reused."""


def uniforms(seeds: Sequence[int], length: int) -> torch.Tensor:
    """(rows, length) numbers in [0, 1), float64; row r depends on seeds[r] alone."""
    generator = torch.Generator()
    seeded = (generator.manual_seed(seed) for seed in seeds)
    return torch.stack([torch.rand(length, generator=one, dtype=torch.float64) for one in seeded])


def choose(
    logits: torch.Tensor, uniform: torch.Tensor, *, temperature: float, top_p: float = 1.0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(tokens (rows,) int64, their log-probabilities under the sampling distribution (rows,) float32, entropies of that
    distribution in nats (rows,) float32).

    logits   (rows, vocabulary), any float type
    uniform  (rows,) in [0, 1), used to invert the cumulative distribution; ignored when greedy
    Temperature 0 is greedy; log-probabilities and entropies are then those at temperature 1. top_p keeps the smallest
    set of most likely tokens whose mass reaches it, renormalised (Holtzman et al. 2020, section 3.1).
    """
    rows = max(1, _NUMBERS // logits.shape[1])
    if len(logits) > rows:
        parts = [
            choose(part, drawn, temperature=temperature, top_p=top_p)
            for part, drawn in zip(logits.split(rows), uniform.split(rows), strict=True)
        ]
        tokens, logprobs, entropies = (torch.cat(values) for values in zip(*parts, strict=True))
        return tokens, logprobs, entropies
    scaled = logits.float() if temperature in (0, 1) else logits.float() / temperature
    scaled = scaled - scaled.amax(dim=-1, keepdim=True)
    if 0 < top_p < 1 and temperature:
        scaled = _nucleus(scaled, top_p)
    weights = scaled.exp()
    blocks = _block_sums(weights)
    total = blocks[:, -1:]
    tokens = scaled.argmax(dim=-1) if temperature == 0 else _invert_cdf(weights, blocks, uniform)
    norm = total.log().float()
    chosen = scaled.gather(1, tokens[:, None]) - norm
    if top_p < 1:  # 0 x -inf is NaN
        scaled = scaled.masked_fill_(weights == 0, 0.0)
    entropies = norm[:, 0] - torch.linalg.vecdot(weights, scaled) / total[:, 0].float()
    return tokens, chosen[:, 0], entropies


def _nucleus(scaled: torch.Tensor, top_p: float) -> torch.Tensor:
    ordered, order = scaled.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=-1)
    outside = probabilities.double().cumsum(dim=-1) - probabilities >= top_p
    return scaled.masked_fill(outside.gather(1, order.argsort(dim=-1)), -torch.inf)


def _block_sums(weights: torch.Tensor) -> torch.Tensor:
    """(rows, blocks) float64: cumulative sums of the weights at the end of each block of _BLOCK."""
    rows, size = weights.shape
    whole = size - size % _BLOCK
    sums = weights[:, :whole].view(rows, -1, _BLOCK).sum(dim=-1)
    return torch.cat([sums, weights[:, whole:].sum(dim=-1, keepdim=True)], dim=1).double().cumsum(dim=-1)


def _invert_cdf(weights: torch.Tensor, blocks: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Searches the block sums, then within one block: exact to float64 and cheap for large vocabularies."""
    size = weights.shape[1]
    target = uniform.to(blocks)[:, None] * blocks[:, -1:]
    block = torch.searchsorted(blocks, target, right=True).clamp(max=blocks.shape[1] - 1)
    before = torch.where(block > 0, blocks.gather(1, (block - 1).clamp(min=0)), 0.0)
    places = block * _BLOCK + torch.arange(_BLOCK, device=block.device)
    inside = weights.gather(1, places.clamp(max=size - 1)).double().masked_fill_(places >= size, 0.0)
    ends = inside.cumsum(dim=-1)
    rest = (target - before).clamp(max=ends[:, -1:] * (1 - 1e-15))
    offset = torch.searchsorted(ends, rest, right=True).clamp(max=_BLOCK - 1)
    # Rounding may end on a token of weight zero: step back to the last one with weight.
    last = (inside > 0).long().mul(torch.arange(_BLOCK, device=inside.device)).amax(dim=-1, keepdim=True)
    return (block * _BLOCK + torch.minimum(offset, last))[:, 0].clamp(max=size - 1)


class RowLayer(CacheLayerMixin):
    """Keys and values of one layer, (rows, heads, room, head size); row r uses the first `owner.lengths[r]` places."""

    is_sliding = False

    def __init__(self, owner: "RowCache") -> None:
        super().__init__()
        self.owner = owner

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocates the cache with the shape of the first keys and values."""
        shape = (*key_states.shape[:2], self.owner.room)
        self.keys = key_states.new_zeros((*shape, key_states.shape[-1]))
        self.values = value_states.new_zeros((*shape, value_states.shape[-1]))
        self.is_initialized = True

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any) -> Any:
        """Appends one token per row in place; returns views of the part in use."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        owner, end = self.owner, self.owner.longest + 1
        if owner.even:
            self.keys[:, :, end - 1 : end], self.values[:, :, end - 1 : end] = key_states, value_states
        else:
            rows = torch.arange(len(key_states), device=key_states.device)
            places = owner.lengths.to(key_states.device)
            self.keys[rows, :, places] = key_states[:, :, 0]
            self.values[rows, :, places] = value_states[:, :, 0]
        return self.keys[:, :, :end], self.values[:, :, :end]

    def arranged(self, rows: torch.Tensor, more: int) -> None:
        """Keeps the rows with these indices and appends `more` empty ones, with the owner's room."""
        used = self.owner.longest
        for name in ("keys", "values"):
            old = getattr(self, name)
            shape = (len(rows) + more, old.shape[1], self.owner.room, old.shape[3])
            # Masked places are multiplied by 0, which would keep a NaN of uninitialised memory.
            new = old.new_zeros(shape) if more or not self.owner.even else old.new_empty(shape)
            new[: len(rows), :, :used] = old[:, :, :used].index_select(0, rows)
            setattr(self, name, new)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """(length, offset) of the keys that a query of this length sees."""
        return self.owner.longest + query_length, 0

    def get_seq_length(self) -> int:
        """Number of positions in use."""
        return self.owner.longest

    def get_max_length(self) -> int:
        """Number of positions allocated."""
        return self.owner.room

    get_max_cache_shape = get_max_length


class RowCache(Cache):
    """One `RowLayer` per layer of the model. lengths: (R,) int64, cached tokens of each row."""

    _layer_kind: type[RowLayer] = RowLayer

    def __init__(self, layers: int, room: int, rows: int) -> None:
        super().__init__(layers=[self._layer_kind(self) for _ in range(layers)])
        self.room = room
        self._set(torch.zeros(rows, dtype=torch.long))

    def _set(self, lengths: torch.Tensor) -> None:
        self.lengths = lengths
        self.longest = int(lengths.max()) if len(lengths) else 0
        """Largest length of any row."""
        self.even = bool((lengths == self.longest).all())
        """Whether all lengths are equal."""

    def advanced(self) -> None:
        """Counts one more token in each row."""
        self._set(self.lengths + 1)

    def own_mask(self, device: torch.device) -> torch.Tensor | None:
        """(R, K) which places hold a token once the next one is written; None if all do."""
        if self.even:
            return None
        return (torch.arange(self.longest + 1)[None] <= self.lengths[:, None]).to(device)

    def select(self, rows: torch.Tensor) -> None:
        """Keeps the rows with these indices in every layer."""
        self._arrange(rows, 0, self.lengths[rows.cpu()])

    def add(self, rows: int, room: int) -> None:
        """Appends empty rows; every row then has at least `room` places."""
        self.room = max(self.room, room)
        kept = torch.arange(len(self.lengths))
        self._arrange(kept, rows, torch.cat([self.lengths, torch.zeros(rows, dtype=torch.long)]))

    def _arrange(self, rows: torch.Tensor, more: int, lengths: torch.Tensor) -> None:
        for layer in self.layers:
            if layer.is_initialized:
                layer.arranged(rows.to(layer.keys.device), more)
        self._set(lengths)


@dataclass(frozen=True)
class PlayContext:
    """Computed tokens of one play: T token ids; keys and values (key heads, T, size) per layer."""

    tokens: Sequence[int]
    keys: list[torch.Tensor]
    values: list[torch.Tensor]

    def first(self, count: int) -> "PlayContext":
        """The first `count` tokens."""
        if count == len(self.tokens):
            return self
        keys, values = ([layer[:, :count] for layer in layers] for layers in (self.keys, self.values))
        return PlayContext(self.tokens[:count], keys, values)


class Contexts:
    """Contexts by play, up to `most` tokens in total; each is dropped when it is taken or its play is over."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: WeakKeyDictionary[CacheHandle, PlayContext] = WeakKeyDictionary()

    def has_room(self, tokens: int) -> bool:
        """Whether this many more tokens may be kept."""
        return tokens + sum(len(context.tokens) for context in self._kept.values()) <= self._most

    def keep(self, play: CacheHandle, context: PlayContext) -> None:
        """Keeps a context for the play's next request."""
        self._kept[play] = context

    def take(self, play: CacheHandle | None, prompt: Sequence[int]) -> PlayContext | None:
        """The context of the common prefix of a play's last tokens and this prompt; None if there is none."""
        context = self._kept.pop(play, None) if play else None
        if context is None:
            return None
        most = min(len(context.tokens), len(prompt) - 1)  # at least one must be computed
        same = next((n for n in range(most) if context.tokens[n] != prompt[n]), most)
        return context.first(same) if same > 0 else None

    def clear(self) -> None:
        """Drops all contexts, as after a change of weights."""
        self._kept.clear()


def cache_of(contexts: Sequence[PlayContext]) -> tuple[DynamicCache, torch.Tensor]:
    """(the contexts as one cache, left-padded; mask (rows, longest) bool, False for padding)."""
    cache, longest = DynamicCache(), max(len(context.tokens) for context in contexts)
    first = contexts[0].keys[0]
    mask = torch.zeros((len(contexts), longest), dtype=torch.bool, device=first.device)
    for row, context in enumerate(contexts):
        mask[row, longest - len(context.tokens) :] = True
    for layer in range(len(contexts[0].keys)):
        keys, values = (
            first.new_zeros((len(contexts), first.shape[0], longest, tensors[layer].shape[-1]))
            for tensors in (contexts[0].keys, contexts[0].values)
        )
        for row, context in enumerate(contexts):
            start = longest - len(context.tokens)
            keys[row, :, start:], values[row, :, start:] = context.keys[layer], context.values[layer]
        cache.update(keys, values, layer)
    return cache, mask
