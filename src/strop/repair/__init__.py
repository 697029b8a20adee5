"""A fix for one issue of a repository, without an agent: localise, sample edits, rerank them. docs/repair.md.

The stages and rules are those of Agentless (arXiv 2407.01489) and of SWE-RL's smaller form of it (arXiv 2502.18449).
"""

from strop.repair.pipeline import RepairPlan, repair
from strop.repair.record import RepairReport
from strop.repair.repository import RepositoryTexts, read_repository

__all__ = ["RepairPlan", "RepairReport", "RepositoryTexts", "read_repository", "repair"]
