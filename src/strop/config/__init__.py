"""Recipes: typed schemas, presets, loading and overriding. No torch.

`schema` defines the tree, `load` reads files and overrides. This file imports neither: `import strop.config` is light.
"""
