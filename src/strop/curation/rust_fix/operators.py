"""All operators, registered."""

from strop.curation.rust_fix import behaviour, lifetimes, ownership, shape, values
from strop.curation.rust_fix.faults import OPERATORS

__all__ = ["OPERATORS", "behaviour", "lifetimes", "ownership", "shape", "values"]
