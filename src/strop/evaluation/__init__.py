"""What was learnt, in numbers that hold: pass@k, intervals, paired tests."""
