"""Recipes: typed schemas, presets, loading and overriding. No torch.

`strop.config.schema` has the tree, `strop.config.load` reads files and overrides, `strop.config.revision` says which
code ran. This file imports none of them, so that `import strop.config` stays light.
"""
