"""All operators, registered."""

from strop.code.mutate.python import blocks, calls, expressions, names, values
from strop.code.mutate.python.faults import OPERATORS

__all__ = ["OPERATORS", "blocks", "calls", "expressions", "names", "values"]
