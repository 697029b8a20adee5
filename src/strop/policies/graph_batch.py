"""Decoding with CUDA graphs: on a GPU, one call launches the thousands of kernels that compute a token.

All tensors of a step keep their address and shape: keys and values have their full room, in which places without a
token are masked, and tokens and places are inputs that are overwritten. A step is captured once its rows have stayed
the same for a token, and again after rows join or are removed. The first steps of a graph are also computed in the
usual way; a graph whose result differs is not used.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from transformers import PreTrainedModel

from strop.policies.attention import SharedPrompts
from strop.policies.decode_batch import DecodeBatch, NobodyWaits
from strop.policies.decoding import RowCache, RowLayer

CHECKED = 2
"""Number of a graph's steps that are compared with the usual computation."""
EXACT, ROUNDED = 1e-3, 0.1
"""Maximum difference of a graph's log-probabilities in nats: of each in float32, of the mean in shorter types, where a
captured matrix product may add in another order."""
Recorder = Callable[[Callable[[], torch.Tensor]], tuple[torch.Tensor, Callable[[], None]]]
"""A computation without arguments -> (its result, a function that computes it again and overwrites the result)."""


def cuda_graph(compute: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, Callable[[], None]]:
    """Captures a computation that has already run once."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # another thread may be training
        result = compute()
    return result, graph.replay


class GraphWarning(UserWarning):
    """Warns that a step could not be captured, or that its graph gives a different result."""


class FixedLayer(RowLayer):
    """A `RowLayer` whose keys and values have the full room, written at `owner.places`."""

    owner: "FixedCache"

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any) -> Any:
        """Writes one token per row in place; returns all places."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        rows = torch.arange(len(key_states), device=key_states.device)
        self.keys[rows, :, self.owner.places] = key_states[:, :, 0]
        self.values[rows, :, self.owner.places] = value_states[:, :, 0]
        return self.keys, self.values


class FixedCache(RowCache):
    """One `FixedLayer` per layer. places: (R,) int64 on the model's device, where the next token is written."""

    _layer_kind = FixedLayer
    places: torch.Tensor

    def _set(self, lengths: torch.Tensor) -> None:
        super()._set(lengths)
        self.even = False  # some places are always masked


class GraphBatch(DecodeBatch):
    """See the module's docstring. `record`: how a step is captured; the tests have one for the CPU."""

    _compact_at = 0.5  # each compaction needs a new graph
    _cache_kind = FixedCache
    _cache: FixedCache

    def __init__(self, model: PreTrainedModel, pad_id: int, *, record: Recorder = cuda_graph) -> None:
        super().__init__(model, pad_id)
        self._record = record
        self._of: SharedPrompts | None = None
        """`_shared` when the inputs were made; it identifies their rows."""
        self._inputs: torch.Tensor
        """(R,) tokens just chosen, at the graph's address."""
        self._replay: Callable[[], None] | None = None
        self._result: torch.Tensor
        self._replayed = 0
        self._usable = True

    def _computed(self) -> torch.Tensor:
        """Replays the graph where possible; see `DecodeBatch`."""
        if self._of is not self._shared:
            self._of, self._replay, self._replayed = self._shared, None, 0
            self._inputs = self._tokens.clone()
            self._cache.places = self._cache.lengths.to(self._device)
            return self._fixed_step()
        self._inputs.copy_(self._tokens)
        self._cache.places.copy_(self._cache.lengths)
        if not self._usable:
            return self._fixed_step()
        usual = self._fixed_step() if self._replayed < CHECKED else None
        if self._replay is None:
            try:
                self._result, self._replay = self._record(self._fixed_step)
            except NobodyWaits:
                raise
            except Exception as error:  # from a model's own code, or CUDA's
                assert usual is not None
                return self._refused(usual, f"{type(error).__name__}: {error}")
        self._replay()
        self._replayed += 1
        if usual is not None and (gap := _gap(self._result, usual)) > 1:
            return self._refused(usual, f"its result differs by {gap:.2g} times the bound")
        return self._result

    def _fixed_step(self) -> torch.Tensor:
        """A step on tensors of fixed shapes; if repeated, it writes to the same place again."""
        places = self._cache.places
        own = torch.arange(self._cache.room, device=self._device)[None] <= places[:, None]
        return self._logits_after(self._inputs, places, own)

    def _refused(self, usual: torch.Tensor, why: str) -> torch.Tensor:
        self._usable, self._replay = False, None
        told = " ".join(why.split())[:200]
        message = f"a CUDA graph of {type(self._model).__name__} is not used: {told}; sampling is slower"
        warnings.warn(message, GraphWarning, stacklevel=2)
        return usual


def _gap(found: torch.Tensor, usual: torch.Tensor) -> float:
    """The difference of log-probabilities (R, V) in units of the bound; infinite if one is not finite."""
    far = (found.float().log_softmax(dim=-1) - usual.float().log_softmax(dim=-1)).abs()
    gap = far.max() / EXACT if found.dtype == torch.float32 else far.mean() / ROUNDED
    return float(gap) if bool(far.isfinite().all()) else float("inf")
