"""Logs of runs for Inspect, and Strop's jail and verdicts in it; with inspect-ai itself in a full run."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.neighbours.venvs import neighbour
from tests.scale import full
from tests.warm import strop

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
    """A run folder of an evaluation by a scripted policy: one right answer, and one that compares equal to all."""
    from strop.tasks import load_tasks

    folder = tmp_path_factory.mktemp("inspect")
    first, second = load_tasks("python-functions", limit=2)
    equal = "class Any:\n    def __eq__(self, other): return True\n\n"
    answers = {first.id: first.reference, second.id: f"{equal}def {second.check.function}(*a): return Any()\n"}
    lines = [json.dumps({"task_id": name, "answer": answer}) for name, answer in answers.items()]
    (folder / "answers.jsonl").write_text("\n".join(lines))
    done = strop(
        "eval", "python-functions", "--answers", folder / "answers.jsonl", "-o", folder / "run", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return folder / "run"
