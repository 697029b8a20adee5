"""How each toolchain is built. A toolchain's module loads when its first job comes."""

from functools import partial
from importlib import import_module

from strop.core.errors import VerificationError
from strop.core.protocols import Toolchain
from strop.verification.settings import Settings

_CLASSES = {"python": "PythonToolchain", "command": "CommandToolchain", "project": "ProjectToolchain"}
"""By the folder whose module `toolchain` has it."""


def build(name: str, settings: Settings) -> Toolchain:
    """A new toolchain; light, its processes start with the first job. Raises VerificationError, ImportError."""
    kind, _, judge = name.partition(":")
    if name in _CLASSES:
        made: Toolchain = getattr(import_module(f"{__package__}.{name}.toolchain"), _CLASSES[name])(settings)
        return made
    if name == "rust":
        from strop.verification.rust import RustToolchain

        return RustToolchain(
            verdict=settings.rust_verdict,
            limits=settings.limits,
            jail=settings.jail,
            allow_unsafe=settings.allow_unsafe,
            vendor=settings.rust_vendor,
        )
    if name == "label":
        from strop.verification.label import LabelToolchain

        return LabelToolchain()
    if kind == "edit":
        from strop.verification.edit import EditToolchain

        return EditToolchain(partial(build, settings=settings), judge)
    raise VerificationError(f"no toolchain is named {name!r}")
