"""How each toolchain is built. A toolchain's module loads when its first job comes."""

from functools import partial

from strop.core.errors import VerificationError
from strop.core.protocols import Toolchain
from strop.verification.settings import Settings


def build(name: str, settings: Settings) -> Toolchain:
    """A new toolchain; light, its processes start with the first job. Raises VerificationError, ImportError."""
    if name == "python":
        from strop.verification.python.toolchain import PythonToolchain

        return PythonToolchain(
            limits=settings.limits,
            jail=settings.jail,
            allow_unsafe=settings.allow_unsafe,
            hash_seed=settings.hash_seed,
        )
    if name == "rust":
        from strop.verification.rust import RustToolchain

        return RustToolchain(
            verdict=settings.rust_verdict,
            limits=settings.limits,
            jail=settings.jail,
            allow_unsafe=settings.allow_unsafe,
            vendor=settings.rust_vendor,
        )
    if name == "command":
        from strop.verification.command import CommandToolchain

        return CommandToolchain(
            limits=settings.limits, jail=settings.jail, allow_unsafe=settings.allow_unsafe
        )
    if name == "label":
        from strop.verification.label import LabelToolchain

        return LabelToolchain()
    if name.partition(":")[0] == "edit":
        from strop.verification.edit import EditToolchain

        return EditToolchain(partial(build, settings=settings), name.partition(":")[2])
    if name == "project":
        from strop.verification.project import ProjectToolchain

        return ProjectToolchain(
            limits=settings.limits, jail=settings.jail, allow_unsafe=settings.allow_unsafe
        )
    raise VerificationError(f"no toolchain is named {name!r}")
