import json
import re

import pytest

from strop.cli.models import model_folder
from strop.tasks import write_tasks
from strop_tasks.generators.needs_feedback import generate
from strop_verify.core.errors import UserError

GOOD = {"add": "\n    return a + b\n", "double": "\n    return 2 * x\n"}
BAD = {"add": "\n    return a\n", "double": "\n    return x\n"}


def script(path, *rounds):
    """A file of answers: of each round one for every task, given in turn."""
    path.write_text(
        "".join(
            json.dumps({"task_id": t, "answer": a}) + "\n" for answers in rounds for t, a in answers.items()
        )
    )
    return path.name


@pytest.mark.train(13)
def test_two_policies_are_compared_on_the_same_tasks(strop, tmp_path, tasks_file):
    pytest.importorskip("torch")
    weak = script(tmp_path / "weak.jsonl", GOOD, BAD, BAD, BAD, BAD)  # four samples, then the greedy one
    strong = script(tmp_path / "strong.jsonl", GOOD, GOOD, BAD, GOOD, GOOD)
    done = strop(
        "eval", weak, strong, "--engine", "scripted", "--style", "continue",
        "--tasks", "jsonl:tasks.jsonl", "-n", "4", "-k", "1", "-k", "4",
        "-o", "out.json", "evaluation.bootstrap=200",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    first, second = report["models"][weak], report["models"][strong]
    assert (first["pass@1"], first["pass@4"], first["greedy"]) == (0.25, 1.0, 0.0)
    assert (second["pass@1"], second["pass@4"], second["greedy"]) == (0.75, 1.0, 1.0)
    assert report["paired"]["pass@1"] == {"delta": 0.5, "low": 0.5, "high": 0.5}
    assert first["tasks"] == 2 and set(first["topics"]) == {"numbers", "strings"}
    assert "difference" in done.stdout and "+0.500" in done.stdout and "strings" in done.stdout
    assert "\x1b" not in done.stdout


def test_temperature_zero_is_greedy_and_long_prompts_are_left_out_where_asked(strop, tmp_path, tasks_file):
    pytest.importorskip("torch")
    name = script(tmp_path / "x.jsonl", GOOD)
    words = (
        "eval",
        name,
        "--engine",
        "scripted",
        "--style",
        "continue",
        "--tasks",
        "jsonl:tasks.jsonl",
        "-t",
        "0",
    )
    done = strop(*words, "-o", "out/all.json")
    found = json.loads((tmp_path / "out/all.json").read_text())["models"][name]
    assert done.returncode == 0 and found["greedy"] == 1.0 and found["samples"] == 0, (done.stderr, found)
    refused = strop(*words, "tasks.max_prompt_tokens=1", "run.name=one")
    tokens = int(
        re.search(r"its prompt has (\d+) tokens, more than tasks.max_prompt_tokens=1;", refused.stderr)[1]
    )
    long = [f"tasks.max_prompt_tokens={tokens - 1}", "tasks.too_long=leave-out", "run.name=two"]
    done = strop(*words, *long, "-o", "some.json")
    assert json.loads((tmp_path / "some.json").read_text())["models"][name]["tasks"] == 1, done.stderr
    assert f"1 of 2 tasks are left out: their prompts have more than {long[0]}" in done.stderr
    done = strop(*words, "tasks.max_prompt_tokens=1", long[1], "run.name=three")
    assert "every prompt has more than tasks.max_prompt_tokens=1; raise it" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (("no-file.jsonl", "--engine", "scripted"), "no-file.jsonl"),
        (("x", "--engine", "nothing"), "there are transformers, vllm"),
        (("x", "--tasks", "nope"), "nope"),
        (("x", "tasks.styl=chat"), "tasks.styl"),
        (("x", "-n", "2", "-k", "3", "--engine", "scripted"), "pass@3"),
        (("x", "x"), "different"),
        (("x", "-o", "/dev/null/out.json"), "/dev/null is not a folder"),
        (
            ("x", "-t", "0", "-n", "2", "--engine", "scripted"),
            "one greedy answer per task: leave out --samples",
        ),
    ],
)
def test_bad_input_is_exit_code_2_and_writes_nothing(strop, tmp_path, tasks_file, arguments, cause):
    pytest.importorskip("torch")
    script(tmp_path / "x", GOOD)
    more = () if "--tasks" in arguments else ("--tasks", "tasks.jsonl")
    done = strop("eval", *arguments, *more)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert cause in done.stderr and "Traceback" not in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["tasks.jsonl", "x"]


def test_a_run_stands_for_its_final_model_else_its_newest_whole_checkpoint(tmp_path):
    assert model_folder("Qwen/some-model") == "Qwen/some-model"
    (tmp_path / "recipe.yaml").write_text("")
    with pytest.raises(UserError, match="neither a final model nor a checkpoint"):
        model_folder(str(tmp_path))
    for step in (9, 10, 11):
        (tmp_path / "checkpoints" / f"checkpoint-{step}").mkdir(parents=True)
        if step < 11:  # the last one is half-written
            (tmp_path / "checkpoints" / f"checkpoint-{step}" / "STROP_COMPLETE").write_text("ok\n")
    assert model_folder(str(tmp_path)).endswith("checkpoint-10")
    (tmp_path / "final").mkdir()
    assert model_folder(str(tmp_path)) == str(tmp_path / "final")


@pytest.mark.train(17)
def test_a_window_leaves_tasks_out_and_says_so(strop, tmp_path, add, double):
    pytest.importorskip("torch")
    inside = add.model_copy(update={"id": "add", "metadata": {"date": "2024-08-01", "base_tests": 1}})
    older = double.model_copy(update={"id": "double", "metadata": {"date": "2024-07-31"}})
    undated = double.model_copy(update={"id": "undated"})
    write_tasks([inside, older, undated], tmp_path / "tasks.jsonl")
    write_tasks([add.model_copy(update={"id": "same"})], tmp_path / "train.jsonl")
    script(tmp_path / "x", {**GOOD, "undated": ""})
    words = (
        "eval",
        "x",
        "--style",
        "continue",
        "--engine",
        "scripted",
        "--tasks",
        "tasks.jsonl",
        "-n",
        "1",
        "--no-greedy",
        "-o",
        "out.json",
    )
    done = strop(
        *words,
        "--from",
        "2024-08-01",
        "--to",
        "2025-02-01",
        "--trained-on",
        "train.jsonl",
        "model.cutoff=2024-12-31",
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["window"] == {
        "from": "2024-08-01", "to": "2025-02-01", "undated": 1, "other_days": 1,
        "left_out": "1 of other days, 1 without a date",
    }  # fmt: skip
    found = report["models"]["x"]
    assert [task["task_id"] for task in found["per_task"]] == ["add"] and found["base"] == found[
        "test"
    ] == 1.0
    assert (
        found["contamination"]["similar_tasks"] == ["add"] and found["contamination"]["before"]["tasks"] == 1
    )
    assert "left out by the window: 1 of other days, 1 without a date" in done.stdout
    assert "2024-08-01 to 2025-02-01" in done.stdout and found["contamination"]["note"] in done.stdout
    for more, said in (
        (("--from", "2030-01-01"), "2 of other days, 1 without a date"),
        (("--from", "1.8.2024"), "YYYY-MM-DD"),
        (("--from", "2025-01-01", "--to", "2024-01-01"), "lies before"),
        (("--trained-on", "nope.jsonl"), "nope.jsonl"),
    ):
        done = strop(*words[:-2], *more)
        assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1, (
            done.stderr
        )


@pytest.mark.jail
def test_plays_of_many_turns_are_held_against_the_model_in_one(strop, tmp_path):
    pytest.importorskip("torch")
    tasks = list(generate(12))
    wrong = {task.id: f"```python\n{task.metadata['wrong'][0]}```" for task in tasks}
    right = {task.id: f"```python\n{task.reference}```" for task in tasks}
    # The play's answer is right; the control's three at as many tokens are not, but of the first six tasks.
    mixed = {task.id: right[task.id] if number < 6 else wrong[task.id] for number, task in enumerate(tasks)}
    name = script(tmp_path / "answers.jsonl", right, mixed)
    done = strop(
        "eval", name, "--engine", "scripted", "--tasks", "needs-feedback:12", "--environment", "feedback",
        "--style", "chat", "-n", "1", "-k", "1", "--no-greedy", "-o", "out.json", "evaluation.bootstrap=200",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (report,) = json.loads((tmp_path / "out.json").read_text())["models"].values()
    assert report["pass@1"] == 1.0 and report["by_turn"] == {"passed": [1.0], "repeated": None}
    ceiling = sum(task.metadata["ceiling"] for task in tasks) / 12
    assert report["controls"]["ceiling"]["pass@1"] == pytest.approx(ceiling)
    assert report["controls"]["ceiling"]["difference"]["pass@1"]["low"] > 0
    assert "resampled" in report["controls"]
    for word in ("compared with", "resampled", "best possible in one turn", f"{ceiling:.3f}"):
        assert word in done.stdout
