"""Verdicts on code that a model wrote: it runs in a jail, and trusted code decides.

    from strop_verify import Task, open_verifier

    with open_verifier() as verifier:
        verdict = verifier.submit(task, answer).result()

`__all__` has the public names; docs/verify.md says what each is. Each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop_verify.core.checks import Case, StdioCase
    from strop_verify.core.errors import SandboxError, StropError, UserError
    from strop_verify.core.fences import CodeBlock, blocks
    from strop_verify.core.task import Task
    from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict
    from strop_verify.sandbox.limits import Limits
    from strop_verify.verification import open_on_ray, open_remote, open_verifier
    from strop_verify.verification.pool.job_queue import PoolBusy

__version__ = "0.1.0"
__all__ = [
    "Case", "CodeBlock", "Limits", "Outcome", "PoolBusy", "SandboxError", "Stage", "StdioCase", "StropError", "Task",
    "TestResult", "UserError", "Verdict", "blocks", "open_on_ray", "open_remote", "open_verifier",
]  # fmt: skip

_LATER = {
    "strop_verify.core.checks": ("Case", "StdioCase"),
    "strop_verify.core.errors": ("SandboxError", "StropError", "UserError"),
    "strop_verify.core.fences": ("CodeBlock", "blocks"),
    "strop_verify.core.task": ("Task",),
    "strop_verify.core.verdict": ("Outcome", "Stage", "TestResult", "Verdict"),
    "strop_verify.sandbox.limits": ("Limits",),
    "strop_verify.verification": ("open_on_ray", "open_remote", "open_verifier"),
    "strop_verify.verification.pool.job_queue": ("PoolBusy",),
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    """What is imported when it is asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'strop_verify' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
