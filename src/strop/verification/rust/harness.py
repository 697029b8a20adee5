"""Builds harness.rs and its modules, which stand in for libtest in strict mode."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from strop.core.errors import WorkerDied
from strop.sandbox.limits import Limits
from strop.verification.rust.compiler import COMPILE, Compiler
from strop.verification.rust.diagnostics import HARNESS
from strop.verification.rust.literals import SECRET

if TYPE_CHECKING:
    from strop.sandbox import Work

LIBRARY = "libtest.rlib"
LIST = Limits(cpu_seconds=5, wall_seconds=30, output_bytes=4 << 20, memory_bytes=4 << 30)
"""Of a program that lists its tests."""
_lock = threading.Lock()
_built: dict[str, bytes] = {}


def put_harness(work: "Work", compiler: Compiler) -> dict[str, str]:
    """Puts the harness there, compiled once a process and toolchain; its file by the name that rustc links."""
    key = compiler.installation.identity
    if key not in _built:
        built = _build(work, compiler)
        with _lock:
            _built[key] = built
    work.put({LIBRARY: _built[key]})
    return {"test": LIBRARY}


def _build(work: "Work", compiler: Compiler) -> bytes:
    folder = Path(__file__).parent
    work.put({name: (folder / name).read_text().replace("SECRET", SECRET) for name in HARNESS})
    argv = [compiler.installation.program("rustc"), "harness.rs", "--crate-name", "test", "--crate-type", "rlib",
            "--edition=2021", "-C", "prefer-dynamic", "-C", "codegen-units=1", "-o", LIBRARY]  # fmt: skip
    limits = replace(COMPILE, cpu_seconds=30, wall_seconds=120)
    result = work.run(argv, limits=limits, profile="build", read=compiler.installation.read,
                      environment=compiler.environment("test"))  # fmt: skip
    if result.status != 0:
        raise WorkerDied(f"the test harness does not build: {result.stderr[-500:].decode(errors='replace')}")
    return work.read(LIBRARY, limit=32 << 20)
