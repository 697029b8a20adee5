"""Faults for code that has tests: drawn from operators, or written by a model and fitted in."""
