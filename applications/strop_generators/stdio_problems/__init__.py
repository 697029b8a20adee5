"""Programs to write from standard input to standard output: `stdio-problems`, as many as are asked for.

A *kind* is a problem with parameters (topics/*.py); an instance is a kind, its parameters, a phrasing and tests, all
drawn from (seed, index). Expected outputs are what the reference program prints.
"""

from strop_generators.stdio_problems.generate import generate, load

__all__ = ["generate", "load"]
