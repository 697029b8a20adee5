"""A preallocated key/value cache whose rows can be dropped, for the tokens that rows sampled."""

from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin


class RowLayer(CacheLayerMixin):
    """Keys and values of one layer, (rows, heads, room, head size); the first `length` positions are in use."""

    is_sliding = False

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self.length = 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocates room from the shape of the first keys and values."""
        shape = (*key_states.shape[:2], self.room)
        self.keys = key_states.new_zeros((*shape, key_states.shape[-1]))
        self.values = value_states.new_zeros((*shape, value_states.shape[-1]))
        self.is_initialized = True

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any) -> Any:
        """Appends in place; returns views of everything in use."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self.length + key_states.shape[2]
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def select(self, rows: torch.Tensor) -> None:
        """Keeps the rows of that index."""
        for name in ("keys", "values"):
            old = getattr(self, name)
            new = old.new_empty((len(rows), *old.shape[1:]))
            new[:, :, : self.length] = old[:, :, : self.length].index_select(0, rows)
            setattr(self, name, new)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """(length, offset) of the keys that a query of that length sees."""
        return self.length + query_length, 0

    def get_seq_length(self) -> int:
        """Positions in use."""
        return self.length

    def get_max_length(self) -> int:
        """Positions there is room for."""
        return self.room

    get_max_cache_shape = get_max_length


class RowCache(Cache):
    """One `RowLayer` a layer of the model."""

    def __init__(self, layers: int, room: int) -> None:
        super().__init__(layers=[RowLayer(room) for _ in range(layers)])

    def select(self, rows: torch.Tensor) -> None:
        """Keeps the rows of that index in every layer."""
        for layer in self.layers:
            layer.select(rows)
