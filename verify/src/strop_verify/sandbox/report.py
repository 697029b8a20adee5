"""Reports which layers of the jail work here, by trying each in a separate process. Used by `strop doctor`."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from strop_verify.core.errors import SandboxError, UserError
from strop_verify.sandbox import kernel
from strop_verify.sandbox.spawn import helper

PROBE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the jail on this host."""

    name: str
    active: bool
    detail: str
    """Result of the attempt."""
    leaves_open: str
    """What remains possible: despite the layer if it is active, without it if not."""


@dataclass(frozen=True, slots=True)
class JailReport:
    """Every layer, one row each."""

    layers: tuple[Layer, ...]

    def layer(self, name: str) -> Layer:
        """The layer of that name. Raises KeyError."""
        return {row.name: row for row in self.layers}[name]

    @property
    def safe(self) -> bool:
        """Whether at least one of Landlock and seccomp holds."""
        return self.layer("landlock").active or self.layer("seccomp").active


@cache
def probe() -> JailReport:
    """Tries every layer in a new process, once. Raises SandboxError if that fails or this process's clock is faked."""
    _check_clock()
    argv = helper("strop_verify.sandbox.layer_probes")
    try:
        done = subprocess.run(argv, env={}, cwd="/", capture_output=True, timeout=PROBE_SECONDS, check=True)
        return JailReport(tuple(Layer(**row) for row in json.loads(done.stdout)))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxError(f"the jail could not be probed with {argv[0]}: {error}") from error


def _check_clock() -> None:
    """Raises SandboxError if a library fakes this process's clock: programs would get wrong deadlines."""
    before, kernels, after = time.monotonic_ns(), kernel.monotonic_ns(), time.monotonic_ns()
    try:
        if before <= kernels <= after:
            time.sleep(0.001)
            return
    except OSError:  # the result of libfaketime if it leaves this clock alone
        pass
    raise SandboxError(
        "this process's clock differs from that of the programs it starts, so every deadline would be wrong; start "
        f"Strop without libfaketime and the like (LD_PRELOAD={os.environ.get('LD_PRELOAD', '')!r})"
    )


def require_jail(allow_unsafe: bool, layers: Sequence[str] = ()) -> JailReport:
    """The report, if the host can contain hostile code. Raises SandboxError if Landlock and seccomp are both missing.

    `allow_unsafe` (the setting sandbox.allow_unsafe) accepts a host without both. `layers` (sandbox.require): required
    in any case; UserError for an unknown name.
    """
    report = probe()
    known = [row.name for row in report.layers]
    for name in layers:
        if name not in known:
            raise UserError(f"sandbox.require: no layer is called {name!r}; they are {', '.join(known)}")
    lacking = [row for row in report.layers if row.name in layers and not row.active]
    if lacking:
        causes = "; ".join(f"{row.name}: {row.detail}" for row in lacking)
        raise SandboxError(f"this machine lacks layers of sandbox.require ({causes})")
    if report.safe or allow_unsafe:
        return report
    causes = "; ".join(f"{n}: {report.layer(n).detail}" for n in ("landlock", "seccomp"))
    raise SandboxError(
        f"this machine cannot contain hostile code ({causes}); use Linux 5.13 or newer on x86-64 or aarch64 with "
        "Landlock, or accept the weaker jail: sandbox.allow_unsafe=true"
    )
