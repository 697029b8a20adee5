"""Small Python packages with one bug each: `toy-repositories`, as many as are asked for.

A repository is a domain's words put into function templates (functions.py), three to six short modules of them, and
two files of tests: public ones, which a play may see and run, and hidden ones, which judge. One line of one function is
wrong; a public test fails because of it and names the function.
"""

from strop_generators.toy_repositories.generate import generate, load

__all__ = ["generate", "load"]
