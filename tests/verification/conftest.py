from collections.abc import Callable, Iterator

import pytest
from tests import processes

from strop.sandbox.limits import Limits
from strop.verification import open_verifier
from strop.verification.pool.pool import VerifierPool


@pytest.fixture(scope="session")
def verifier() -> Iterator[VerifierPool]:
    limits = Limits(cpu_seconds=0.5, wall_seconds=3, memory_bytes=256 * 2**20)
    with open_verifier(workers=1, limits=limits) as opened:
        yield opened


@pytest.fixture(scope="session")
def family() -> Callable[..., list[int]]:
    """Living descendants of a process; see `tests.processes`."""
    return processes.family
