"""`strop runs`: whole, running, killed, torn, empty and unreadable runs, each a line."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import warm

from strop.reports.run_folder import RunFolder
from strop.reports.terminal.run_list import find_runs, list_row, reward_ends

from .made_runs import make_run
from .terminals import COLOUR, environment, strop_on_terminal, widest


def strop(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return warm.strop(*words, cwd=cwd, env=environment())


def small(folder: Path, **settings: Any) -> Path:
    return make_run(folder, **{"groups": 2, "size": 2, "held_out": 2, **settings})


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A folder of runs in every state, `whole` the newest, and other things beside them."""
    runs = tmp_path / "runs"
    small(runs / "whole", steps=6, evaluations=("before", "warm", "step-000002", "after"))
    small(runs / "killed", steps=3, planned=9, finished=False, evaluations=("before",))
    small(runs / "empty", steps=0, planned=4, finished=False, evaluations=())
    torn = small(runs / "torn", steps=2, planned=4, finished=False, evaluations=())
    with (torn / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 3, "rew')
    small(runs / "broken", steps=2)
    (runs / "broken" / "recipe.yaml").unlink()
    (runs / "no-run").mkdir()
    (runs / "file").write_text("x")
    for age, name in enumerate(("whole", "killed", "torn", "empty", "broken")):
        for file in filter(Path.is_file, (runs / name).iterdir()):
            os.utime(file, (1e9 - 1000 * age,) * 2)
    return runs


def test_every_run_is_a_row_the_newest_first(many: Path) -> None:
    done = strop("runs", many, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [Path(row["folder"]).name for row in rows] == ["whole", "killed", "torn", "empty", "broken"]
    assert [row["state"] for row in rows] == ["finished", "stopped", "stopped", "empty", None]
    assert [(row["steps"], row["planned"]) for row in rows[:4]] == [(6, 6), (3, 9), (2, 4), (0, 4)]
    whole, killed, torn, empty, broken = rows
    before = json.loads((many / "whole/evaluation/before.json").read_text())
    assert whole["key"] == "pass@1" and whole["before"] == [before["pass@1"], *before["intervals"]["pass@1"]]
    summary = json.loads((many / "whole/summary.json").read_text())
    assert whole["difference"] == list(summary["evaluation"]["paired"]["pass@1"].values())
    assert whole["difference_warm"] == list(
        summary["evaluation"]["paired_after_warm_start"]["pass@1"].values()
    )
    assert whole["wall_seconds"] == summary["wall_seconds"]
    lines = [json.loads(line) for line in (many / "killed/metrics.jsonl").read_text().splitlines()]
    assert killed["wall_seconds"] == pytest.approx(sum(line["seconds"] for line in lines))
    assert (killed["reward_first"], killed["reward_last"]) == (lines[0]["reward"], lines[-1]["reward"])
    assert killed["after"] is None and killed["difference"] is None
    assert "torn" in torn["problem"] and empty["reward_first"] is None
    assert "recipe.yaml" in broken["problem"]


def test_the_table_says_it_in_words(many: Path) -> None:
    done = strop("runs", cwd=many.parent)
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout
    lines = {line.split()[1]: line for line in done.stdout.splitlines() if line.startswith("| runs/")}
    assert list(lines) == [f"runs/{name}" for name in ("whole", "killed", "torn", "empty", "broken")]
    row = list_row(many / "whole")
    shown = " -> ".join(f"{row[side][0]:.3f}" for side in ("before", "warm", "after"))
    assert f"pass@1 {shown}" in lines["runs/whole"] and "6/6" in lines["runs/whole"]
    assert "{:+.3f} [{:+.3f}, {:+.3f}]".format(*row["difference"]) in lines["runs/whole"]
    assert "3/9" in lines["runs/killed"] and "stopped" in lines["runs/killed"]
    assert "unreadable" in lines["runs/broken"]
    assert "runs/torn: the last line of metrics.jsonl is torn" in done.stdout


def test_a_run_in_progress_is_running_and_shows_its_newest_evaluation(tmp_path: Path) -> None:
    folder = small(tmp_path / "run", steps=4, planned=9, finished=False, evaluations=("before",))
    with RunFolder.resume(folder) as run:
        run.append_metrics({"step": 5, "reward": 1.0, "held_out": {"pass@1": 0.625, "intervals": {}}})
        row = list_row(folder)
        said = strop("runs", folder).stdout
    assert row["state"] == "running" and row["during"] == [5, 0.625]
    assert "running" in said and "0.625 (step 5)" in said and "5/9" in said


def test_alarms_are_named(tmp_path: Path) -> None:
    folder = small(tmp_path / "run", steps=2, planned=9, finished=False, evaluations=())
    with RunFolder.resume(folder) as run:
        for step in (3, 4, 5):
            run.append_metrics({"step": step, "truncated": 0.9, "loss": float("nan")})
    assert {"truncation", "not finite"} <= set(list_row(folder)["alarms"])
    assert "not finite" in strop("runs", tmp_path).stdout


def test_no_runs_and_no_folder(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    done = strop("runs", cwd=tmp_path)
    assert done.returncode == 0 and "no runs in runs" in done.stdout
    done = strop("runs", "nowhere", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "nowhere" in done.stderr


@pytest.mark.parametrize("columns", [20, 60, 250])
def test_a_terminal_gets_what_fits(many: Path, columns: int) -> None:
    text = strop_on_terminal(["runs", str(many)], columns)
    assert widest(text) <= columns and COLOUR.search(text)
    assert "finished" in text and "unreadable" in text
    assert ("state: finished" in text) == (columns < 250)  # else a table
    assert "\x1b" not in strop_on_terminal(["runs", str(many)], columns, NO_COLOR="1")


def test_ends_of_the_reward() -> None:
    assert reward_ends([]) == (None, None)
    assert reward_ends([{"reward": 1.0}]) == (1.0, 1.0)
    assert reward_ends([{"reward": float(i)} for i in range(4)]) == (0.5, 2.5)
    assert reward_ends([{"reward": None}, *({"reward": float(i)} for i in range(30))]) == (4.5, 24.5)


def test_a_run_may_be_named_itself(many: Path) -> None:
    assert find_runs([many / "whole", many / "no-run"]) == [many / "whole"]
