"""The kinds of problems, one module per topic."""
