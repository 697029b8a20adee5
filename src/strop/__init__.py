"""Strop trains code language models on compilers and tests.

`__all__` lists the public names (docs/api.md). Each is imported when it is first used, so that `import strop` loads
neither torch nor transformers.
"""

from typing import TYPE_CHECKING, Any

from strop.old_names import install as _install_old_names

if TYPE_CHECKING:
    from strop.api import evaluate, play, recipe, train, verify
    from strop.environments.toolbox import Toolbox, tool
    from strop.policies.open import open_policy
    from strop.policies.scripted import ScriptedPolicy
    from strop.reports.call_log import logging_to
    from strop.reports.sinks.calls import log_reward
    from strop.tasks.sources import load_tasks
    from strop_verify.core.errors import StropError, UserError
    from strop_verify.core.play import Call, Do, Done, Effect, Opening, Ran, Run, Say, Services, Verify
    from strop_verify.core.protocols import Environment, Policy, batched
    from strop_verify.core.rollout import Completion, Message, Rollout
    from strop_verify.core.task import Task
    from strop_verify.core.verdict import Verdict
    from strop_verify.verification import open_verifier

__version__ = "0.1.0"
__all__ = [
    "Call", "Completion", "Do", "Done", "Effect", "Environment", "Message", "Opening", "Policy", "Ran",
    "Rollout", "Run", "Say", "ScriptedPolicy", "Services", "StropError", "Task", "Toolbox", "UserError",
    "Verdict", "Verify", "batched", "evaluate", "load_tasks", "log_reward", "logging_to", "open_policy",
    "open_verifier", "play", "recipe", "tool", "train", "verify",
]  # fmt: skip

_LATER = {
    "strop.api": ("evaluate", "play", "recipe", "train", "verify"),
    "strop_verify.core.errors": ("StropError", "UserError"),
    "strop_verify.core.play": (
        "Call",
        "Do",
        "Done",
        "Effect",
        "Opening",
        "Ran",
        "Run",
        "Say",
        "Services",
        "Verify",
    ),
    "strop_verify.core.protocols": ("Environment", "Policy", "batched"),
    "strop_verify.core.rollout": ("Completion", "Message", "Rollout"),
    "strop_verify.core.task": ("Task",),
    "strop_verify.core.verdict": ("Verdict",),
    "strop.environments.toolbox": ("Toolbox", "tool"),
    "strop.policies.open": ("open_policy",),
    "strop.policies.scripted": ("ScriptedPolicy",),
    "strop.reports.call_log": ("logging_to",),
    "strop.reports.sinks.calls": ("log_reward",),
    "strop.tasks.sources": ("load_tasks",),
    "strop_verify.verification": ("open_verifier",),
}
_install_old_names()
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    """Imports a public name on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'strop' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    """The public names, for `dir(strop)`."""
    return [*__all__, "__version__"]
