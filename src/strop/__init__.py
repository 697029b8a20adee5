"""Strop trains code language models on compilers and tests.

The names below are the public ones (docs/api.md). Each is imported when it is first used, so that `import strop` loads
neither torch nor transformers.
"""

from typing import TYPE_CHECKING, Any

from strop.old_names import install as _install_old_names

if TYPE_CHECKING:
    from strop.api import evaluate as evaluate
    from strop.api import play as play
    from strop.api import recipe as recipe
    from strop.api import train as train
    from strop.api import verify as verify
    from strop.environments.toolbox import Toolbox as Toolbox
    from strop.environments.toolbox import tool as tool
    from strop.policies.open import open_policy as open_policy
    from strop.policies.scripted import ScriptedPolicy as ScriptedPolicy
    from strop.reports.call_log import logging_to as logging_to
    from strop.reports.sinks.calls import log_reward as log_reward
    from strop.tasks.sources import load_tasks as load_tasks
    from strop_verify.core.errors import StropError as StropError
    from strop_verify.core.errors import UserError as UserError
    from strop_verify.core.play import Call as Call
    from strop_verify.core.play import Do as Do
    from strop_verify.core.play import Done as Done
    from strop_verify.core.play import Effect as Effect
    from strop_verify.core.play import Opening as Opening
    from strop_verify.core.play import Ran as Ran
    from strop_verify.core.play import Run as Run
    from strop_verify.core.play import Say as Say
    from strop_verify.core.play import Services as Services
    from strop_verify.core.play import Verify as Verify
    from strop_verify.core.protocols import Environment as Environment
    from strop_verify.core.protocols import Policy as Policy
    from strop_verify.core.protocols import batched as batched
    from strop_verify.core.rollout import Completion as Completion
    from strop_verify.core.rollout import Message as Message
    from strop_verify.core.rollout import Rollout as Rollout
    from strop_verify.core.task import Task as Task
    from strop_verify.core.verdict import Verdict as Verdict
    from strop_verify.verification import open_verifier as open_verifier

__version__ = "0.1.0"

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
    """What is imported when it is asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'strop' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*_MODULE_OF, "__version__"])
