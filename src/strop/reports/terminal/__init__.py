"""Terminal views: runs, rollouts, and a run in progress."""
