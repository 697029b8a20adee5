"""The table of agents in docs/harness.md: each row's agent, as its own project installs it, plays a toy task."""

import os
import re
from pathlib import Path

import pytest
import yaml
from tests.neighbours.venvs import ROOT, made, working
from tests.scale import full
from tests.warm import strop

PAGE = (ROOT / "docs" / "harness.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Agents that were tried")[2].partition("\n## ")[0]
ROWS = [
    (row[1], row[2], row[3].strip())
    for row in re.finditer(r"^\| `([^`]+)` \| `([^`]+)` \| (.*?) \|", TABLE, re.MULTILINE)
]
"""(what pip installs, the command, overrides)"""


def python_for(row: str) -> str:
    """A Python in which the row's agent can be installed."""
    wanted = re.search(r"Python (3\.\d+)", row)
    if wanted is None:
        return working("python3.12", "python3.11") or "python3"
    found = [f"python{wanted[1]}", *map(str, Path.home().glob(f".pyenv/versions/{wanted[1]}.*/bin/python3"))]
    return working(*found) or pytest.skip(f"there is no Python {wanted[1]}")


def test_the_table_has_its_rows() -> None:
    names = {re.split(r"[=\[]", packages)[0] for packages, _, _ in ROWS}
    assert {
        "mini-swe-agent",
        "aider-chat",
        "smolagents",
        "openai-agents",
        "pydantic-ai-slim",
        "inspect-ai",
    } <= names


@pytest.mark.soak(120)
@pytest.mark.skipif(not full(), reason="pip installs the agent: in a full run (--full)")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: re.split(r"[=\[]", row[0])[0])
def test_each_row_plays(row: tuple[str, str, str], tmp_path: Path) -> None:
    packages, command, more = row
    place = made(re.split(r"[=\[]", packages)[0], *packages.split(), folder=tmp_path, python=python_for(more))
    command = command.replace("VENV", str(place))
    words = [command, *re.findall(r"`(\w[\w.]*=[^`]+)`", more)]
    if "recipe above" in more:  # its variables
        block = next(found for found in re.findall(r"```yaml\n(.*?)```", PAGE, re.S) if "MSWEA" in found)
        environment = yaml.safe_load(block)["tasks"]["environment"]
        words.append(f"tasks.environment.variables={environment['variables']}")
    done = strop(
        "harness", "check", *words, "play.setup_seconds=600", cwd=ROOT, timeout=1200, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ok +files: as in the policy's answer$", done.stdout, re.MULTILINE), done.stdout
