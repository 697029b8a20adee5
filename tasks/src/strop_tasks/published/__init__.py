"""Rewards of published systems, reproduced exactly, mistakes included. docs/rewards.md, docs/rust.md."""
