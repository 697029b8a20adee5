"""Runs rustc and clippy-driver in the jail on files in the work directory.

The flags are those of cargo's development profile, without debug information and incremental files, which change no
verdict. Compilers get only cargo's environment, and can read only the toolchain and the work directory.
"""

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from strop_verify.core.errors import StropError, VerificationError, WorkerDied
from strop_verify.sandbox import CommandResult, Limits, Work
from strop_verify.verification.rust.diagnostics import NEVER_LOWERED, Diagnostics, read_diagnostics
from strop_verify.verification.rust.installation import Installation

COMPILE = Limits(
    cpu_seconds=10.0, wall_seconds=40.0, memory_bytes=4 << 30, output_bytes=8 << 20, file_bytes=256 << 20,
    dir_bytes=512 << 20, tree_bytes=4 << 30, open_files=256, processes=64,
)  # fmt: skip
"""Limits for compiling one answer; each further one adds `PER_ANSWER` CPU seconds, and 4 times as many wall seconds."""
PER_ANSWER = 0.5
_CODEGEN = ("-C", "codegen-units=1", "-C", "debuginfo=0", "-C", "prefer-dynamic", "-C", "strip=debuginfo")
_CHECK_CFG = ("--check-cfg", "cfg(docsrs,test)", "--check-cfg", "cfg(feature, values())")
_denied: dict[str, tuple[str, ...]] = {}

Trouble = Literal["", "timed out", "out of memory", "crashed"]


class OutOfTime(StropError):
    """The time for the answers being judged has run out."""


@dataclass
class Compiled:
    """The result of one compilation."""

    ok: bool
    files: dict[str, Diagnostics]
    trouble: Trouble
    """Why the compiler did not finish, in which case the findings may be incomplete; or empty."""
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    stderr: str = ""


@dataclass
class Compiler:
    """The compilers of an installation, run in a work directory of the jail."""

    installation: Installation
    exact: bool = False
    """Keeps every lint at its level: needed if attributes change levels, but possible only for one answer."""
    links: tuple[str, ...] = ()
    """Arguments that name third-party crates, see crates.py."""
    until: float = math.inf
    """Deadline of the answers being judged, in the time of `time.monotonic`."""

    def within(self, limits: Limits) -> Limits:
        """The limits of a run, cut to the time that is left. Raises OutOfTime if there is none."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise OutOfTime("no time is left")
        return replace(limits, wall_seconds=min(limits.wall_seconds, left))

    def cargo_environment(self) -> dict[str, str]:
        """The environment of cargo itself."""
        programs = self.installation.programs
        return {
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
            "RUSTC": str(programs / "rustc"),
            "CARGO_INCREMENTAL": "0",
            "CARGO_TERM_COLOR": "never",
        }

    def environment(self, crate: str) -> dict[str, str]:
        """The variables, visible to code, that cargo sets for a package of this name."""
        return {
            "CARGO_PKG_NAME": crate,
            "CARGO_CRATE_NAME": crate,
            "CARGO_PKG_VERSION": "0.1.0",
            "LD_LIBRARY_PATH": self.installation.libraries,
        }

    def denied(self, work: Work) -> tuple[str, ...]:
        """Names of the lints that are denied by default, read once per toolchain. Raises WorkerDied."""
        key = self.installation.identity
        if key not in _denied:
            argv = [self.installation.program("clippy-driver"), "-W", "help"]
            result = self._run(work, argv, Limits(cpu_seconds=20, wall_seconds=60, memory_bytes=4 << 30,
                                                  output_bytes=1 << 20), {})  # fmt: skip
            rows = (line.split() for line in result.stdout.decode(errors="replace").splitlines())
            names = tuple(r[0].replace("-", "_") for r in rows if len(r) > 1 and r[1] == "deny")
            if result.status != 0 or len(names) < 10:
                raise WorkerDied(f"clippy-driver does not run in the jail: {_last_line(result)}")
            names = tuple(n for n in names if n not in NEVER_LOWERED)
            work.put({"empty.rs": ""})
            argv = [*map(self.installation.program, ("clippy-driver", "rustc")), "empty.rs"]
            argv += ["--crate-type", "lib", "--emit=metadata", *(f"-W{name}" for name in names)]
            errors = self._run(work, argv, COMPILE, self.environment("empty")).stderr.decode(errors="replace")
            unstable = set(re.findall(r"unknown lint: `(\w+)`", errors))
            _denied[key] = tuple(n for n in names if n not in unstable)
        return _denied[key]

    def check(self, work: Work, root: str, crate: str, edition: str, count: int = 1) -> Compiled:
        """Runs rustc without clippy and code generation: the fastest way to an error."""
        return self._metadata(["rustc"], work, root, crate, edition, count)

    def lint(self, work: Work, root: str, crate: str, edition: str, count: int = 1) -> Compiled:
        """Runs clippy on a library crate without code generation, like `cargo clippy`."""
        return self._metadata(["clippy-driver", "rustc"], work, root, crate, edition, count)

    def _metadata(
        self, programs: Sequence[str], work: Work, root: str, crate: str, edition: str, count: int
    ) -> Compiled:
        argv = [*map(self.installation.program, programs), root, "--crate-type", "lib", "--emit=metadata"]
        argv += ["-o", f"lib{crate}.rmeta", *_CHECK_CFG]
        return self._compile(work, argv, crate, edition, count)

    def library(self, work: Work, root: str, crate: str, edition: str, count: int = 1) -> Compiled:
        """Builds a library crate, `lib{crate}.rlib`, like `cargo build`."""
        argv = [self.installation.program("rustc"), root, "--crate-type", "lib", "--emit=link"]
        argv += ["-o", f"lib{crate}.rlib", *_CODEGEN, *_CHECK_CFG]
        return self._compile(work, argv, crate, edition, count)

    def tests(
        self,
        work: Work,
        root: str,
        crate: str,
        edition: str,
        count: int = 1,
        *,
        output: str = "t",
        externs: Mapping[str, str] | None = None,
    ) -> Compiled:
        """Builds a test program. `externs`: files of crates by name, including `test` if our harness is used."""
        argv = [self.installation.program("rustc"), root, "--test", "--emit=link", "-o", output]
        argv += [*_CODEGEN, *_CHECK_CFG]
        for name, path in (externs or {}).items():
            argv += ["--extern", f"{name}={path}"]
        return self._compile(work, argv, crate, edition, count)

    def program(self, work: Work, root: str, crate: str) -> Compiled:
        """Builds a program of our own, without code of an answer."""
        argv = [self.installation.program("rustc"), root, "--emit=link", "-o", crate, *_CODEGEN]
        return self._compile(work, argv, crate, "2021", 1)

    def _compile(self, work: Work, argv: Sequence[str], crate: str, edition: str, count: int) -> Compiled:
        denied = () if self.exact else self.denied(work)
        lowered = [f"-W{name}" for name in denied if argv[0].endswith("clippy-driver") or "::" not in name]
        command = [*argv, "--crate-name", crate, f"--edition={edition}", "--error-format=json", *lowered]
        command += ["--force-warn", "unsafe_code", *self.links]
        cpu = COMPILE.cpu_seconds + PER_ANSWER * (count - 1)
        limits = self.within(replace(COMPILE, cpu_seconds=cpu, wall_seconds=4 * cpu))
        result = self._run(work, command, limits, self.environment(crate))
        files = read_diagnostics(result.stderr, denied)
        for text in files[""].text if "" in files else ():
            if text.startswith("error: linker `") and "not found" in text:
                raise VerificationError(
                    f"rustc cannot link here: {text.splitlines()[0]}; install gcc or clang"
                )
        return Compiled(
            ok=result.status == 0 and not result.expired,
            files=files,
            trouble=_trouble(result),
            seconds=result.seconds,
            cpu_seconds=result.cpu_seconds,
            peak_bytes=result.peak_bytes,
            stderr="" if result.status == 0 else result.stderr.decode(errors="replace")[-2000:],
        )

    def _run(
        self, work: Work, argv: Sequence[str], limits: Limits, environment: Mapping[str, str]
    ) -> CommandResult:
        return work.run(
            argv, limits=limits, profile="build", read=self.installation.read, environment=environment
        )


def _trouble(result: CommandResult) -> Trouble:
    """Why the compiler did not finish: rustc exits with 0, or with 1 if it found errors; anything else is trouble."""
    if result.expired in ("cpu", "wall"):
        return "timed out"
    if result.expired or result.truncated:
        return "crashed"
    if result.status in (0, 1):
        return "out of memory" if b"memory allocation of" in result.stderr[-2000:] else ""
    text = result.stderr[-5000:]
    return "out of memory" if b"memory allocation of" in text or b"SIGKILL" in text else "crashed"


def _last_line(result: CommandResult) -> str:
    lines = result.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else f"status {result.status}"
