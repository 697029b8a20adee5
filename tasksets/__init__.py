"""Sources of the built-in data sets. `python -m tasksets.build` packs them into one file of the package."""
