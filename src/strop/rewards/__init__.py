"""Pure functions of (task, rollout, verdict), and the rubric that names and weights them."""
