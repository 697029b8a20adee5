"""Is a task fit to train on? Its reference must pass every time, answers that know nothing must fail.

A trivial answer that passes is worse than a missing task: the policy finds it and learns it. `audit_tasks` is the door;
docs/audit.md says what each code means and which figures decide.
"""

from strop_tasks.curation.audit.audit import audit_tasks
from strop_tasks.curation.audit.record import CODES, AuditSettings, Code, Finding, TaskAudit

__all__ = ["CODES", "AuditSettings", "Code", "Finding", "TaskAudit", "audit_tasks"]
