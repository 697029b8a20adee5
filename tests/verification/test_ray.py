"""Verdicts by actors of a Ray cluster: a cluster in a process of its own, since Ray stays in the one that joins it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strop_verify.sandbox.report import probe

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'strop[ray]'")


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    return subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.soak(36)
def test_the_kill_of_a_node_loses_doubles_and_changes_nothing(tmp_path: Path) -> None:
    done = run(
        "benchmarks/ray_verdicts.py", "--verdicts", "600", "--rounds", "1", "--json", str(tmp_path / "row")
    )
    assert done.returncode == 0, done.stdout + done.stderr
    row: dict[str, Any] = json.loads((tmp_path / "row").read_text())
    nothing = ("lost", "doubled", "different", "errors", "left_behind")
    assert {key: row[key] for key in nothing} == dict.fromkeys(nothing, 0)
    assert row["moved"] > 0 and row["rejoined"]


IN_A_CLUSTER = """
import json, sys
import ray

from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.verification import open_on_ray, ray_workers

task = Task(statement="s", check=CasesCheck(entry_point="f", cases=[Case(args=[2], expected=4)]))
pairs = [(task, f"def f(x): return {n} * x") for n in (1, 2)]
pairs.append((task, '''import signal
def f(x):
    try:
        signal.raise_signal(signal.SIGINT)  # Ray blocks it in its own processes
    except KeyboardInterrupt:
        return 2 * x
'''))
ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
found = {}
THREE_LINES
found["outcomes"] = [verdict.outcome.value for verdict in verdicts]
found["still joined"] = ray.is_initialized()

refusals = found["refusals"] = []
def refused(**options):
    try:
        open_on_ray(**options)
    except UserError as error:
        refusals.append(str(error))
refused(workers=1, require=[sys.argv[1]])
other = {"node": "n", "fault": "", "strop": "0.0.1", "Python": "3.1"}
try:
    ray_workers.greet(ray_workers.KnownActor(None), ray.put(other))
except UserError as error:
    refusals.append(str(error))

ray_workers.BATCH_JOBS = 1
verifier = open_on_ray(workers=1, patience=0.1)
loop = verifier.submit(task, "def f(x):\\n    while True: pass")
while not verifier.stats()["running"]:
    pass
waiting = verifier.submit(task, "def f(x): return 5 * x")
verifier.close()
found["closed"] = [future.result(60).outcome.value for future in (loop, waiting)]
ray.shutdown()
print(json.dumps(found))
"""


@pytest.mark.soak(12)
def test_three_lines_in_a_process_that_belongs_to_a_cluster() -> None:
    text = Path("docs/verify.md").read_text()
    (lines,) = re.findall(
        r"```python\n(from strop_verify\.verification import open_on_ray\n.*?)```", text, re.DOTALL
    )
    inactive = next((row.name for row in probe().layers if not row.active), "no-such-layer")
    done = run("-c", IN_A_CLUSTER.replace("THREE_LINES", lines), inactive)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["outcomes"] == ["failed", "passed", "passed"] and found["still joined"]
    jail, release = found["refusals"]
    assert jail.startswith("Ray node ") and "cannot judge: " in jail and "sandbox.require" in jail
    assert "strop is 0.0.1 there and" in release and "Python is 3.1 there" in release
    assert found["closed"] == ["error", "error"]


@pytest.mark.soak(10)
def test_strop_verify_starts_a_cluster_of_its_own(tmp_path: Path) -> None:
    from strop_verify.core.checks import Case, CasesCheck
    from strop_verify.core.task import Task

    check = CasesCheck(entry_point="f", cases=[Case(args=[2], expected=4)])
    task = Task(statement="s", check=check)
    (tmp_path / "tasks.jsonl").write_text(task.model_dump_json())
    rows = [{"task_id": task.id, "answer": f"def f(x): return {n} * x"} for n in range(4)]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = [
        *(str(tmp_path / name) for name in ("tasks.jsonl", "answers.jsonl")),
        "-o",
        str(tmp_path / "v.jsonl"),
    ]
    done = run("-m", "strop.cli", "verify", *files, "--ray", "local", "--workers", "1")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line)["outcome"] for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert found == ["failed", "failed", "passed", "failed"]
    done = run("-m", "strop.cli", "verify", *files, "--ray", "127.0.0.1:1")
    assert done.returncode == 2 and "no Ray cluster at 127.0.0.1:1: " in done.stderr
    assert done.stderr.count("\n") == 1
