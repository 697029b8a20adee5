"""A fix for one issue of a repository, without an agent: localise, sample edits, rerank them. docs/repair.md.

The stages and rules are those of Agentless (arXiv 2407.01489) and of SWE-RL's smaller form of it (arXiv 2502.18449).
"""

from strop.repair.pipeline import Plan, repair
from strop.repair.record import Report
from strop.repair.repository import Repository, read_repository

__all__ = ["Plan", "Report", "Repository", "read_repository", "repair"]
