"""Finds the Rust toolchain on this machine without running anything.

rustup's shims need rustup's files and environment, which a jail lacks. So the real programs are called by their paths
below the sysroot, which is all that they need to read in the jail.
"""

import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from strop_verify.core.errors import VerificationError

_HELP = "install Rust with clippy (https://rustup.rs, or packages rustc, cargo, rust-clippy) and put rustc on PATH"


@dataclass(frozen=True)
class Installation:
    """Absolute paths of one toolchain's programs."""

    sysroot: Path
    programs: Path
    """Folder of rustc, clippy-driver, cargo and rustdoc."""

    def program(self, name: str) -> str:
        """Absolute path of a program."""
        return str(self.programs / name)

    @property
    def libraries(self) -> str:
        """Folder of the standard library as a shared object, for programs linked against it."""
        return str(next(self.sysroot.glob("lib/rustlib/*/lib/libstd-*.so")).parent)

    @property
    def read(self) -> tuple[str, ...]:
        """Paths that the jail must let compilers read and execute."""
        return (str(self.programs), str(self.sysroot / "lib"))

    @property
    def identity(self) -> str:
        """Identifies the toolchain by its path and the compiler's library, whose name holds a hash."""
        drivers = sorted(p.name for p in (self.sysroot / "lib").glob("librustc_driver-*"))
        return f"{self.sysroot}:{','.join(drivers)}"


def find_installation() -> Installation:
    """The toolchain of `rustc` on PATH. Raises VerificationError with a one-line message if it is not complete."""
    shim = shutil.which("rustc")
    if shim is None:
        raise VerificationError(f"Rust answers cannot be judged: no rustc on PATH; {_HELP}")
    real = Path(os.path.realpath(shim))
    sysroot = _rustup_sysroot() if real.name in ("rustup", "rustup-init") else real.parent.parent
    found = Installation(sysroot, sysroot / "bin")
    for name in ("rustc", "clippy-driver", "cargo"):
        if not os.access(found.program(name), os.X_OK):
            raise VerificationError(
                f"Rust answers cannot be judged: {found.program(name)} is missing; {_remedy(name)}"
            )
    if not any(sysroot.glob("lib/rustlib/*/lib/libstd-*.so")):
        raise VerificationError(f"Rust answers cannot be judged: no standard library in {sysroot}; {_HELP}")
    return found


def _remedy(name: str) -> str:
    return "rustup component add clippy (or the package rust-clippy)" if name == "clippy-driver" else _HELP


def _rustup_sysroot() -> Path:
    home = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    name = os.environ.get("RUSTUP_TOOLCHAIN") or _default_toolchain(home)
    if os.path.isabs(name):
        return Path(name)
    folder = home / "toolchains"
    for candidate in sorted(folder.glob(f"{name}*")):
        if candidate.name == name or candidate.name.startswith(f"{name}-"):
            return candidate.resolve()
    raise VerificationError(
        f"Rust answers cannot be judged: no toolchain {name!r} in {folder}; run rustup toolchain install {name}"
    )


def _default_toolchain(home: Path) -> str:
    try:
        settings = tomllib.loads((home / "settings.toml").read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise VerificationError(
            f"Rust answers cannot be judged: {home / 'settings.toml'}: {error}; {_HELP}"
        ) from error
    return str(settings.get("default_toolchain", "stable"))
