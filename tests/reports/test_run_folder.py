import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard

from strop.reports.run_folder import RunFolder
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Completion, Group, Rollout, Score, Turn
from strop_verify.core.verdict import Outcome, Verdict

VERSIONS = {"strop": "0.1.0", "git": None}


@pytest.fixture
def run(tmp_path):
    with RunFolder.create(tmp_path / "run", recipe="seed: 0\n", versions=VERSIONS) as folder:
        yield folder


def rollout(task_id, index, text="    return 1\u2028é\x1b[31m", outcome=Outcome.PASSED):
    completion = Completion(
        token_ids=[1, 2], logprobs=[-0.123456789012345, -1e-9], text=text, finish_reason="eos"
    )
    return Rollout(
        task_id=task_id,
        index=index,
        seed=2**62 + index,
        prompt="def f():",
        turns=[Turn(prompt_ids=[9], completion=completion)],
        answer=text,
        verdict=Verdict(outcome=outcome),
        scores=[Score(name="passed", value=None)],
        reward=1.0,
        advantage=0.1 + 0.2,
    )


def in_subprocess(code, *args):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, timeout=300
    )


def test_new_folder_holds_recipe_and_versions(run):
    assert (run.path / "recipe.yaml").read_text() == "seed: 0\n"
    assert json.loads((run.path / "versions.json").read_text()) == VERSIONS
    assert run.checkpoints.is_dir()
    assert list(run.iter_metrics()) == []


def test_existing_folder_is_refused_with_every_remedy_and_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError) as caught:
        RunFolder.create(tmp_path, recipe="", versions={})
    for remedy in ("run.name", "run.dir", "run.overwrite=true", f"--resume {tmp_path}"):
        assert remedy in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_a_supervised_run_is_not_resumed_and_nobody_is_told_to(run):
    run.append_metrics({"step": 1, "steps": 2, "loss": 0.7})
    run.close()
    with pytest.raises(UserError, match="which cannot be resumed"):
        RunFolder.resume(run.path)
    with pytest.raises(UserError) as caught:
        RunFolder.check_free(run.path, overwrite=False)
    assert "run.overwrite=true" in str(caught.value) and "--resume" not in str(caught.value)
    assert len(list(run.iter_metrics())) == 1


def test_overwrite_replaces_the_run_and_nothing_else(run):
    run.append_metrics({"step": 1})
    run.write_summary({"a": 1})
    (run.path / "rollouts" / "old").mkdir()
    (run.path / "notes.txt").write_text("mine")
    run.close()
    with RunFolder.create(run.path, recipe="seed: 1\n", versions={}, overwrite=True) as new:
        assert (new.path / "recipe.yaml").read_text() == "seed: 1\n"
        assert list(new.iter_metrics()) == []
        assert sorted(p.name for p in new.path.iterdir() if p.is_file()) == [
            ".lock", "notes.txt", "recipe.yaml", "versions.json"
        ]  # fmt: skip
        assert not (new.path / "rollouts" / "old").exists()


def test_overwrite_refuses_a_folder_that_is_no_run(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="not a run folder"):
        RunFolder.create(tmp_path, recipe="", versions={}, overwrite=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_file_in_the_way_is_named(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file"):
        RunFolder.create(tmp_path / name, recipe="", versions={})


def test_unwritable_place_is_one_line_and_leaves_nothing():
    with pytest.raises(UserError) as caught:
        RunFolder.create("/proc/strop-run", recipe="", versions={})
    assert "\n" not in str(caught.value) and "/proc/strop-run" in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UserError, match="no permission"):
            RunFolder.create(tmp_path / "run", recipe="", versions={})
    finally:
        tmp_path.chmod(0o700)


FULL = """
import resource, sys
from strop_verify.core.errors import UserError
from strop.reports.run_folder import RunFolder
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # the system refuses longer files, as a full disk would
try:
    RunFolder.create(sys.argv[1], recipe="x" * 5000, versions={})
except UserError as error:
    print(error)
"""


def test_a_refused_write_leaves_no_folder(tmp_path):
    done = in_subprocess(FULL, tmp_path / "run")
    assert done.stdout.startswith(f"cannot write {tmp_path / 'run' / 'recipe.yaml'}: "), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_full_disk_while_appending_is_one_line(run):
    (run.path / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"cannot write .*metrics\.jsonl: No space left on device$"):
        run.append_metrics({"step": 1})


APPEND = """
import resource, sys
from strop_verify.core.errors import UserError
from strop.reports.run_folder import RunFolder
run = RunFolder.resume(sys.argv[1])
run.append_metrics({"step": 1})
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    run.append_metrics({"step": 2, "text": "x" * 500})
except UserError as error:
    print(error)
"""


def test_refused_append_leaves_no_torn_line(run):
    run.close()
    done = in_subprocess(APPEND, run.path)
    assert "cannot write" in done.stdout, done.stderr
    assert (run.path / "metrics.jsonl").read_text() == '{"step": 1}\n'


def test_one_writer_at_a_time(run):
    with pytest.raises(UserError, match="in use"):
        RunFolder.resume(run.path)
    with pytest.raises(UserError, match="in use"):
        RunFolder.create(run.path, recipe="", versions={}, overwrite=True)
    assert (run.path / "recipe.yaml").read_text() == "seed: 0\n"
    code = "import sys; from strop.reports.run_folder import RunFolder; RunFolder.resume(sys.argv[1])"
    assert "in use" in in_subprocess(code, run.path).stderr
    run.close()
    RunFolder.resume(run.path).close()
    assert in_subprocess(code, run.path).returncode == 0


def test_metrics_are_strict_json(run):
    run.append_metrics(
        {"step": 1, "loss": float("nan"), "lr": np.float32(0.5), "n": np.int64(3), "text": "\x1b\u2028"}
    )
    text = (run.path / "metrics.jsonl").read_text()
    assert "NaN" not in text
    assert list(run.iter_metrics()) == [{"step": 1, "loss": None, "lr": 0.5, "n": 3, "text": "\x1b\u2028"}]
    with pytest.raises(ValueError, match="step"):
        run.append_metrics({"loss": 1.0})


@pytest.mark.parametrize("torn", ['{"step": 3', '{"step": 3}', '{"step": 3, "x": "\xc3'])
def test_torn_line_is_left_out_and_gone_after_resume(run, torn):
    for step in (1, 2):
        run.append_metrics({"step": step})
    with (run.path / "metrics.jsonl").open("ab") as file:
        file.write(torn.encode("latin-1"))
    assert [line["step"] for line in run.iter_metrics()] == [1, 2]
    run.close()
    with RunFolder.resume(run.path) as again:
        again.append_metrics({"step": 3})
        again.append_metrics({"step": 4})
        assert [line["step"] for line in again.iter_metrics()] == [1, 2, 3, 4]


def test_a_bad_line_in_the_middle_is_not_passed_over(run):
    (run.path / "metrics.jsonl").write_text('{"step": 1}\n{"ste\n{"step": 3}\n')
    with pytest.raises(UserError, match=r"metrics\.jsonl:2: bad JSON"):
        list(run.iter_metrics())


def test_truncate_after_forgets_what_came_later(run):
    for step in (1, 2, 3):
        run.append_metrics({"step": step, "x": 0.1 * step})
        run.write_rollouts(step, [Group(task_id="t", step=step, rollouts=[rollout("t", 0)])])
    run.write_summary({})
    before = (run.path / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    run.truncate_after(2)
    assert (run.path / "metrics.jsonl").read_bytes() == b"".join(before[:2])
    assert run.rollout_steps() == [1, 2]
    assert not (run.path / "summary.json").exists()


def test_rollouts_come_back_exactly(run):
    groups = [
        Group(task_id="a", step=12, rollouts=[rollout("a", 0), rollout("a", 1, outcome=Outcome.ERROR)]),
        Group(task_id="a", step=12, rollouts=[rollout("a", 0)]),  # the same task drawn again
        Group(task_id="b", step=12, rollouts=[rollout("b", 0)]),
    ]
    run.write_rollouts(12, iter(groups))
    path = run.path / "rollouts" / "step-000012.jsonl.zst"
    assert list(run.iter_groups(12)) == groups
    lines = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()).decode().split("\n")
    assert len(lines) == 5
    assert json.loads(lines[1]).keys() >= {
        "step",
        "group",
        "prompt",
        "turns",
        "verdict",
        "scores",
        "advantage",
    }


def test_same_rollouts_give_the_same_bytes(run):
    groups = [Group(task_id="a", step=1, rollouts=[rollout("a", i) for i in range(20)])]
    run.write_rollouts(1, groups)
    run.write_rollouts(2, [g.model_copy(update={"step": 2}) for g in groups])
    first = run.rollout_file(1).read_bytes()
    run.write_rollouts(1, groups)
    assert run.rollout_file(1).read_bytes() == first


def test_torn_rollout_file_yields_its_whole_lines(run):
    rollouts = [rollout("a", i, text=os.urandom(20_000).hex()) for i in range(40)]
    run.write_rollouts(1, [Group(task_id="a", step=1, rollouts=rollouts)])
    path = run.rollout_file(1)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    read = [rollout for group in run.iter_groups(1) for rollout in group.rollouts]
    assert 0 < len(read) < 40
    assert read == rollouts[: len(read)]


def test_interrupted_write_keeps_the_old_file(run):
    run.write_rollouts(1, [Group(task_id="a", step=1, rollouts=[rollout("a", 0)])])

    def broken():
        yield Group(task_id="b", step=1, rollouts=[rollout("b", 0)])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.write_rollouts(1, broken())
    assert [group.task_id for group in run.iter_groups(1)] == ["a"]
    assert [p.name for p in (run.path / "rollouts").iterdir()] == ["step-000001.jsonl.zst"]


KILLED = """
import os, signal, sys
from strop_verify.core import files
from pathlib import Path
with files.atomic(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_kill_in_the_middle_of_a_write_leaves_the_old_file_and_resume_sweeps(run):
    run.write_summary({"a": 1})
    run.close()
    assert in_subprocess(KILLED, run.path / "summary.json").returncode == -9
    assert len(list(run.path.glob(".*.part"))) == 1
    assert json.loads((run.path / "summary.json").read_text()) == {"a": 1}
    RunFolder.resume(run.path).close()
    assert list(run.path.glob(".*.part")) == []


def test_evaluation_and_its_rollouts(run):
    rollouts = [rollout("a", 0), rollout("b", 1)]
    run.write_evaluation("before", {"pass@1": 0.5}, rollouts)
    assert json.loads((run.path / "evaluation" / "before.json").read_text()) == {"pass@1": 0.5}
    assert list(run.iter_evaluation_rollouts("before")) == rollouts


def test_reading_what_is_no_run_folder(tmp_path):
    for path in (tmp_path, Path("/nonexistent/run")):
        with pytest.raises(UserError, match="not a run folder"):
            RunFolder.read(path)
