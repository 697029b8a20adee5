"""Sources of the built-in data sets. `python -m tasksets.build` packs them into two files of the package.

`builtin.jsonl.zst` holds the tasks of `python_functions` and of the folders of Rust. `generators.zip` holds the
packages that make tasks from a seed, as many as are asked for; `strop.tasks` imports them from there as if they lay
beside it. So their modules import each other by relative names, and they have no other files.
"""
