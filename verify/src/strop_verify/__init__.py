"""Verdicts on code that a model wrote: it runs in a jail, and trusted code decides.

    from strop_verify import Task, open_verifier

    with open_verifier() as verifier:
        verdict = verifier.submit(task, answer).result()

The names below are the public ones (README.md). Each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop_verify.core.checks import Case as Case
    from strop_verify.core.checks import StdioCase as StdioCase
    from strop_verify.core.errors import StropError as StropError
    from strop_verify.core.errors import UserError as UserError
    from strop_verify.core.task import Task as Task
    from strop_verify.core.verdict import Outcome as Outcome
    from strop_verify.core.verdict import Verdict as Verdict
    from strop_verify.sandbox.limits import Limits as Limits
    from strop_verify.verification import open_on_ray as open_on_ray
    from strop_verify.verification import open_remote as open_remote
    from strop_verify.verification import open_verifier as open_verifier

__version__ = "0.1.0"

_LATER = {
    "strop_verify.core.checks": ("Case", "StdioCase"),
    "strop_verify.core.errors": ("StropError", "UserError"),
    "strop_verify.core.task": ("Task",),
    "strop_verify.core.verdict": ("Outcome", "Verdict"),
    "strop_verify.sandbox.limits": ("Limits",),
    "strop_verify.verification": ("open_on_ray", "open_remote", "open_verifier"),
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    """What is imported when it is asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'strop_verify' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*_MODULE_OF, "__version__"])
