"""Audit, filter and build task sets before a GPU sees them."""
