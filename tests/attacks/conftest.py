import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import warm


@pytest.fixture
def strop(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs the command line in a process of its own, in an empty folder."""
    environment = {**os.environ, "COLUMNS": "200"}
    return lambda *words: warm.strop(*map(str, words), timeout=1200, cwd=tmp_path, env=environment)
