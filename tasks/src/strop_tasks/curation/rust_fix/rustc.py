"""The messages of tasks: rustc's output for one program, in the jail.

Strict verdicts compile many programs in one crate, with clippy, so messages name other modules, suggest imports from
them and spell types in full. So each program that should not build is compiled once more, alone.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from strop_verify.core.checks import RustCheck
from strop_verify.core.errors import SandboxError, WorkerDied
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, Verdict
from strop_verify.verification import MOST_WORKERS
from strop_verify.verification.pool.pool import VerifierPool
from strop_verify.verification.rust.compiler import Compiler
from strop_verify.verification.rust.installation import find_installation

if TYPE_CHECKING:
    from strop_verify.sandbox import Box

ROOT = "src/lib.rs"


def open_rustc(*, workers: int | None = None, allow_unsafe: bool = False) -> VerifierPool:
    """A pool that compiles programs one by one: *passed* means "builds", the stage `build` holds rustc's output.

    Close it or use it as a context manager. `open_verifier` checks the host's jail; this does not.
    """
    usable = min(len(os.sched_getaffinity(0)), MOST_WORKERS)
    return VerifierPool(
        workers=workers or usable, route=lambda task: "rustc", build=lambda name: RustcToolchain(allow_unsafe)
    )


class RustcToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for tasks with a RustCheck; it ignores their tests."""

    batch = 1

    def __init__(self, allow_unsafe: bool = False) -> None:
        self._allow_unsafe = allow_unsafe
        self._compiler: Compiler | None = None
        self._box: Box | None = None

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job, in order. Raises WorkerDied, and VerificationError if there is no Rust toolchain."""
        try:
            return [self._judge(task, answer) for task, answer in jobs]
        except SandboxError as error:
            self.close()
            raise WorkerDied(str(error)) from error

    def close(self) -> None:
        """Ends the jail's process. Safe to call twice and from any thread."""
        box, self._box = self._box, None
        if box is not None:
            box.close()

    def _judge(self, task: Task, answer: str) -> Verdict:
        check = task.check.only(RustCheck)
        if self._compiler is None:
            self._compiler = Compiler(find_installation(), exact=True)
        with self._open(self._compiler).work() as work:
            work.put({**check.files, ROOT: answer})
            found = self._compiler.check(work, ROOT, "answer", check.edition)
        output = "".join(text for findings in found.files.values() for text in findings.text)
        outcome = Outcome.PASSED if found.ok else Outcome.FAILED
        if found.trouble:
            outcome = Outcome.TIMED_OUT if found.trouble == "timed out" else Outcome.OUT_OF_MEMORY
        stages = [Stage(name="build", passed=found.ok, seconds=found.seconds, output=output)]
        return Verdict(
            outcome=outcome, stages=stages, detail=found.trouble, seconds=found.seconds,
            cpu_seconds=found.cpu_seconds, peak_bytes=found.peak_bytes,
        )  # fmt: skip

    def _open(self, compiler: Compiler) -> "Box":
        if self._box is None:
            from strop_verify.sandbox import open_box

            self._box = open_box(allow_unsafe=self._allow_unsafe, read=list(compiler.installation.read))
        return self._box
