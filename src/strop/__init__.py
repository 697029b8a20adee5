"""Strop hones code language models on compilers and tests."""

__version__ = "0.1.0"
