"""Rust source."""
