"""Tasks made from a seed, as many as are asked for: `stdio-problems`, `toy-repositories`, `needs-feedback`.

Each package has `load(text)`, the tasks of a source such as `stdio-problems:200@7`; `strop.tasks.sources` names them.
"""
