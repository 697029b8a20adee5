"""The loop and the learner, in one or several processes; the supervised warm start; checkpoints and resuming."""
