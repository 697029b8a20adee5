"""All operators, registered."""

from strop.code.mutate.rust import behaviour, lifetimes, ownership, shape, values
from strop.code.mutate.rust.faults import OPERATORS

__all__ = ["OPERATORS", "behaviour", "lifetimes", "ownership", "shape", "values"]
