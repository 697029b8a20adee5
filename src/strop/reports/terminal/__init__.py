"""What a person sees on a terminal: runs, rollouts, and a run while it goes on."""
