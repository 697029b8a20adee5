"""Source as trees: parse, find functions, mutate, near-identity. No I/O, and nothing is run."""
