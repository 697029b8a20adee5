"""The files of a run folder, and the views of a run for people."""
