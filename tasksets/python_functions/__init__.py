"""Small Python function tasks, one module per topic: each function is a reference, its doctests the shown cases."""
