"""The same recipe twice, and killed and resumed, over suites, typed Rust and projects: the same verdicts and bits."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.verification.test_rust_second_look import FORGERS, HONEST
from tests.verification.test_same_verdicts import POINT_CLASS, SOMETIMES, SUITE
from tests.waiting import wait_until
from tests.warm import strop

from strop.reports.run_folder import RunFolder
from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.projects import projects
from strop_verify.attacks.suite import as_given
from strop_verify.core.task import Task

from .conftest import metrics, weights

ANSWERS = '''
import strop

class Answers:
    """Hands in one of the task's answers, chosen by what was sampled."""

    def __init__(self, task, opening, read):
        self.answers = task.metadata["answers"]

    def begin(self):
        return strop.Opening(text="x = ")

    def step(self, completion):
        self.answer = self.answers[sum(completion.token_ids) % len(self.answers)]
        return strop.Done(self.answer)
'''


def tasks(folder: Path) -> list[Task]:
    """Each with answers that pass, that fail, and that get by or not by what is drawn."""
    project = projects(folder)["project"]
    found = [(SUITE, [POINT_CLASS, SOMETIMES, POINT_CLASS.replace("self.y + o.y", "self.y - o.y")])]
    by_task: dict[str, tuple[Task, list[str]]] = {}
    for task, answer in (*HONEST.values(), *FORGERS.values()):
        by_task.setdefault(task.id, (task, []))[1].append(answer)
    found += sorted(by_task.values(), key=lambda pair: -len(pair[1]))[:2]
    return [
        task.model_copy(update={"metadata": {**task.metadata, "answers": answers}, "split": "train"})
        for task, answers in [*found, (project, [])]
    ]


def verdicts(run: Path) -> list[Any]:
    """Tokens, answers, verdicts and rewards of every rollout, but what was measured."""
    found = []
    folder = RunFolder.read(run)
    for step in folder.rollout_steps():
        for rollout in (r for group in folder.iter_groups(step) for r in group.rollouts):
            assert rollout.verdict is not None
            verdict = rollout.verdict.model_dump(exclude={"seconds", "cpu_seconds", "peak_bytes"})
            for part in (*verdict["stages"], *verdict["tests"]):
                part.pop("seconds")
            found.append((rollout.task_id, rollout.flat(), rollout.answer, verdict, rollout.reward))
    return found


@pytest.mark.needs("cargo")
@pytest.mark.soak(90)
def test_a_recipe_gives_the_same_bits_again_and_resumed(
    recipe_words: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "answers.py").write_text(ANSWERS)
    with Canaries() as canaries:
        listed = tasks(canaries.folder)
        project = listed[-1]
        texts = ["@RIGHT@\n# told twice\n", "@WRONG@\n# once\n", "import no_such_module\n"]
        answers = [as_given(project, text, canaries.facts, honest=True) for text in texts]
        listed[-1] = project.model_copy(update={"metadata": {**project.metadata, "answers": answers}})
        (tmp_path / "tasks.jsonl").write_text("".join(task.model_dump_json() + "\n" for task in listed))

        def words(name: str) -> list[str]:
            return [
                *recipe_words(name),
                f"tasks.source=jsonl:{tmp_path}/tasks.jsonl",
                "tasks.limit=null",
                "tasks.style=chat",
                f"tasks.environment={tmp_path}/answers.py:Answers",
                "optim.steps=4",
                "run.save_every=1",
                "evaluation.before=false",
                "evaluation.after=false",
                "sandbox.workers=2",
                "grpo.refill=false",
            ]

        runs = [tmp_path / name for name in ("one", "two", "killed")]
        for run in runs[:2]:
            done = strop("train", *words(run.name), timeout=600)
            assert done.returncode == 0, done.stderr
        process = subprocess.Popen(
            [sys.executable, "-m", "strop.cli", "train", *words("killed")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        lines = runs[2] / "metrics.jsonl"
        wait_until(lambda: lines.is_file() and lines.read_text().count("\n") >= 2, process)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        done = strop("train", "--resume", runs[2], timeout=600)
        assert done.returncode == 0, done.stderr
    first, *others = map(verdicts, runs)
    assert {task_id for task_id, *_ in first} == {task.id for task in listed}
    outcomes = {task.id: {v["outcome"] for t, _, _, v, _ in first if t == task.id} for task in listed}
    assert all("passed" in found and len(found) > 1 for found in outcomes.values()), outcomes
    assert others == [first, first]
    assert len({weights(run) for run in runs}) == 1
    assert metrics(runs[0]) == metrics(runs[1]) == metrics(runs[2])
