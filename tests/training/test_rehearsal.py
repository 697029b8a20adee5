"""Recipes as their heads say: the commands of a head run in an empty folder (benchmarks/rehearse.py)."""

from pathlib import Path

import pytest
from benchmarks.rehearse import RECIPES, Stage, head_commands
from tests import needs, scale

NAMES = sorted(path.stem for path in RECIPES.glob("*.yaml"))


@pytest.mark.soak(60)
def test_heads_run_in_an_empty_folder(tmp_path: Path) -> None:
    stage = Stage(tmp_path, needs.data("../repos"))
    found = [stage.rehearse(RECIPES / f"{name}.yaml").row() for name in scale.some(NAMES, 1)]
    assert all(row["ok"] for row in found), found


def test_a_heads_commands_are_read_whole() -> None:
    text = (
        "# Data:\n#   strop build retrieval REPOSITORY... \\\n#     -o a.jsonl\n# strop online does it too\n"
        "#   strop train x 'rewards=[{name: passed}]'   # tests alone\nrun: {name: x}\n#   strop train y\n"
    )
    assert list(head_commands(text)) == [
        ["build", "retrieval", "REPOSITORY...", "-o", "a.jsonl"],
        ["train", "x", "rewards=[{name: passed}]"],
    ]
