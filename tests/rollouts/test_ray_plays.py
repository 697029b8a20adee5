"""Environments on actors of a Ray cluster: the same plays as here, and what a killed actor costs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strop.config.load import load_recipe
from strop_verify.core.errors import ConfigError

pytest.importorskip("ray", reason="ray is not installed: pip install 'strop[ray]'")
PROGRAM = Path(__file__).with_name("ray_run.py")


@pytest.mark.soak(60)
def test_plays_on_two_nodes_are_those_of_one_process_and_a_killed_actor_costs_none(tmp_path: Path) -> None:
    own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", "RAY_raylet_start_wait_time_s": "120"}
    command, environment = [sys.executable, str(PROGRAM), str(tmp_path)], {**os.environ, **own}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    for name in ("workspace", "feedback", "harness"):
        here, there = found[name]
        assert here == there, name
        assert len(here["rollouts"]) == here["count"]["finished"] == 10
        outcomes = [one["verdict"]["outcome"] for one in here["rollouts"]]
        assert outcomes == ["failed", "failed", "passed", "passed"] * 2 + ["failed", "failed"], name
    killed, here = found["killed"], found["workspace"][0]
    assert killed["rollouts"] == here["rollouts"]
    count = killed["count"]
    assert count["cancelled"] > 0 and count["started"] == count["finished"] + count["cancelled"]
    first, second = found["mistakes"]
    assert first == second and "ZeroDivisionError" in first and "(own.py:18)" in first


def test_actors_need_a_cluster() -> None:
    with pytest.raises(ConfigError, match=r"launch\.environments=ray: needs a cluster"):
        load_recipe(["demo"], ["launch.environments=ray"])
    load_recipe(["demo"], ["launch.environments=ray", "launch.verifiers=1"])
