"""`strop repair`: fixes an issue of a repository without an agent: localise, sample edits, rerank. docs/search.md.

The stages and rules are those of Agentless (arXiv 2407.01489) and of SWE-RL's smaller form of it (arXiv 2502.18449).
`pipeline.py` shows the way from an issue to a diff.
"""
