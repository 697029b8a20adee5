"""Settings of toolchains, and which of them two verifiers must share to give the same verdicts."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from strop_verify.core.verdict import Trust
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.config import SandboxConfig


@dataclass(frozen=True)
class Settings:
    """Settings of toolchains, the same for every worker of a pool."""

    limits: Limits = field(default_factory=lambda: usual_limits())
    """Limits of one answer."""
    jail: str = "auto"
    """Configuration of the jail (strop_verify.sandbox.jails)."""
    allow_unsafe: bool = False
    rust_verdict: Literal["strict", "cargo"] = "strict"
    rust_vendor: Path | None = None
    """Folder of vendored crates."""
    hash_seed: int = 0
    """PYTHONHASHSEED of Python answers."""
    root: str = ""
    """Image used as the root of terminal tasks without one (`sandbox.image.open_image`); empty: this machine's root."""
    packages: str = ""
    """Folder of packages for a project's tests, searched before those of this Python."""


def limits_of(box: SandboxConfig) -> Limits:
    """The limits of one answer that a recipe sets."""
    return Limits(
        cpu_seconds=box.cpu_seconds, wall_seconds=box.wall_seconds, memory_bytes=box.memory_mb * 2**20
    )


def usual_limits() -> Limits:
    """The limits of one answer in a recipe that sets none."""
    return limits_of(SandboxConfig())


def fingerprint(limits: Limits | None, rust_verdict: str, trust: Trust | None = None) -> dict[str, Any]:
    """What two verifiers must have in common to give the same verdicts; leaves out None."""
    held = {} if trust is None else {"trust": trust}
    return {**(asdict(limits) if limits else {}), "rust_verdict": rust_verdict, **held}
