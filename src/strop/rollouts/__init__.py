"""Plays groups of tasks and returns tokens, masks, log-probabilities, verdicts and scores."""
