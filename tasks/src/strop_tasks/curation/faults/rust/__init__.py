"""Operators on Rust programs, all registered."""

from strop_tasks.curation.faults.operators import RUST as OPERATORS
from strop_tasks.curation.faults.rust import behaviour, ownership, shape

__all__ = ["OPERATORS", "behaviour", "ownership", "shape"]
