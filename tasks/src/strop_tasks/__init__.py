"""Tasks: formats of others, generators, curation and builders, published rewards."""
