"""Paid calls of a model behind an OpenAI-compatible server: each answer is kept, and none is paid for twice."""
