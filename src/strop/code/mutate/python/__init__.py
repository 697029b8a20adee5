"""Operators on Python functions, all registered."""

from strop.code.mutate.operators import PYTHON as OPERATORS
from strop.code.mutate.python import blocks, calls, expressions, values

__all__ = ["OPERATORS", "blocks", "calls", "expressions", "values"]
