"""Makes and reads verifiable code tasks: external formats, generators, curation, builders, published rewards.

    from strop_tasks import curate, plan

    curate(plan({"source": ["python-functions"], "steps": ["shuffle"]}), Path("curated"))

`__all__` lists the public names, each imported on first use; docs/api.md describes them. Formats, generators, rewards,
steps and commands are registered by name as entry points.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop_tasks.curation.audit import AuditSettings, Finding, TaskAudit, audit_tasks
    from strop_tasks.curation.pipeline.read import Planned, plan, read_pipeline
    from strop_tasks.curation.pipeline.run import RunOptions, curate
    from strop_tasks.curation.pipeline.stage import Watcher
    from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop

__version__ = "0.1.0"
__all__ = [
    "AuditSettings", "Context", "Dropped", "Finding", "Planned", "Read", "RunOptions", "Step", "TaskAudit",
    "Watcher", "audit_tasks", "curate", "drop", "plan", "read_pipeline",
]  # fmt: skip

_LATER = {
    "strop_tasks.curation.audit": ("AuditSettings", "Finding", "TaskAudit", "audit_tasks"),
    "strop_tasks.curation.pipeline.read": ("Planned", "plan", "read_pipeline"),
    "strop_tasks.curation.pipeline.run": ("RunOptions", "curate"),
    "strop_tasks.curation.pipeline.stage": ("Watcher",),
    "strop_tasks.curation.pipeline.step": ("Context", "Dropped", "Read", "Step", "drop"),
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    """Imports a public name on first access."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'strop_tasks' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    """The public names and the version."""
    return [*__all__, "__version__"]
