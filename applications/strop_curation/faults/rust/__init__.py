"""Operators on Rust programs, all registered."""

from strop_curation.faults.operators import RUST as OPERATORS
from strop_curation.faults.rust import behaviour, ownership, shape

__all__ = ["OPERATORS", "behaviour", "ownership", "shape"]
