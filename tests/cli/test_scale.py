"""`strop scale` from the command line, with answers from a file: the numbers, what is kept, mistakes."""

import json

import pytest

from strop.evaluation.public_runs import public_runs, shown_part
from strop.reports.page.run_data import run_data
from strop.tasks.sources import load_tasks
from strop_tasks.generators.needs_feedback import generate
from strop_verify.core.checks import AssertsCheck
from strop_verify.core.task import Task

SAMPLES = 4


def answers(task):
    """Right, by heart, raising, wrong."""
    name, known = task.check.entry_point, [[c.args, c.expected] for c in task.check.cases if c.shown]
    return [
        task.reference,
        f"def {name}(*a):\n    return dict((repr(k), v) for k, v in {known!r})[repr(list(a))]\n",
        f"def {name}(*a):\n    raise ValueError\n",
        f"def {name}(:\n",
    ]


@pytest.fixture
def script(tmp_path):
    with (tmp_path / "answers.jsonl").open("w") as file:
        for task in load_tasks("python-functions"):
            for text in answers(task):
                fenced = f"```python\n{text}```\n"
                print(json.dumps({"task_id": task.id, "answer": fenced}), file=file)
    return "scripted:answers.jsonl"


def test_shown_tests_are_all_that_an_answer_is_put_to(verifier):
    task = next(t for t in load_tasks("python-functions") if t.check.entry_point)
    public = shown_part(task)
    assert public and public.reference == "" and {c.shown for c in public.check.cases} == {True}
    right, heart, raises, broken = public_runs(verifier, [(task, a) for a in answers(task)], inputs=6)
    assert all(right.shown) and all(heart.shown) and not any(raises.shown + broken.shown)
    count = len(public.check.cases)
    assert right.results[:count] == heart.results[:count] and all(right.results[:count])
    assert raises.results == broken.results == [None] * 6
    assert list(public_runs(verifier, [(task, task.reference)], inputs=6, known={right.key})) == []
    hidden = task.check.model_copy(
        update={"cases": [c.model_copy(update={"shown": False}) for c in task.check.cases]}
    )
    (nothing,) = public_runs(verifier, [(task.model_copy(update={"check": hidden}), "x = 1")], inputs=6)
    assert (nothing.shown, nothing.results) == ([], [])


def test_results_that_count_as_equal_are_one(verifier):
    task = next(t for t in load_tasks("python-functions") if t.check.entry_point)
    name = task.check.entry_point
    bodies = ["[1, 2.0]", "(1, 2)", "[1, True]", "{2, 1}", "{1, 2}"]
    texts = [f"def {name}(*a):\n    return {body}\n" for body in bodies]
    found = [run.results[0] for run in public_runs(verifier, [(task, text) for text in texts], inputs=1)]
    assert found[0] == found[1] and found[3] == found[4] and len(set(found)) == 3


def test_curves_of_a_task_set_and_resuming(strop, tmp_path, script):
    pytest.importorskip("torch")
    words = (
        "scale",
        script,
        "--tasks",
        "python-functions",
        "--limit",
        "3",
        "-n",
        str(SAMPLES),
        "--style",
        "chat",
    )
    more = ("--inputs", "6", "-o", "out.json", "--chart", "c.svg", "run.name=one", "evaluation.bootstrap=200")
    done = strop(*words, *more)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    found = report["models"][script]
    assert (found["tasks"], found["samples"], found["k"]) == (3, SAMPLES, [1, 2, 3, 4])
    value = {name: one["accuracy"]["value"] for name, one in found["selectors"].items()}
    assert value["random"] == pytest.approx([0.25] * 4) and value["oracle"] == pytest.approx(
        [0.25, 0.5, 0.75, 1.0]
    )
    assert value["shown"] == pytest.approx([0.25, 5 / 12, 0.5, 0.5])  # of right and by heart any one
    assert value["codet"][-1] == 1.0  # the right one returns on more inputs
    shown = found["selectors"]["shown"]
    assert shown["false_positives"]["value"][-1] == pytest.approx(0.5)
    assert shown["differences"]["random"]["delta"][-1] == pytest.approx(0.25)
    assert shown["cpu_seconds"][3] == pytest.approx(4 * shown["cpu_seconds"][0])
    assert any("log-prob" in note for note in found["notes"])
    for said in ("shown-majority", "oracle", "false positives", "k = 4", "minus shown"):
        assert said in done.stdout
    assert (tmp_path / "c.svg").read_text().count("<title>shown-majority") == 2
    kept = (tmp_path / "runs/one/scaling/scripted-answers.jsonl").read_bytes()
    (tmp_path / "runs/one/scaling/scripted-answers.jsonl").write_bytes(kept[:-40])  # killed while it wrote
    done = strop("scale", "--resume", "runs/one", "--inputs", "6", "-o", "again.json", "--chart", "c.html")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.html").read_text().startswith("<!doctype html>")
    again = json.loads((tmp_path / "again.json").read_text())["models"][script]
    assert {name: one["accuracy"] for name, one in again["selectors"].items()} == {
        name: one["accuracy"] for name, one in found["selectors"].items()
    }
    # The same options without being told: the numbers go where they went last.
    (tmp_path / "again.json").unlink()
    (tmp_path / "c.html").unlink()
    done = strop("scale", "--resume", "runs/one")
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "again.json").read_text())
    assert told["inputs"] == 6 and (tmp_path / "c.html").is_file()
    assert told["models"][script]["selectors"].keys() == again["selectors"].keys()
    after = (tmp_path / "runs/one/scaling/scripted-answers.jsonl").read_bytes()
    lines = kept.splitlines()
    assert after.splitlines()[: len(lines) - 1] == lines[:-1] and len(after.splitlines()) == len(lines)


def test_tuples_stay_tuples_on_public_inputs(verifier, tmp_path):
    check = AssertsCheck(entry_point="f", code="assert f((1, 2)) == 1\nassert f((3, 4)) == 3\n", shown=[0])
    task = Task(id="f", statement="?", check=check)
    text = "def f(pair):\n    return {pair: pair[0]}[pair]\n"
    (run,) = public_runs(verifier, [(task, text)], inputs=5)
    assert run.shown == [True] and all(run.results)


def test_a_reward_is_a_selector_and_is_asked_once(strop, tmp_path, script):
    pytest.importorskip("torch")
    (tmp_path / "mine.py").write_text(
        "def plain(task, rollout, verdict):\n"
        "    open('asked', 'a').write('.')\n"
        "    assert not task.reference and rollout.verdict is None and not rollout.scores\n"
        "    return None if 'raise' in rollout.answer else -float(rollout.answer.count('dict('))\n"
    )
    words = ("--tasks", "python-functions", "--limit", "2", "-n", str(SAMPLES), "--style", "chat")
    more = ("--reward", "mine.py:plain", "run.name=one", "evaluation.bootstrap=200")
    done = strop("scale", script, *words, *more, "-o", "out.json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((tmp_path / "out.json").read_text())["models"].values()
    reward = found["selectors"]["mine.py:plain"]
    assert reward["accuracy"]["value"][-1] == pytest.approx(
        0.5
    )  # the right one, or the one that does not parse
    assert found["selectors"]["first"]["cpu_seconds"][3] < found["selectors"]["random"]["cpu_seconds"][3]
    asked = (tmp_path / "asked").read_text()
    assert len(asked) == 2 * SAMPLES
    done = strop("scale", "--resume", "runs/one")  # it knows the reward, and where the numbers go
    assert json.loads((tmp_path / "out.json").read_text())["models"]
    assert done.returncode == 0 and (tmp_path / "asked").read_text() == asked, done.stderr
    assert "mine.py:plain" in done.stdout


def test_self_debug_stands_beside_resampling_and_all_is_on_the_page(strop, tmp_path):
    pytest.importorskip("torch")
    tasks = list(generate(4))
    lines = []
    for text in ("wrong", "right"):
        for task in tasks:
            code = task.reference if text == "right" else task.metadata["wrong"][0]
            lines.append(json.dumps({"task_id": task.id, "answer": f"```python\n{code}```"}))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    words = ("--tasks", "needs-feedback:4", "--environment", "feedback", "--style", "chat", "-n", "1")
    done = strop(
        "scale", "scripted:a.jsonl", *words, "evaluation.bootstrap=200", "run.name=one", "-o", "out.json"
    )
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((tmp_path / "out.json").read_text())["models"].values()
    rounds = found["rounds"]
    assert rounds["tasks"] == 4 and rounds["debugged"]["value"] == [0.0, 1.0]
    assert 0 < rounds["tokens"][0] < rounds["tokens"][1] and len(rounds["differences"]["delta"]) == 2
    assert "after rounds" in done.stdout and "self-debug" in done.stdout
    page = run_data(tmp_path / "runs/one", "0")
    (shown,) = page["scaling"]
    assert (
        shown["label"] == "scripted:a.jsonl" and shown["rounds"] == rounds and not page["state"]["problems"]
    )
    assert shown["selectors"]["shown"]["accuracy"] == found["selectors"]["shown"]["accuracy"]


def test_what_goes_on_is_what_was_asked(strop, tmp_path, script):
    pytest.importorskip("torch")
    (tmp_path / "mine.py").write_text("def broken(task, rollout, verdict):\n    raise ValueError('no')\n")
    words = ("--tasks", "python-functions", "--limit", "1", "-n", "1", "--style", "chat", "run.name=one")
    done = strop("scale", script, *words, "--inputs", "3", "--reward", "mine.py:broken", "-o", "o ut.json")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "resume with: strop scale --resume runs/one\n" in done.stderr
    (tmp_path / "mine.py").write_text("def broken(task, rollout, verdict):\n    return 1.0\n")
    done = strop("scale", "--resume", "runs/one")
    assert done.returncode == 0, done.stderr
    numbers = json.loads((tmp_path / "o ut.json").read_text())
    assert numbers["inputs"] == 3 and "mine.py:broken" in numbers["models"][script]["selectors"]
    again = strop("scale", script, *words)
    assert again.returncode == 2 and "resume it with: strop eval --resume runs/one" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (("x", "--reward", "nosuch"), "no reward named"),
        (("x", "-n", "0"), "samples"),
        (("x", "--chart", "c.png"), ".svg"),
        (("--resume", "nowhere"), "no such folder"),
        (("x", "--resume", "nowhere"), "leave them out"),
        ((), "name one model"),
    ],
)
def test_mistakes_are_one_line(strop, tmp_path, tasks_file, arguments, cause):
    (tmp_path / "x").write_text(json.dumps({"task_id": "add", "answer": ""}))
    more = () if "--resume" in arguments else ("--tasks", "tasks.jsonl", "--engine", "scripted")
    done = strop("scale", *arguments, *more)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert cause in done.stderr and len(done.stderr.splitlines()) == 1
