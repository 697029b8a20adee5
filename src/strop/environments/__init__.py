"""Environments: how a task is played."""
