"""TRL's GRPOTrainer fed by our rollouts; the supervised warm start; checkpoints and resume."""
