"""Verification: answers in, verdicts out. Start at `open_verifier`.

This module imports little, because jailed worker processes import the package too.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from strop_verify.core.verdict import Trust
    from strop_verify.sandbox.limits import Limits
    from strop_verify.verification.config import SandboxConfig, VerifierConfig
    from strop_verify.verification.pool.pool import VerifierPool
    from strop_verify.verification.ray_workers import RayVerifier
    from strop_verify.verification.remote.client import RemoteVerifier
    from strop_verify.verification.verifier import OpenVerifier

__all__ = ["open_configured", "open_on_ray", "open_remote", "open_verifier"]

MOST_WORKERS = 16
"""Maximum number of workers started when no number is given."""


def open_verifier(
    *,
    workers: int | None = None,
    limits: "Limits | None" = None,
    jail: str = "auto",
    require: Sequence[str] = (),
    allow_unsafe: bool = False,
    rust_verdict: Literal["strict", "cargo"] = "strict",
    rust_vendor: "Path | None" = None,
    hash_seed: int = 0,
    trust: "Trust" = "same-process",
    root: str = "",
) -> "VerifierPool":
    """A verifier on this machine for every language that has a toolchain; close it or use it as a context manager.

    `workers`: answers or batches judged at a time; by default one per usable CPU, at most 16. `limits`: per answer; by
    default those of a recipe that sets none. `hash_seed`: PYTHONHASHSEED of all Python answers, so that verdicts are
    reproducible. For the other options see `sandbox` in a recipe. Raises SandboxError when the host lacks a required
    layer, or has no seccomp and `allow_unsafe` is off.
    """
    from functools import partial

    from strop_verify.core.errors import SandboxError
    from strop_verify.core.task import Task
    from strop_verify.sandbox.jails import choose
    from strop_verify.sandbox.report import require_jail
    from strop_verify.verification.pool.pool import VerifierPool
    from strop_verify.verification.settings import Settings, usual_limits
    from strop_verify.verification.toolchains import build

    report = require_jail(allow_unsafe, require)
    choose(jail)
    if not report.layer("seccomp").active and not allow_unsafe:
        raise SandboxError(
            f"answers cannot be prevented from forking here (seccomp: {report.layer('seccomp').detail}); use a host "
            "with seccomp, or accept the weaker jail: sandbox.allow_unsafe=true"
        )
    settings = Settings(
        limits=limits or usual_limits(),
        jail=jail,
        allow_unsafe=allow_unsafe,
        rust_verdict=rust_verdict,
        rust_vendor=rust_vendor,
        hash_seed=hash_seed,
        root=root,
    )
    return VerifierPool(
        workers=workers or min(len(os.sched_getaffinity(0)), MOST_WORKERS),
        route=Task.toolchain,
        build=partial(build, settings=settings),
        trust=trust,
    )


def open_remote(url: str, *, settings: "dict[str, Any] | None" = None) -> "RemoteVerifier":
    """A verifier on another machine that runs `strop serve-verifier`; the token is read from STROP_VERIFIER_TOKEN.

    `url`: its address, or a file that will contain it. `settings`: what it must agree with (`settings.fingerprint`).
    Raises UserError if it cannot be used.
    """
    from strop_verify.core.errors import UserError
    from strop_verify.verification.remote.protocol import read_address, read_token

    token = read_token(None, os.environ)
    try:
        from strop_verify.verification.remote.client import RemoteVerifier
    except ImportError as error:
        raise UserError(f"verifiers over HTTP need {error.name}: pip install 'strop-verify[serve]'") from None
    return RemoteVerifier(read_address(url), token, settings=settings)


def open_on_ray(
    address: str | None = "auto", *, workers: int | None = None, cpus: int = 1, **options: Any
) -> "RayVerifier":
    """A verifier on the nodes of a Ray cluster: the one that this process has joined, or the one at `address`.

    `address`, `workers`, `cpus`: see `verifier` in a recipe. `options`: those of `open_verifier` except `workers`, the
    same on every node. Raises UserError if the cluster or its nodes cannot be used.
    """
    from strop_verify.core.errors import UserError

    try:
        from strop_verify.verification.ray_workers import RayVerifier
    except ImportError as error:
        raise UserError(f"verifiers on Ray need {error.name}: pip install 'strop-verify[ray]'") from None
    return RayVerifier(address, workers=workers, cpus=cpus, **options)


def open_configured(box: "SandboxConfig", verifier: "VerifierConfig | None" = None) -> "OpenVerifier":
    """The verifier that a recipe's sections `sandbox` and `verifier` describe; without the latter, a local one."""
    from pathlib import Path

    from strop_verify.verification.config import RayVerifierConfig, ServerVerifierConfig
    from strop_verify.verification.settings import fingerprint, limits_of

    limits = limits_of(box)
    if isinstance(verifier, ServerVerifierConfig):
        return open_remote(verifier.url, settings=fingerprint(limits, box.rust_verdict, box.trust))
    options: dict[str, Any] = {
        "limits": limits,
        "jail": box.jail,
        "require": box.require,
        "allow_unsafe": box.allow_unsafe,
        "rust_verdict": box.rust_verdict,
        "rust_vendor": Path(box.rust_vendor).resolve() if box.rust_vendor else None,
        "trust": box.trust,
        "root": box.root,
    }
    if isinstance(verifier, RayVerifierConfig):
        return open_on_ray(verifier.address, workers=verifier.workers, cpus=verifier.cpus, **options)
    return open_verifier(workers=box.workers, **options)
