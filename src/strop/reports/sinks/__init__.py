"""Where a run's data goes besides its folder, and the log of calls of the user's functions."""
