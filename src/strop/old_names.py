"""Keeps module names of 0.1.0.dev importable: an old name works, with a warning that gives the new one.

To be removed in release 0.2. `import strop` sets it up.
"""

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "strop.code.near.dress": "strop_verify.code.near.augmentations",
    "strop.core.window": "strop_verify.core.bounded_map",
    "strop.edits.places": "strop_verify.edits.line_matching",
    "strop.edits.smallest": "strop_verify.edits.minimal_diff",
    "strop.environments.calls": "strop.policies.tool_calls",
    "strop.environments.chat_server": "strop.policies.chat_server",
    "strop.environments.chat_wire": "strop.policies.chat_wire",
    "strop.environments.kinds": "strop.environments.registry",
    "strop.evaluation.rounds": "strop.evaluation.self_debug",
    "strop.evaluation.stages": "strop.evaluation.outcome_rates",
    "strop.policies.asking": "strop.policies.remote_policy",
    "strop.rewards.cites": "strop.rewards.citation",
    "strop.tasks.places": "strop.tasks.row_sources",
    "strop.training.inputs": "strop.training.caller_overrides",
    "strop.verification.draws": "strop_verify.verification.secret_rng",
    "strop.verification.pool.blame": "strop_verify.verification.pool.attribution",
    **{
        f"strop.{room}": f"strop_verify.{room}"
        for room in ("code", "core", "edits", "sandbox", "verification")
    },
    "strop_neighbours": "strop.neighbours",
}
"""{old name: new name} of modules and packages, the more specific first."""


class OldNames:
    """Import finder and loader that gives the module of the new name."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of an old name, None for any other."""
        loader: Any = self
        return ModuleSpec(name, loader) if renamed(name) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, under both names."""
        new = renamed(spec.name)
        warnings.warn(f"{spec.name} is now {new}", DeprecationWarning, stacklevel=2)
        module = import_module(new)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Only restores the module's own spec: the module has already run."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def renamed(name: str) -> str:
    """The new name of a module; "" for one that has not moved."""
    for old, new in MOVED.items():
        if name == old or name.startswith(f"{old}."):
            return new + name.removeprefix(old)
    return ""


def install() -> None:
    """Makes old names importable from now on."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        finder: Any = OldNames()
        sys.meta_path.insert(0, finder)
