"""Generators of any number of tasks from a seed: `stdio-problems`, `toy-repositories`, `needs-feedback`.

Each package has `load(text)`, which gives the tasks of a source such as `stdio-problems:200@7`.
"""
