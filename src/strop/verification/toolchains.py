"""Which toolchain judges a task, and how each is built. A toolchain's module loads when its first job comes."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from strop.config.tasks import SandboxConfig
from strop.core.checks import EditCheck
from strop.core.errors import VerificationError
from strop.core.protocols import Toolchain
from strop.core.task import Task
from strop.sandbox.limits import Limits

_PYTHON = ("cases", "asserts", "stdio", "pytest")


@dataclass(frozen=True)
class Settings:
    """What toolchains are built with; the same for every worker of a pool."""

    limits: Limits = field(default_factory=Limits)
    """Of one answer."""
    jail: str = "auto"
    """Configuration of the jail (strop.sandbox.jails)."""
    allow_unsafe: bool = False
    rust_verdict: Literal["strict", "cargo"] = "strict"
    rust_vendor: Path | None = None
    """Folder of vendored crates."""
    hash_seed: int = 0
    """PYTHONHASHSEED of Python answers."""


def limits_of(box: SandboxConfig) -> Limits:
    """The limits of one answer that a recipe sets."""
    return Limits(
        cpu_seconds=box.cpu_seconds, wall_seconds=box.wall_seconds, memory_bytes=box.memory_mb * 2**20
    )


def fingerprint(limits: Limits, rust_verdict: str) -> dict[str, Any]:
    """What two verifiers must have in common to give the same verdicts."""
    return {**asdict(limits), "rust_verdict": rust_verdict}


def route(task: Task) -> str:
    """Name of the toolchain for a task. Raises VerificationError when there is none."""
    kind, language = task.check.kind, task.language
    if isinstance(task.check, EditCheck) and task.check.judge is not None:
        # The judge is part of the name, so that edits wait in line with others of the same judge.
        return f"edit:{route(task.model_copy(update={'check': task.check.judge}))}"
    if kind in ("label", "edit", "project"):
        return kind
    if kind == "workspace":
        raise VerificationError("tasks of kind workspace are carried, not played yet")
    if kind == "command":
        return "command"
    if language == "python" and kind in _PYTHON:
        return "python"
    if language == "rust" and kind == "rust":
        return "rust"
    if kind == "stdio" and language != "python":
        return "command"
    raise VerificationError(f"no toolchain for language {language!r} with a check of kind {kind!r}")


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

        return EditToolchain(settings, name.partition(":")[2])
    if name == "project":
        from strop.verification.project import ProjectToolchain

        return ProjectToolchain(
            limits=settings.limits, jail=settings.jail, allow_unsafe=settings.allow_unsafe
        )
    raise VerificationError(f"no toolchain is named {name!r}")
