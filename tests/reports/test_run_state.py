import fcntl
import subprocess
import sys
import threading

import pytest

from strop.reports.page.page_run import PageRun
from strop.reports.page.run_data import run_data
from strop.reports.run_folder import RunFolder
from strop.reports.run_state import in_use, read_metrics, read_settings, state_of
from strop_verify.core.errors import UserError

from .made_runs import make_run

WRITER = """
import sys, time
from strop.reports.run_folder import RunFolder
with RunFolder.resume(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "run", steps=2, groups=2, size=2, finished=False, planned=5)


def test_finished(tmp_path):
    state = state_of(make_run(tmp_path / "run", steps=2))
    assert (state.kind, state.text, state.problems) == ("finished", "finished after step 2 of 2", [])


def test_stopped_says_how_to_go_on(run):
    state = state_of(run)
    assert state.kind == "stopped"
    assert state.text == f"stopped after step 2 of 5; resume with: strop train --resume {run}"


def test_running_while_another_process_writes_and_stopped_after_it_was_killed(run):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(run)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout.readline() == "locked\n"
        assert state_of(run).kind == "running"
        assert state_of(run).text == "running: step 2 of 5 is done"
    finally:
        writer.kill()
        writer.communicate(timeout=300)
    assert state_of(run).kind == "stopped"


def test_a_look_leaves_the_lock_free_and_the_folder_as_it_was(run):
    before = sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*"))
    assert not in_use(run)
    with (run / ".lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert in_use(run)
    run_data(run, "0")
    assert sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*")) == before
    RunFolder.resume(run).close()


def test_a_look_at_the_wrong_moment_does_not_stop_a_writer_and_another_writer_does(run):
    with (run / ".lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        look = threading.Timer(0.1, fcntl.flock, (file, fcntl.LOCK_UN))
        look.start()
        RunFolder.resume(run).close()
        look.join()
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="in use"):
            RunFolder.resume(run)


def test_a_torn_line_is_left_out_and_named_unless_it_is_being_written(run):
    with (run / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 3, "rew')
    state = state_of(run)
    assert (state.kind, read_metrics(run).last_step) == ("stopped", 2)
    assert len(state.problems) == 1 and "torn" in state.problems[0]
    with (run / ".lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert state_of(run).problems == []


def test_bad_lines_of_metrics_are_numbered_and_the_others_read(run):
    lines = (run / "metrics.jsonl").read_bytes()
    (run / "metrics.jsonl").write_bytes(b'\xff\n{"steps": 1}\n[1]\n' + lines)
    assert read_metrics(run).bad == [1, 2, 3]
    assert [line["step"] for line in read_metrics(run).lines] == [1, 2]
    assert state_of(run).problems == ["metrics.jsonl: line 1, 2, 3 cannot be read and is left out"]


def test_nothing_but_a_recipe_is_empty(tmp_path):
    (tmp_path / "recipe.yaml").write_text("optim:\n  steps: 3\n")
    assert state_of(tmp_path).kind == "empty"
    assert "no step was done" in state_of(tmp_path).text
    data = PageRun(tmp_path, "0").page(0)
    assert (data["metrics"], data["steps"], data["evaluations"], data["summary"]) == ([], [], [], None)


@pytest.mark.parametrize("name", ["", "nowhere", "file"])
def test_what_is_no_run_folder_is_one_line_with_the_remedy(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError) as caught:
        state_of(tmp_path / name)
    assert "strop train" in str(caught.value) and "\n" not in str(caught.value)


def test_a_warm_start_of_its_own_is_finished_without_a_summary(tmp_path):
    run = make_run(tmp_path / "run", steps=0, evaluations=(), finished=False)
    (run / "metrics.jsonl").write_text('{"step": 1, "steps": 2}\n{"step": 2, "steps": 2}\n')
    assert state_of(run).kind == "stopped"
    (run / "final").mkdir()
    assert (state_of(run).kind, state_of(run).text) == ("finished", "finished after step 2 of 2")


def test_settings_are_flat(tmp_path):
    (tmp_path / "recipe.yaml").write_text("a: {b: 1, c: [1, 2]}\nd: [{e: x}, {e: y}]\nf: 2020-01-01\ng: {}\n")
    assert read_settings(tmp_path) == {
        "a.b": 1, "a.c": [1, 2], "d.0.e": "x", "d.1.e": "y", "f": "2020-01-01", "g": "{}",
    }  # fmt: skip


def test_a_recipe_that_is_no_yaml_and_files_that_are_no_json_are_named_once(run):
    (run / "recipe.yaml").write_text("a: [1\n")
    (run / "summary.json").write_text("{")
    (run / "evaluation" / "after.json").write_text("[]")
    data = run_data(run, "0")
    problems = data["state"]["problems"]
    for name in ("recipe.yaml", "summary.json", "after.json"):
        assert sum(name in problem for problem in problems) == 1
    assert data["name"] == "run" and [e["name"] for e in data["evaluations"]] == ["before"]


def test_evaluations_are_in_the_order_of_training_and_sets_apart(tmp_path):
    names = ("before", "warm", "step-000002", "step-000010", "after")
    run = make_run(tmp_path / "run", steps=12, groups=1, size=2, evaluations=names, extra=("human-eval",))
    found = [(e["name"], e["set"], e["step"], e["label"]) for e in run_data(run, "0")["evaluations"]]
    assert found == [
        ("before", "", 0, "before training"),
        ("warm", "", 0, "after the warm start"),
        ("step-000002", "", 2, "after step 2"),
        ("step-000010", "", 10, "after step 10"),
        ("after", "", 12, "after training"),
        ("before", "human-eval", 0, "before training, human-eval"),
        ("after", "human-eval", 12, "after training, human-eval"),
    ]


def test_the_comparison_has_intervals_and_the_summary_s_differences(tmp_path):
    run = make_run(tmp_path / "run", steps=3, evaluations=("before", "warm", "after"), extra=("more",))
    data = run_data(run, "0")
    summary = data["summary"]["evaluation"]
    rows = {row["key"]: row for row in data["comparison"]}
    assert list(rows) == ["pass@1", "greedy", "test", "greedy-test"]
    for side in ("before", "warm", "after"):
        assert rows["greedy"][side] == [summary[side]["greedy"], *summary[side]["intervals"]["greedy"]]
    assert rows["greedy"]["paired"] == list(summary["paired"]["greedy"].values())
    assert rows["greedy"]["paired_warm"] == list(summary["paired_after_warm_start"]["greedy"].values())
    assert rows["greedy-test"]["paired"] is None
    more = {row["key"]: row for row in data["extra_comparisons"]["more"]}
    assert (
        more["greedy"]["after"][0] == summary["extra"]["more"]["after"]["greedy"]
        and more["greedy"]["warm"] is None
    )
    assert more["greedy"]["paired"] == list(summary["extra"]["more"]["paired"]["greedy"].values())


def test_an_evaluation_without_the_one_after_it_is_said(tmp_path):
    run = make_run(tmp_path / "run", evaluations=("before",))
    assert run_data(run, "0")["state"]["problems"] == [
        "there is an evaluation before training but none after it"
    ]
    row = run_data(run, "0")["comparison"][0]
    assert row["before"] and row["after"] is None and row["paired"] is None
    wanted = make_run(tmp_path / "other", evaluations=("before",), overrides=["evaluation.after=false"])
    assert run_data(wanted, "0")["state"]["problems"] == []
