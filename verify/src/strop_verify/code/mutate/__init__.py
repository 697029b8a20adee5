"""Small faults put into programs."""
