"""The packed built-in tasks are what their sources say, and nothing of the sources is needed to load them."""

import subprocess
import sys
from pathlib import Path

import pytest
from tasksets import build

from strop.core.task import Task
from strop.tasks import builtin, load_tasks
from strop.tasks.sources import iter_tasks


def test_the_packed_tasks_are_those_of_the_sources():
    """`make tasksets` was run after the last change of a task."""
    assert builtin.lines() == build.lines()


@pytest.mark.parametrize("source", ["python-functions", "rust-functions"])
def test_ids_and_splits_are_frozen(source):
    packed = {task.id: task for task in map(Task.model_validate_json, builtin.lines().splitlines())}
    for task in load_tasks(source):
        assert packed[task.id] == task and task.split in ("train", "held-out")
    assert {task.split for task in iter_tasks(source)} == {None}


def test_loading_needs_only_the_package(tmp_path: Path):
    code = (
        "import sys; from strop.tasks import load_tasks\n"
        "print(len(load_tasks('python-functions')), len(load_tasks('rust-functions')), 'tasksets' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["1207", "1490", "False"], done.stderr
