"""Operators on Python functions, all registered."""

from strop_tasks.curation.faults.operators import PYTHON as OPERATORS
from strop_tasks.curation.faults.python import blocks, calls, expressions, values

__all__ = ["OPERATORS", "blocks", "calls", "expressions", "values"]
