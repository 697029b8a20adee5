"""`strop build preferences`: pairs within a task from what runs kept, without equal answers, split by task."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.warm import strop

from strop.config.load import dump_recipe, load_recipe
from strop.reports.run_folder import RunFolder
from strop.tasks.sources import load_tasks
from strop_verify.core.rollout import Completion, Group, Rollout, Turn
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict

RIGHT = "def {0}(n):\n    return n * 2"
TWIN = "def {0}(m):\n    # twice\n    return m * 2"
WRONG = "def {0}(n):\n    return n"
BROKEN = "def {0}(n):\n    return missing(n)"


def tasks_file(folder: Path) -> Path:
    """Four training tasks, the last of which says nearly what a held-out one says, and two that are held out."""
    path = folder / "tasks.jsonl"
    lines = []
    for number, split in enumerate(["train"] * 4 + ["held-out"] * 2):
        words = ["apples pears plums", "red green blue hue", "cat dog cow hen", "one two three four five six"]
        statement = [*words, "north south east west", "one two three four five seven"][number]
        cases = [{"args": [n], "expected": 2 * n, "shown": n == 1} for n in (1, 2, 5)]
        check = {"kind": "cases", "entry_point": f"f{number}", "cases": cases}
        task = {"statement": statement, "signature": f"def f{number}(n):", "check": check, "split": split}
        lines.append(json.dumps(task))
    path.write_text("\n".join(lines) + "\n")
    return path


def rollout(task_id: str, index: int, answer: str, passed: bool | None, *, shown: bool = True) -> Rollout:
    verdict = Verdict(outcome=Outcome.ERROR)
    if passed is not None:
        told = [passed or shown, passed, passed]
        tests = [
            TestResult(id=str(n), outcome=Outcome.PASSED if ok else Outcome.FAILED)
            for n, ok in enumerate(told)
        ]
        outcome = Outcome.PASSED if passed else Outcome.FAILED
        verdict = Verdict(
            outcome=outcome, stages=[Stage(name="build", passed=True)], tests=tests, cpu_seconds=0.5
        )
    said = Completion(token_ids=[1, 2], logprobs=[-1.0, -2.0], text=answer, finish_reason="eos")
    turns = [Turn(prompt_ids=[1], completion=said)]
    return Rollout(
        task_id=task_id, index=index, seed=0, prompt="p", turns=turns, answer=answer, verdict=verdict
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    source = tasks_file(tmp_path)
    tasks = load_tasks(str(source))
    recipe = dump_recipe(load_recipe([], [f"tasks.source={source}"]))

    def answers(number: int, some: Sequence[tuple[str, Any]]) -> Group:
        task = tasks[number]
        made = [
            rollout(task.id, n, text.format(f"f{number}"), passed) for n, (text, passed) in enumerate(some)
        ]
        return Group(task_id=task.id, step=0, rollouts=made)

    both = [(RIGHT, True), (TWIN, True), (WRONG, False), (BROKEN, False)]
    with RunFolder.create(tmp_path / "run", recipe=recipe, versions={}) as folder:
        folder.write_rollouts(
            1, [answers(0, both), answers(1, [(RIGHT, True), (WRONG, None)]), answers(3, both)]
        )
        flaky = [(RIGHT, True), (WRONG, True), (WRONG, False)]
        folder.write_rollouts(2, [answers(2, [*flaky, (BROKEN, False)])])
        folder.write_rollouts_of("after", [*answers(4, both).rollouts, *answers(5, both).rollouts])
    return tmp_path / "run"


def test_pairs_within_a_task_and_counts(run: Path, tmp_path: Path) -> None:
    done = strop(
        "build", "preferences", run, "-o", tmp_path / "pairs.jsonl", "--pairs", tmp_path / "trl.jsonl"
    )
    assert done.returncode == 0, done.stderr
    found = {
        one["task_name"]: one for one in map(json.loads, (tmp_path / "pairs.jsonl").read_text().splitlines())
    }
    first = found["f0"]
    texts = {answer["text"].partition("return ")[2]: answer for answer in first["answers"]}
    # The twin is one answer with what it is the twin of.
    assert {text: answer["count"] for text, answer in texts.items()} == {"n * 2": 2, "n": 1, "missing(n)": 1}
    assert texts["n"]["passed"] is False and texts["n"]["shown"] == 1.0 and texts["n * 2"]["logprob"] == -3.0
    assert texts["n"]["compiles"] and texts["n"]["seconds"] == 0.5 and texts["n"]["policy"] == "run step 1"
    assert "apples pears plums" in first["prompt"] and "def f0" in first["prompt"]
    pairs = [json.loads(line) for line in (tmp_path / "trl.jsonl").read_text().splitlines()]
    assert len(pairs) == 3 and {*pairs[0]} == {"prompt", "chosen", "rejected"}
    assert all("* 2" in pair["chosen"] and "* 2" not in pair["rejected"] for pair in pairs)
    # What failed at us is nothing; equal texts with both verdicts say nothing.
    assert [answer["passed"] for answer in found["f1"]["answers"]] == [True]
    assert [answer["text"].rpartition(" ")[2] for answer in found["f2"]["answers"]] == ["2", "missing(n)"]
    # The fourth says nearly what a held-out one says.
    assert "f3" not in found
    assert {one["split"] for name, one in found.items() if name in ("f4", "f5")} == {"held-out"}
    assert "train: 3 pairs of 2 tasks" in done.stdout and "held-out: 4 pairs of 2 tasks" in done.stdout
    assert "left out: 1 tasks near-duplicates of held-out tasks" in done.stdout
    assert "left out: 1 answers not judged" in done.stdout and "21 judged answers read" in done.stdout


def test_another_split_keeps_each_task_on_one_side(run: Path, tmp_path: Path) -> None:
    done = strop("build", "preferences", run, run, "-o", tmp_path / "pairs.jsonl", "--held-out", "0.5")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert len({one["task_id"] for one in found}) == len(found) >= 4
    sides = {one["task_name"]: one["split"] for one in found}
    if {"f3", "f5"} <= {*sides}:
        assert sides["f3"] == sides["f5"]


def test_mistakes(run: Path, tmp_path: Path) -> None:
    for words, said in (
        ([tmp_path / "nothing", "-o", "p.jsonl"], "is not a run folder"),
        ([run, "-o", "p.json"], "ends in .jsonl"),
    ):
        done = strop("build", "preferences", *words, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr
    (run / "evaluation" / "after.jsonl.zst").write_bytes(b"torn")
    done = strop("build", "preferences", run, "-o", tmp_path / "p.jsonl")
    assert done.returncode == 0 and "damaged" in done.stderr and "no pair on the held-out side" in done.stderr
