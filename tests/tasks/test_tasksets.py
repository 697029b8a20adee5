"""The packed built-in tasks are what their sources say, and nothing of the sources is needed to load them."""

import subprocess
import sys
from pathlib import Path

import pytest
from tasksets import build

from strop.tasks import assign_splits, builtin, load_tasks, sources, splits
from strop.tasks.sources import iter_tasks


def test_the_packed_tasks_are_those_of_the_sources():
    """`make tasksets` was run after the last change of a task."""
    assert builtin.lines() == build.lines()


@pytest.mark.parametrize("source", sources.BUILTIN)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.35, 0.5])
def test_splits_are_frozen(source: str, share: float, monkeypatch):
    """Nothing is compared when they are loaded, and every split is the one that comparing gives."""
    compared = assign_splits(list(iter_tasks(source)), share)
    assert {task.split for task in iter_tasks(source)} == {None}
    monkeypatch.setattr(splits, "clusters", lambda tasks: pytest.fail("near-duplicates were looked for"))
    loaded = load_tasks(source, held_out_fraction=share)
    assert loaded == compared
    assert sum(task.split == "held-out" for task in loaded) / len(loaded) == pytest.approx(share, abs=0.05)


def test_loading_needs_only_the_package(tmp_path: Path):
    counts = {
        "python-functions": "1207",
        "rust-functions": "1490",
        "stdio-problems:90": "90",
        "toy-repositories:9": "9",
        "needs-feedback:9": "9",
    }
    code = (
        "import sys; from strop.tasks import load_tasks\n"
        "print(*(len(load_tasks(name)) for name in sys.argv[1:]), 'tasksets' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *counts], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == [*counts.values(), "False"], done.stderr
