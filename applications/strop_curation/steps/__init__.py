"""The steps of a pipeline, one module each; a module's name with `-` for `_` is the step's name.

A module defines `Config`, a Section with the step's settings, and one class that is a `pipeline.step.Step[Config]`.
"""
