from collections.abc import Iterator

import pytest

from strop.sandbox.limits import Limits
from strop.verification import open_verifier
from strop.verification.python import PythonVerifier


@pytest.fixture(scope="session")
def verifier() -> Iterator[PythonVerifier]:
    limits = Limits(cpu_seconds=0.5, wall_seconds=3, memory_bytes=256 * 2**20)
    with open_verifier(workers=1, limits=limits) as opened:
        yield opened
