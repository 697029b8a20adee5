"""Finds similar tasks in bounded memory: shingles, normal forms, MinHash with exact confirmation, clusters."""
