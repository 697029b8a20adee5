from collections.abc import Callable, Iterator

import pytest
from tests import processes

from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.pool.pool import VerifierPool
from strop_verify.verification.rust import RustToolchain

RUST_LIMITS = Limits(cpu_seconds=1.5, wall_seconds=6.0, memory_bytes=1 << 30, output_bytes=1 << 16)


def rust_task(statement: str, tests: str, reference: str) -> Task:
    """A task with these tests in a module of the answer's."""
    text = f"#[cfg(test)] mod tests {{ use super::*; {tests} }}"
    return Task(language="rust", statement=statement, reference=reference, check=RustCheck(tests=text))


@pytest.fixture(scope="session")
def verifier() -> Iterator[VerifierPool]:
    limits = Limits(cpu_seconds=0.5, wall_seconds=3, memory_bytes=256 * 2**20)
    with open_verifier(workers=1, limits=limits) as opened:
        yield opened


@pytest.fixture(scope="session")
def family() -> Callable[..., list[int]]:
    """Living descendants of a process; see `tests.processes`."""
    return processes.family


@pytest.fixture(scope="module")
def toolchain() -> Iterator[RustToolchain]:
    """Strict verdicts on Rust."""
    made = RustToolchain(limits=RUST_LIMITS)
    yield made
    made.close()
