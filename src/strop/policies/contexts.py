"""What the model computed of plays whose next turn may come: the keys and values of every token so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from transformers import DynamicCache

from strop.core.protocols import OnePlay


@dataclass(frozen=True)
class PlayContext:
    """Computed tokens of one play.

    tokens        T token ids
    keys, values  one (key heads, T, size) a layer
    """

    tokens: Sequence[int]
    keys: list[torch.Tensor]
    values: list[torch.Tensor]

    def first(self, count: int) -> "PlayContext":
        """Its first tokens."""
        if count == len(self.tokens):
            return self
        keys, values = ([layer[:, :count] for layer in layers] for layers in (self.keys, self.values))
        return PlayContext(self.tokens[:count], keys, values)


class Contexts:
    """Contexts by play, up to `most` tokens in all; one that is taken or whose play is over is gone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: WeakKeyDictionary[OnePlay, PlayContext] = WeakKeyDictionary()

    def has_room(self, tokens: int) -> bool:
        """Whether as many tokens more may be kept."""
        return tokens + sum(len(context.tokens) for context in self._kept.values()) <= self._most

    def keep(self, play: OnePlay, context: PlayContext) -> None:
        """Keeps it for the play's next request."""
        self._kept[play] = context

    def take(self, play: OnePlay | None, prompt: Sequence[int]) -> PlayContext | None:
        """What was computed of a play's prompt, if anything: as many tokens as are the same from the start."""
        context = self._kept.pop(play, None) if play else None
        if context is None:
            return None
        most = min(len(context.tokens), len(prompt) - 1)  # one is left to compute
        same = next((n for n in range(most) if context.tokens[n] != prompt[n]), most)
        return context.first(same) if same > 0 else None

    def clear(self) -> None:
        """Drops all: the weights have changed."""
        self._kept.clear()


def cache_of(contexts: Sequence[PlayContext]) -> tuple[DynamicCache, torch.Tensor]:
    """(the contexts side by side, padded on the left to one length; mask (rows, longest) bool, False for padding)."""
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
