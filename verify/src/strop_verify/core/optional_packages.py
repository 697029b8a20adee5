"""Imports of optional packages."""

import importlib
from typing import Any

from strop_verify.core.errors import UserError


def require(module: str, *, package: str, extra: str, purpose: str, part: str = "strop") -> Any:
    """The imported module. Raises UserError with the missing package, its purpose and the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").split(".")[0] != module.split(".")[0]:
            raise
        raise UserError(
            f"{purpose} needs the package {package!r}, which is not installed: pip install '{part}[{extra}]'"
        ) from error
