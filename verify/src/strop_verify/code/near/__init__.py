"""The normal form of Python source, and the same program in another dress."""
