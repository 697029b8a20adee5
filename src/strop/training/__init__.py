"""The loop and the learner, in one process or several; the supervised warm start; checkpoints and resume."""
