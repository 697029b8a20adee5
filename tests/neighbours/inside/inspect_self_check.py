"""Inspect's own acceptance test of sandboxes on ours. Runs in an environment of its own (tests/neighbours/venvs.py)."""

from collections.abc import AsyncIterator

import pytest
from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox import self_check

from strop.neighbours.inspect import JailSandbox

pytestmark = pytest.mark.anyio
NOT_OURS = {
    "test_exec_as_user": "a jail has one user",
    "test_exec_permission_error": "there is no /etc/passwd in the jail",
    "test_read_file_not_allowed": "as root, the jail's user may read what it cannot write",
}
globals().update({name: getattr(self_check, name) for name in self_check.__all__})


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def sandbox_env(
    request: pytest.FixtureRequest, anyio_backend: str
) -> AsyncIterator[SandboxEnvironment]:
    if (why := NOT_OURS.get(request.node.originalname)) is not None:
        request.applymarker(pytest.mark.xfail(reason=why, strict=False))
    made = await JailSandbox.sample_init("task", None, {})
    yield made["default"]
    await JailSandbox.sample_cleanup("task", None, made, False)
