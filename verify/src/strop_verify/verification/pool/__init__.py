"""Judges many answers in parallel: the workers, their queue, and the attribution of broken runs."""
