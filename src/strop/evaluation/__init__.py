"""Evaluation numbers: pass@k, intervals, paired tests."""
