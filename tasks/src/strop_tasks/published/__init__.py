"""Rewards of published systems, number for number and with their mistakes. docs/rewards.md, docs/rust.md."""
