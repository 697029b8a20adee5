"""The built-in steps of `strop curate`."""
