"""Optional packages, which only some parts need."""

import importlib
from typing import Any

from strop_verify.core.errors import UserError


def require(module: str, *, package: str, extra: str, purpose: str, part: str = "strop") -> Any:
    """The imported module, or a UserError that says which package is missing, what for and how to get it, of which part
    of the project.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").split(".")[0] != module.split(".")[0]:
            raise
        raise UserError(
            f"{purpose} needs the package {package!r}, which is not installed: pip install '{part}[{extra}]'"
        ) from error
