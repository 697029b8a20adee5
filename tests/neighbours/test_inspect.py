"""Logs of runs for Inspect, and Strop's jail and verdicts in it; with inspect-ai itself in a full run."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.neighbours.venvs import neighbour
from tests.scale import full
from tests.warm import strop

from strop.tasks import load_tasks
from strop.tasks.jsonl import write_tasks

EQUAL = "class Any:\n    def __eq__(self, other): return True\n\ndef {0}(*a, **k): return Any()\n"
INSIDE = Path(__file__).parent / "inside"
READ = """
import json, sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
means = {score.name: score.metrics["mean"].value for score in log.results.scores}
samples = [[s.id, s.epoch, [m.role for m in s.messages], s.output.completion, s.error is None] for s in log.samples]
print(json.dumps({"status": log.status, "means": means, "samples": samples}))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The run folder of an evaluation: one right answer, and one whose object equals everything."""
    folder = tmp_path_factory.mktemp("inspect")
    tasks = [one.model_copy(update={"split": "held-out"}) for one in load_tasks("python-functions", limit=2)]
    write_tasks(tasks, folder / "tasks.jsonl")
    answers = [tasks[0].reference, EQUAL.format(tasks[1].check.function)]
    lines = [{"task_id": task.id, "answer": answer} for task, answer in zip(tasks, answers, strict=True)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = "eval scripted:answers.jsonl --tasks jsonl:tasks.jsonl -n 1 -k 1 --no-greedy run.name=two"
    done = strop(*words.split(), cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "runs" / "two"


@pytest.mark.jail
def test_a_log_has_every_rollout(run, tmp_path):
    done = strop("export", run, "--inspect", tmp_path / "log.json")
    assert (done.returncode, done.stderr) == (0, "") and ": 2 rollouts; " in done.stdout
    log = json.loads((tmp_path / "log.json").read_text())
    right, equal = load_tasks("python-functions", limit=2)
    assert {sample["id"]: sample["scores"]["verdict"]["value"] for sample in log["samples"]} == {
        right.id: 1,
        equal.id: 0,
    }
    assert [sample["output"]["choices"][0]["message"]["content"] for sample in log["samples"]] == [
        sample["messages"][-1]["content"] for sample in log["samples"]
    ]
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == 0.5
    assert log["status"] == "success" and "scripted" in log["eval"]["model"]


@pytest.mark.jail
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--inspect", "log.eval"), "names end in .json"),
        (("--inspect", "log.json", "-o", "model"), "do one after the other"),
        ((), "name the model's folder with -o DIR"),
        (("--inspect", "/dev/null/log.json"), "cannot write /dev/null"),
    ],
)
def test_mistakes_are_one_line(run, words, message, tmp_path):
    done = strop("export", run, *words, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and message in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.soak(900)
@pytest.mark.skipif(not full(), reason="pip installs inspect-ai: in a full run (--full)")
def test_inspect_itself(run, tmp_path):
    place = Path(
        tempfile.mkdtemp(dir="/var/tmp", prefix="strop-inspect-")
    )  # in /tmp a jail could not write there
    try:
        inspect = neighbour("inspect", "inspect-ai>=0.3.280", "pytest", folder=place)
        assert strop("export", run, "--inspect", tmp_path / "log.json").returncode == 0
        done = inspect.run("python", "-c", READ, tmp_path / "log.json")
        assert done.returncode == 0, done.stderr
        log = json.loads(done.stdout)
        assert (log["status"], log["means"]["verdict"]) == ("success", 0.5)
        assert [sample[1:3] for sample in log["samples"]] == [[1, ["user", "assistant"]]] * 2
        assert sum("class Any:" in sample[3] for sample in log["samples"]) == 1
        done = inspect.run("python", INSIDE / "inspect_eval.py", tmp_path / "logs")
        assert done.returncode == 0, done.stderr[-2000:]
        assert done.stdout.splitlines() == ["reference 1.0", "equal 0.0", "jailed 1.0"]
        checks = INSIDE / "inspect_self_check.py"
        words = (
            "-q",
            "--noconftest",
            "-c",
            "/dev/null",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            INSIDE,
            checks,
        )
        done = inspect.run("python", "-m", "pytest", *words)
        assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-2000:]
    finally:
        shutil.rmtree(place, ignore_errors=True)
