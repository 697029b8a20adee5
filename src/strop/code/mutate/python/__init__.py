"""Operators whose faults are put into Python functions."""
