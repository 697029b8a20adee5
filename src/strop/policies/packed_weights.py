"""Weights in MKL's own layout while rows decode in float32 on a CPU.

In a product with few rows MKL copies the weights each time, which can take half of it. Here the copy is made once and
used until the batch has ended, for as much memory as the weights take (benchmarks/packed_decoding.py). Each number of
rows is tried against the plain product before it is used. An AMD processor gained nothing by it.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

ROWS = range(4, 97)
"""Numbers of rows whose product is faster with packed weights, with AVX-512 as with AVX2."""
STEPS = 16
"""Tokens that a row must still be allowed when weights are packed, which takes as long as some four tokens."""
LEAST = 1 << 18
"""Numbers in a matrix that is packed: MKL pads each by megabytes."""
NEAR = 1e-4
"""Largest difference from the plain product, relative to its largest number."""
_TOLD = ROWS[-1] + 1
"""Rows that MKL is told when it packs. The layout holds for others, too, which is tried."""


@cache
def pays() -> bool:
    """Whether products with packed weights are faster here: torch has MKL, and the processor is one of Intel's."""
    cpus = Path("/proc/cpuinfo")
    return torch.backends.mkl.is_available() and cpus.is_file() and "GenuineIntel" in cpus.read_text()


class PackedWeights:
    """Packed copies of a model's matrices. They are made when they pay and again when the weights have changed."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._linears = [one for one in model.modules() if _can_be_packed(one)] if pays() else []
        self._forwards: list[Any] = []
        self._versions: list[int] = []
        self._rows: set[int] = set()

    @contextmanager
    def used(self, rows: int, steps: int) -> Iterator[None]:
        """Computes products of that many rows with packed weights, if rows may still get `steps` tokens."""
        if rows not in ROWS or not (self._forwards or steps >= STEPS) or not self._ready(rows):
            yield
            return
        for linear, forward in zip(self._linears, self._forwards, strict=True):
            linear.forward = partial(forward, rows)
        try:
            yield
        finally:
            for linear in self._linears:
                del linear.forward

    def _ready(self, rows: int) -> bool:
        """Packs what has changed and tries the number of rows; False where packed weights are not used."""
        if not self._linears:
            return False
        if self._versions != (versions := [one.weight._version for one in self._linears]):
            self._forwards = [_packed(one) for one in self._linears]
            self._versions = versions
            self._rows.clear()
        if rows not in self._rows:
            # All shapes once, then the smallest one: the layout depends on the shape, whatever the number of rows.
            shapes = {one.weight.shape: number for number, one in enumerate(self._linears)}
            least = min(shapes.values(), key=lambda number: self._linears[number].weight.numel())
            for number in [least] if self._rows else shapes.values():
                if not (gap := _gap(self._linears[number], self._forwards[number], rows)) <= NEAR:  # or NaN
                    warnings.warn(f"{rows} rows with packed weights: {gap:.1g} off; not used", stacklevel=2)
                    self._linears, self._forwards = [], []
                    return False
            self._rows.add(rows)
        return True


def _can_be_packed(module: torch.nn.Module) -> bool:
    """Whether it is a plain matrix in float32 on a CPU, whose forward pass nobody has replaced."""
    if type(module) is not torch.nn.Linear or "forward" in vars(module):
        return False
    weight = module.weight.data
    plain = type(weight) is torch.Tensor and weight.device.type == "cpu" and weight.dtype == torch.float32
    return plain and weight.is_contiguous() and weight.numel() >= LEAST


def _packed(linear: torch.nn.Linear) -> Any:
    weight, bias = linear.weight.data, None if linear.bias is None else linear.bias.data
    packed = torch.ops.mkl._mkl_reorder_linear_weight(weight, _TOLD)

    def forward(rows: int, input: torch.Tensor) -> torch.Tensor:
        """The product; the plain one where the input has another number of rows."""
        result: torch.Tensor = torch.ops.mkl._mkl_linear(input, packed, weight, bias, rows)
        return result

    return forward


def _gap(linear: torch.nn.Linear, forward: Any, rows: int) -> float:
    drawn = torch.randn(rows, linear.in_features, generator=torch.Generator().manual_seed(rows))
    plain = torch.nn.functional.linear(drawn, linear.weight.data, linear.bias)
    return float((forward(rows, drawn) - plain).abs().max() / plain.abs().max().clamp(min=1e-12))
