"""Toolchains that are lists of commands: languages described in YAML, and tasks with their own steps."""
