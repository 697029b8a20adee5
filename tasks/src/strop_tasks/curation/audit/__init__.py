"""Audits tasks: the reference must pass every time, and answers that ignore the task must fail.

A trivial answer that passes is worse than a missing task: the policy finds it and learns it. `audit_tasks` is the
entry point; docs/audit.md explains codes and thresholds.
"""

from strop_tasks.curation.audit.audit import audit_tasks
from strop_tasks.curation.audit.record import CODES, AuditSettings, Code, Finding, TaskAudit

__all__ = ["CODES", "AuditSettings", "Code", "Finding", "TaskAudit", "audit_tasks"]
