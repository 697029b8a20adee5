"""All operators, registered."""

from strop.curation.bugs import blocks, calls, expressions, names, values
from strop.curation.bugs.faults import OPERATORS

__all__ = ["OPERATORS", "blocks", "calls", "expressions", "names", "values"]
