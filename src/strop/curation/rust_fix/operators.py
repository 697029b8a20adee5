"""All operators, registered."""

from strop.curation.rust_fix import behaviour, ownership, shape, values
from strop.curation.rust_fix.faults import OPERATORS

__all__ = ["OPERATORS", "behaviour", "ownership", "shape", "values"]
