"""Operators on Rust programs, all registered."""

from strop.code.mutate.operators import RUST as OPERATORS
from strop.code.mutate.rust import behaviour, ownership, shape

__all__ = ["OPERATORS", "behaviour", "ownership", "shape"]
