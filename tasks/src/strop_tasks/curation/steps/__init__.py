"""The steps of a pipeline."""
