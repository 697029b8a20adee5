"""Runs real cargo in the jail for one answer: the reference for the faster paths, and the fallback beyond them.

In cargo mode it judges answers with documentation tests or text that depends on being a crate root. Tests run in the
build profile, because cargo starts them: bounded, but allowed to start processes and write files. Their verdict is
cargo's exit status, which an answer can forge.
"""

from dataclasses import replace
from pathlib import Path

from strop_verify.core.verdict import Outcome
from strop_verify.sandbox import CommandResult, Limits, Work
from strop_verify.verification.rust.case import RustAnswer
from strop_verify.verification.rust.compiler import COMPILE, Compiler
from strop_verify.verification.rust.crates import code_name, manifest, source_config

_STEPS = (("build", "build"), ("lint", "clippy"), ("test", "test"))


def package(case: RustAnswer, vendor: Path | None = None) -> dict[str, str]:
    """The files of a new package with the answer and its tests."""
    check = case.check
    crates = [entry for entry in check.crates if code_name(entry) in case.crates]
    files = {
        **check.files,
        "Cargo.toml": manifest(case.crate, check.edition, crates),
        "src/lib.rs": case.answer,
    }
    if case.integration:
        files[f"tests/{case.crate}.rs"] = check.tests
    elif check.tests:
        files["src/lib.rs"] = f"{case.answer}\n{check.tests}"
    if vendor is not None and crates:
        files[".cargo/config.toml"] = source_config(vendor)
    return files


class Cargo:
    """`cargo build`, `cargo clippy` and `cargo test` in a work directory of the jail."""

    def __init__(self, compiler: Compiler, limits: Limits, vendor: Path | None) -> None:
        self.compiler, self.limits, self.vendor = compiler, limits, vendor

    def judge(self, case: RustAnswer, work: Work) -> None:
        """Fills in the stages. Raises SandboxError, OutOfTime."""
        work.put(package(case, self.vendor))
        for stage, command in _STEPS:
            result = self._run(work, command, case.crate)
            case.spend(result.seconds, result.cpu_seconds, result.peak_bytes)
            passed = result.status == 0 and not result.expired
            setattr(case, stage, passed)
            text = (result.stdout + result.stderr).decode(errors="replace")
            case.say(stage, text)
            if stage == "test":
                case.output = text
            if result.expired in ("cpu", "wall") and case.outcome is None:
                case.outcome = Outcome.TIMED_OUT
                case.detail = f"cargo {command} exceeded the {result.expired} limit"

    def _run(self, work: Work, command: str, crate: str) -> CommandResult:
        installation = self.compiler.installation
        extra = 60.0 if self.vendor else 0.0
        cpu = COMPILE.cpu_seconds + extra + (self.limits.cpu_seconds if command == "test" else 0)
        wall = COMPILE.wall_seconds + extra + (self.limits.wall_seconds if command == "test" else 0)
        read = [*installation.read, *([str(self.vendor)] if self.vendor else [])]
        return work.run(
            [installation.program("cargo"), command, "--quiet", "--offline", "--color=never"],
            limits=self.compiler.within(
                replace(COMPILE, cpu_seconds=cpu, wall_seconds=wall, output_bytes=1 << 20)
            ),
            profile="build",
            read=read,
            environment=self.compiler.cargo_environment(),
        )
