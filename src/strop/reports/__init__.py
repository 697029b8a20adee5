"""The run folder's files, and the views of a run for people."""
