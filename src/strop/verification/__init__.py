"""Toolchains on the jail: answers in, verdicts out.

`open_verifier` is the door. Light on import, because jailed worker processes import this package too.
"""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop.sandbox.limits import Limits
    from strop.verification.python import PythonVerifier

__all__ = ["open_verifier"]

MOST_WORKERS = 16
"""Workers that are started when no number is given, at most."""


def open_verifier(
    *, workers: int | None = None, limits: "Limits | None" = None, allow_unsafe: bool = False
) -> "PythonVerifier":
    """A verifier for Python tasks; close it or use it as a context manager.

    `workers`: processes; default one a usable CPU, at most 16. `limits`: per answer; default `Limits()`. Raises
    SandboxError when the host has no seccomp and `allow_unsafe` (sandbox.allow_unsafe) is off.
    """
    from strop.core.errors import SandboxError
    from strop.sandbox.limits import Limits
    from strop.sandbox.report import require_jail
    from strop.verification.python import PythonVerifier

    report = require_jail(allow_unsafe)
    if not report.layer("seccomp").active and not allow_unsafe:
        raise SandboxError(
            f"candidates cannot be kept from forking here (seccomp: {report.layer('seccomp').detail}); use a host with "
            "seccomp, or ask for the weaker jail by name: sandbox.allow_unsafe=true"
        )
    usable = len(os.sched_getaffinity(0))
    return PythonVerifier(
        workers=workers or min(usable, MOST_WORKERS), limits=limits or Limits(), allow_unsafe=allow_unsafe
    )


def __getattr__(name: str) -> Any:
    if name == "PythonVerifier":
        from strop.verification.python import PythonVerifier

        return PythonVerifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
