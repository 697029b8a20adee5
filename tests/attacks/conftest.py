import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def strop(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs the command line in a process of its own, in an empty folder."""

    def run(*arguments: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", "from strop.cli import main; main()", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "200"},
        )

    return run
