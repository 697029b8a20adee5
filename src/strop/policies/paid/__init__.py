"""Paid calls to a model on an OpenAI-compatible server. Each answer is kept; none is paid for twice."""
