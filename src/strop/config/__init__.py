"""Recipes: typed schemas, presets, loading and overriding. No torch.

`strop.config.schema` defines the tree, `strop.config.load` reads files and overrides, `strop.config.revision` records
which code ran. This file imports none of them, so that `import strop.config` stays light.
"""
