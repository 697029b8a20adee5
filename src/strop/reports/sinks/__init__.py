"""Destinations of a run's data besides its folder, and the log of calls of the user's functions."""
