"""Near-identity of code: normal forms, and sets of hashes of them."""
