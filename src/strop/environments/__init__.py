"""How a task is played."""
