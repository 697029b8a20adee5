"""Operators whose faults are put into Rust programs."""
