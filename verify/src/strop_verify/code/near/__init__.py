"""The normal form of Python source, and variants of a program."""
