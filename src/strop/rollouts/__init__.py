"""Plays groups of tasks: tokens, masks, log-probabilities, verdicts and scores."""
