"""Faults for code that has tests: which are drawn, and those that a model writes, fitted in."""
