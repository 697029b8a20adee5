"""Other people's schemas of code tasks, read into tasks and written again: see `strop.tasks.adapters`."""
