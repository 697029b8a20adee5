"""Audits, filters and builds task sets before training."""
