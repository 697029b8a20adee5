"""Weights in MKL's own layout while rows decode in float32 on a CPU.

In a product with few rows MKL copies the weights each time, which can take half of its time. Here the copy is made once
and used until the batch has ended; it takes as much memory as the weights (benchmarks/packed_decoding.py). Each number
of rows is checked against the plain product before it is used. An AMD processor gained nothing from it.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

ROWS = range(4, 97)
"""Numbers of rows whose product is faster with packed weights, both with AVX-512 and with AVX2."""
STEPS = 16
"""Minimum tokens that a row may still get when weights are packed; packing takes as long as about four tokens."""
LEAST = 1 << 18
"""Minimum number of weights in a matrix that is packed: MKL pads each matrix by megabytes."""
NEAR = 1e-4
"""Maximum difference from the plain product, relative to its largest number."""
_TOLD = ROWS[-1] + 1
"""Number of rows given to MKL for packing. The layout also works for other numbers, which is checked."""


@cache
def pays() -> bool:
    """Whether products with packed weights are faster here: torch has MKL, and the processor is from Intel."""
    cpus = Path("/proc/cpuinfo")
    return torch.backends.mkl.is_available() and cpus.is_file() and "GenuineIntel" in cpus.read_text()


class PackedWeights:
    """Packed copies of a model's matrices, made when they save time and again after the weights have changed."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._linears = [one for one in model.modules() if _can_be_packed(one)] if pays() else []
        self._forwards: list[Any] = []
        self._versions: list[int] = []
        self._rows: set[int] = set()

    @contextmanager
    def used(self, rows: int, steps: int) -> Iterator[None]:
        """Computes products of `rows` rows with packed weights if that saves time, given up to `steps` more tokens."""
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
        """Packs changed weights and checks the number of rows; False if packed weights are not used."""
        if not self._linears:
            return False
        if self._versions != (versions := [one.weight._version for one in self._linears]):
            self._forwards = [_packed(one) for one in self._linears]
            self._versions = versions
            self._rows.clear()
        if rows not in self._rows:
            # Checks all shapes once, then the smallest: the layout depends on the shape, not on the number of rows.
            shapes = {one.weight.shape: number for number, one in enumerate(self._linears)}
            least = min(shapes.values(), key=lambda number: self._linears[number].weight.numel())
            for number in [least] if self._rows else shapes.values():
                if not (gap := _gap(self._linears[number], self._forwards[number], rows)) <= NEAR:  # or NaN
                    warnings.warn(f"{rows} rows: packed weights are off by {gap:.1g}; not used", stacklevel=2)
                    self._linears, self._forwards = [], []
                    return False
            self._rows.add(rows)
        return True


def _can_be_packed(module: torch.nn.Module) -> bool:
    """Whether the module is a plain float32 matrix on a CPU whose forward pass has not been replaced."""
    if type(module) is not torch.nn.Linear or "forward" in vars(module):
        return False
    weight = module.weight.data
    plain = type(weight) is torch.Tensor and weight.device.type == "cpu" and weight.dtype == torch.float32
    return plain and weight.is_contiguous() and weight.numel() >= LEAST


def _packed(linear: torch.nn.Linear) -> Any:
    weight, bias = linear.weight.data, None if linear.bias is None else linear.bias.data
    packed = torch.ops.mkl._mkl_reorder_linear_weight(weight, _TOLD)

    def forward(rows: int, input: torch.Tensor) -> torch.Tensor:
        """The product; MKL computes the plain one if the input has another number of rows."""
        result: torch.Tensor = torch.ops.mkl._mkl_linear(input, packed, weight, bias, rows)
        return result

    return forward


def _gap(linear: torch.nn.Linear, forward: Any, rows: int) -> float:
    drawn = torch.randn(rows, linear.in_features, generator=torch.Generator().manual_seed(rows))
    plain = torch.nn.functional.linear(drawn, linear.weight.data, linear.bias)
    return float((forward(rows, drawn) - plain).abs().max() / plain.abs().max().clamp(min=1e-12))
