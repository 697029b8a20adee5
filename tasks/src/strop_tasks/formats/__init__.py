"""Adapters that read published formats of code tasks into tasks and write them back: see `strop.tasks.adapters`."""
