"""Checks of kind *project*: a project's own tests, run in the jail on a copy of it with the edit applied.

`snapshot` packs a project into one file; `runner` runs pytest in the jailed process that `process` controls; `cargo`
runs cargo test; `toolchain` turns results into verdicts; `probe` finds tests and runs many variants.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop_verify.verification.project.probe import Project, open_project
    from strop_verify.verification.project.snapshot import pack, unpack
    from strop_verify.verification.project.toolchain import ProjectToolchain

__all__ = ["Project", "ProjectToolchain", "open_project", "pack", "unpack"]

_HOME = {
    "Project": "probe",
    "open_project": "probe",
    "pack": "snapshot",
    "unpack": "snapshot",
    "ProjectToolchain": "toolchain",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"strop_verify.verification.project.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
