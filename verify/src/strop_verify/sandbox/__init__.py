"""The jail: limits and confines untrusted programs. Needs no privileges; Linux only.

The names below are imported when used, because jailed worker processes import this without site-packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop_verify.sandbox.box import Box, open_box, run_command
    from strop_verify.sandbox.folder import Folder
    from strop_verify.sandbox.jails import jail_names
    from strop_verify.sandbox.limits import Limits
    from strop_verify.sandbox.report import JailReport, Layer, probe, require_jail
    from strop_verify.sandbox.work import CommandResult, FileInfo, Work

__all__ = [
    "Box", "CommandResult", "FileInfo", "Folder", "JailReport", "Layer", "Limits", "Work", "jail_names", "open_box",
    "probe", "require_jail", "run_command",
]  # fmt: skip
_HOME = {
    "Limits": "limits", "Box": "box", "Work": "work", "open_box": "box", "jail_names": "jails", "CommandResult": "work",
    "FileInfo": "work", "Folder": "folder", "run_command": "box", "JailReport": "report", "Layer": "report",
    "probe": "report", "require_jail": "report",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"strop_verify.sandbox.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
