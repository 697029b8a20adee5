"""`strop eval` is cut off and goes on: nothing is asked twice, and the result is that of one that was not cut off."""

import json
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from tests import warm
from tests.waiting import wait_until

from strop.reports.run_folder import RunFolder
from strop.tasks import write_tasks
from strop_tasks.generators.needs_feedback import generate
from strop_verify.core import files
from strop_verify.core.task import Task

pytest.importorskip("openai", reason="openai is not installed")

RIGHT, WRONG = "\n    return a + b\n", "\n    return a - b\n"


@pytest.fixture
def serve(completions):
    """Servers that are right where the seed is even."""
    return partial(completions, lambda body: RIGHT if body["seed"] % 2 == 0 else WRONG)


@pytest.fixture
def tasks(tmp_path, add):
    """Twelve tasks that ask for the same with other words."""
    some = [add.model_copy(update={"id": f"add-{i:02}", "statement": f"Add, {i}."}) for i in range(12)]
    write_tasks(some, tmp_path / "tasks.jsonl")
    return [Task.model_validate(task.model_dump()) for task in some]


FEW = ("--tasks", "tasks.jsonl", "--style", "continue", "evaluation.bootstrap=200", "-n", "1")
ASKED = (*FEW[:-1], "3", "-k", "1", "-k", "3")


def numbers(path):
    """The numbers of an -o file, but for the time and the server's address."""
    report = json.loads(path.read_text())
    (model,) = report.pop("models").values()
    return {**report, "first": "", "model": {k: v for k, v in model.items() if k != "seconds"}}


def answers(run):
    """What is kept of each answer, but for times."""
    (name,) = {path.name.removesuffix(".json") for path in (run / "evaluation").glob("*[!d].json")}
    found = list(RunFolder.read(run).iter_evaluation_rollouts(name))
    return [(r.task_id, r.index, r.seed, r.answer, r.verdict.outcome, r.turns[0].completion) for r in found]


@pytest.mark.soak(12)
def test_it_is_killed_and_goes_on_without_asking_twice(strop, start, serve, tasks, tmp_path):
    whole = serve()
    assert strop("eval", whole.model, *ASKED, "run.name=whole", "-o", "whole.json").returncode == 0
    free, enough = threading.Event(), threading.Event()

    def hold(number, body):
        if number > 20:
            enough.set()
            free.wait(600)
        return 200

    server = serve(hold)
    killed = start("eval", server.model, *ASKED, "-o", "cut.json", "policy.concurrency=4")
    assert enough.wait(300)
    (run,) = (tmp_path / "runs").glob("eval-*")
    folder = run / "evaluation"
    wait_until(
        lambda: (
            killed.poll() is not None
            or sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl")) >= 16
        )
    )
    assert killed.poll() is None, killed.communicate()
    (log,) = folder.glob("*.jsonl")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    with log.open("ab") as file:
        file.write(b'{"task_id": "torn')  # as a kill in the middle of a line leaves it
    kept = {(line["task_id"], line["play"], line["index"]) for line in files.read_jsonl(log)}
    name = log.name.removesuffix(".jsonl")
    shown = strop("show", run, "--evaluation", name, "--limit", 1)
    assert shown.returncode == 0 and f"of {len(kept)} rollouts" in shown.stdout
    assert f"resume with: strop eval --resume {run}" in strop("show", run).stdout
    assert "stopped" in strop("runs", "runs").stdout

    server.fault = lambda number, body: 200
    before = +server.answered
    free.set()
    done = strop("eval", "--resume", run.relative_to(tmp_path))
    assert done.returncode == 0, done.stderr
    assert f"{len(kept)} answers of {server.model} are there already" in done.stderr
    asked_again = [key for key, count in server.answered.items() if count > 1]
    assert len(asked_again) <= len(before) - len(kept) + 4  # what was answered and not judged, or under way
    assert numbers(tmp_path / "cut.json") == numbers(tmp_path / "whole.json")
    assert answers(run) == answers(tmp_path / "runs" / "whole") and len(answers(run)) == 48
    assert not list((run / "evaluation").glob("*.jsonl"))
    assert 0 < numbers(tmp_path / "cut.json")["model"]["pass@1"] < 1

    seen = len(server.asked)
    again = strop("eval", "--resume", run)
    assert again.returncode == 0 and len(server.asked) == seen and "pass@3" in again.stdout
    assert "finished: 1 of 1 models" in strop("show", run).stdout
    refused = strop("train", "--resume", run)
    assert refused.returncode == 2 and f"strop eval --resume {run}" in refused.stderr


@pytest.mark.soak(12)
def test_scale_is_killed_and_keeps_its_samples(strop, start, serve, tasks, tmp_path):
    words = (*FEW[:-1], "3")
    whole = serve()
    done = strop("scale", whole.model, *words, "run.name=whole", "-o", "whole.json")
    assert done.returncode == 0, done.stderr
    free, enough = threading.Event(), threading.Event()

    def hold(number, body):
        if number > 20:
            enough.set()
            free.wait(600)
        return 200

    server = serve(hold)
    killed = start("scale", server.model, *words, "run.name=cut", "policy.concurrency=4")
    assert enough.wait(300)
    folder = tmp_path / "runs" / "cut" / "evaluation"
    wait_until(lambda: sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl")) >= 16)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    (log,) = folder.glob("*.jsonl")
    kept = len(list(files.read_jsonl(log)))
    server.fault = lambda number, body: 200
    before = +server.answered
    free.set()
    done = strop("scale", "--resume", "runs/cut", "-o", "cut.json")
    assert done.returncode == 0 and f"{kept} answers" in done.stderr, done.stderr
    again = [key for key, count in server.answered.items() if count > 1]
    assert len(again) <= len(before) - kept + 4
    (one,), (other,) = (
        json.loads((tmp_path / f"{name}.json").read_text())["models"].values() for name in ("whole", "cut")
    )
    assert {k: v["accuracy"] for k, v in one["selectors"].items()} == {
        k: v["accuracy"] for k, v in other["selectors"].items()
    }
    assert 0 < one["selectors"]["log-prob"]["accuracy"]["value"][-1] < 1 and one["samples"] == 3


def test_a_server_that_fails_for_good_loses_no_answer(strop, serve, tasks, tmp_path):
    """Eight requests are under way when one is refused: what the others say is kept."""
    server = serve(lambda number, body: 200 if number < 25 else 400)
    done = strop("eval", server.model, *ASKED, "policy.concurrency=1")
    (run,) = (tmp_path / "runs").iterdir()
    remedy = f"the answers so far are kept; resume with: strop eval --resume {run.relative_to(tmp_path)}"
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == remedy
    assert (
        done.stderr.splitlines()[-2].startswith(f"error: {server.model}: ") and "out of paper" in done.stderr
    )
    (log,) = (run / "evaluation").glob("*.jsonl")
    assert len(list(files.read_jsonl(log))) == 24
    server.fault = lambda number, body: 200
    assert strop("eval", "--resume", run, "-o", "out.json").returncode == 0
    assert set(server.answered.values()) == {1} and server.answered.total() == 48
    assert json.loads((tmp_path / "out.json").read_text())["failed"] == {}


def test_every_second_request_is_refused_as_too_many_and_all_are_answered(strop, serve, tasks, tmp_path):
    server = serve(lambda number, body: 429 if number % 2 else 200)
    done = strop("eval", server.model, *FEW, "--no-greedy", "-o", "out.json")
    assert done.returncode == 0, done.stderr
    assert set(server.answered.values()) == {1} and server.answered.total() == 12


def test_empty_answers_are_said(strop, serve, tasks, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.RIGHT", "")
    monkeypatch.setattr(f"{__name__}.WRONG", " \n")
    server = serve()
    done = strop("eval", server.model, *FEW)
    assert done.returncode == 0
    (said,) = [line for line in done.stderr.splitlines() if "empty" in line]
    assert said.startswith(f"note: every answer of {server.model} is empty: check its chat template")


def test_a_script_begins_anew_and_models_that_are_done_are_not_played_again(strop, serve, tasks, tmp_path):
    """Answers of a script are given in turn, so what was asked before decides which comes next."""
    lines = [{"task_id": task.id, "answer": text} for text in (RIGHT, WRONG, RIGHT, WRONG) for task in tasks]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    server = serve(lambda number, body: 400)
    words = ("eval", "scripted:answers.jsonl", server.model, *ASKED, "run.name=two", "-o", "out.json")
    assert strop(*words).returncode == 1
    run = tmp_path / "runs" / "two"
    assert strop(*words).returncode == 2  # the name is taken
    (tmp_path / "answers.jsonl").unlink()
    server.fault = lambda number, body: 200
    done = strop("eval", "--resume", run)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert list(report["models"]) == ["scripted:answers.jsonl", server.model]
    assert report["models"]["scripted:answers.jsonl"]["pass@1"] == pytest.approx(2 / 3)
    assert "difference" in done.stdout and report["differences"][server.model]
    assert "difference" in strop("show", run).stdout


def test_answers_of_the_control_are_kept_too(strop, tmp_path):
    some = list(generate(6))
    wrong = {task.id: f"```python\n{task.metadata['wrong'][0]}```" for task in some}
    lines = [{"task_id": task, "answer": answer} for task, answer in wrong.items()]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = strop(
        "eval", "scripted:a.jsonl", "--tasks", "needs-feedback:6", "--environment", "feedback", "--style", "chat",
        "-n", "1", "--no-greedy", "evaluation.bootstrap=200", "run.dir=here",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [*RunFolder.read(tmp_path / "here").iter_evaluation_rollouts("scripted-a.resampled")]
    assert {rollout.task_id for rollout in found} == {*wrong}
    assert max(rollout.index for rollout in found) > 0  # more than one round
    assert len({(rollout.task_id, rollout.index) for rollout in found}) == len(found)
    assert strop("show", "here", "--evaluation", "scripted-a.resampled").returncode == 0


@pytest.mark.train(25)
def test_a_local_model_goes_on_to_the_same_result(strop, tiny, tasks, tmp_path):
    asked = (*ASKED, "--max-tokens", "12")
    assert strop("eval", "tiny", *asked, "run.name=whole", "-o", "whole.json").returncode == 0
    whole = tmp_path / "runs" / "whole"
    shutil.copytree(whole, tmp_path / "runs" / "cut")
    cut = tmp_path / "runs" / "cut"
    (cut / "summary.json").unlink()
    lines = [line.model_dump(mode="json") for line in RunFolder.read(whole).iter_evaluation_rollouts("tiny")]
    for path in (cut / "evaluation").iterdir():
        path.unlink()
    kept = [{**line, "play": "evaluation.sampled", "at": 1.0} for line in lines if line["index"] == 1]
    (cut / "evaluation" / "tiny.jsonl").write_bytes(b"".join(map(files.json_line, kept)))
    done = strop("eval", "--resume", cut, "-o", "cut.json")
    assert done.returncode == 0 and "12 answers of" in done.stderr, done.stderr
    assert numbers(tmp_path / "cut.json") == numbers(tmp_path / "whole.json")
    text = [(*one[:5], one[5].token_ids) for one in answers(cut)]
    assert text == [(*one[:5], one[5].token_ids) for one in answers(whole)]
    assert (cut / "vocabulary.json.zst").is_file()


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("--resume", "nowhere"), "nowhere: no such folder"),
        (("--resume", "."), "it has no eval.json"),
        (("x", "--resume", "."), "leave them out"),
        (("--resume", ".", "-n", "3"), "leave them out"),
        ((), "name one model"),
    ],
)
def test_mistakes(strop, tmp_path, words, cause):
    done = strop("eval", *words)
    assert (done.returncode, done.stdout) == (2, "") and cause in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_another_task_set_is_refused(strop, serve, tasks, tmp_path):
    server = serve()
    assert strop("eval", server.model, *FEW, "run.dir=run").returncode == 0
    write_tasks(tasks[1:], tmp_path / "tasks.jsonl")
    done = strop("eval", "--resume", "run")
    assert done.returncode == 2 and "the task set has changed since" in done.stderr
    assert Path(tmp_path / "run" / "summary.json").is_file()


def test_evaluations_that_begin_together_have_folders_of_their_own(tmp_path: Path) -> None:
    check = {"kind": "cases", "entry_point": "f", "cases": [{"args": [], "expected": 1}]}
    task = {"id": "t", "statement": "Return 1.", "signature": "def f():", "check": check}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task))
    (tmp_path / "answers.jsonl").write_text(
        json.dumps({"task_id": "t", "answer": "def f():\n    return 1\n"})
    )
    words = ("eval", "scripted:answers.jsonl", "--tasks", "jsonl:tasks.jsonl")
    more = ("-n", "1", "-k", "1", "--no-greedy")
    with ThreadPoolExecutor(3) as threads:
        ended = [*threads.map(lambda _: warm.strop(*words, *more, cwd=tmp_path), range(3))]
    assert [done.returncode for done in ended] == [0, 0, 0], ended
    assert len(list((tmp_path / "runs").glob("eval-*/summary.json"))) == 3
