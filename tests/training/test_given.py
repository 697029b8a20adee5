"""Runs from a notebook: tasks, rewards and environment come from the calling process; what ends a run is on disk."""

import json
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.warm import strop

from strop import api
from strop.api import recipe as recipe_of
from strop.config.schema import Recipe
from strop.environments.single_turn import SingleTurn
from strop.reports.run_folder import RunFolder
from strop.rewards.rubric import WeightedRubric
from strop.tasks.sources import load_tasks
from strop.training.caller_overrides import Overrides
from strop.training.run import resume, train
from strop_verify.core.errors import UserError
from strop_verify.core.play import Opening
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

from .conftest import metrics, weights


def even(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """Share of sampled tokens with an even id."""
    ids = rollout.flat()[0]
    return sum(i % 2 == 0 for i in ids) / len(ids)


class Noted(SingleTurn):
    """One turn, and a note of the task."""

    seen: set[str] = set()  # noqa: RUF012

    def __init__(self, task: Task, opening: Opening, read: Callable[[str], str]) -> None:
        super().__init__(task, opening, read)
        self.seen.add(task.id)


def own_tasks(count: int = 6) -> list[Task]:
    """The last two are held out, by their own field."""
    tasks = load_tasks("python-functions", split="train", limit=count)
    sides = ["train"] * (count - 2) + ["held-out"] * 2
    return [task.model_copy(update={"split": side}) for task, side in zip(tasks, sides, strict=True)]


def quiet(**more: Any) -> dict[str, Any]:
    return {"say": lambda text: None, "show": lambda metrics: None, **more}


def short(words: Sequence[str], **changes: Any) -> Recipe:
    more = {"optim.steps": 3, "run.save_every": 1, "evaluation.before": "false", **changes}
    return recipe_of(*words, *(f"{key}={value}" for key, value in more.items()))


@pytest.mark.train(30)
def test_tasks_rewards_and_environment_of_the_process_are_trained_with_and_asked_for_at_resume(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    # The recipe's own source and rewards do not exist: nothing of them may be looked at.
    words = [word for word in recipe_words("run") if not word.endswith(".yaml") and "tasks.limit" not in word]
    recipe = short(words, **{"tasks.source": "jsonl:/nowhere.jsonl"})
    tasks, run = own_tasks(), tmp_path / "run"
    given = Overrides(tasks, WeightedRubric([("even", even, 2.0)]), Noted)
    Noted.seen.clear()
    train(recipe, given=given, **quiet())

    folder = RunFolder.read(run)
    played = {group.task_id for step in (1, 2, 3) for group in folder.iter_groups(step)}
    assert played == {task.id for task in tasks[:4]}
    assert {r.task_id for r in folder.iter_evaluation_rollouts("after")} == {task.id for task in tasks[4:]}
    rollouts = [r for group in folder.iter_groups(1) for r in group.rollouts]
    assert all([score.name for score in r.scores] == ["even"] for r in rollouts)
    assert all(r.reward == pytest.approx(2 * even(tasks[0], r, r.verdict)) for r in rollouts if r.verdict)
    assert Noted.seen == {task.id for task in tasks}
    noted = json.loads((run / "given.json").read_text())
    assert noted["rewards"] == {"even": 2.0} and noted["environment"] == "Noted"
    assert noted["tasks"]["count"] == 6

    before, lines = weights(run), metrics(run)
    (run / "summary.json").unlink()
    (run / "checkpoints" / "checkpoint-3" / "STROP_COMPLETE").unlink()
    done = strop("train", "--resume", str(run))
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert done.returncode == 2 and f"strop.train(..., resume={str(run)!r})" in line
    assert "tasks, rewards, environment" in line and "Traceback" not in done.stderr
    for other, what in (
        (Overrides(tasks[1:], given.rubric, Noted), "tasks"),
        (Overrides([*tasks[:3], *own_tasks(5)[3:], tasks[5]], given.rubric, Noted), "tasks"),  # another split
        (Overrides(tasks, WeightedRubric([("even", even, 1.0)]), Noted), "rewards"),
        (Overrides(tasks, given.rubric), "environment"),
    ):
        with pytest.raises(UserError, match=f"different: {what}"):
            resume(run, given=other, **quiet())
    assert not (run / "error.txt").exists() and weights(run) == before
    api.train(recipe, tasks=tasks, rewards={even: 2.0}, environment=Noted, resume=run, **quiet())
    assert weights(run) == before and metrics(run) == lines
    assert json.loads((run / "summary.json").read_text())["resumed_at"] == 2


def test_given_tasks_without_a_held_out_one_are_split_as_those_of_a_source(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    bare = [task.model_copy(update={"split": None}) for task in load_tasks("python-functions", limit=60)]
    (tmp_path / "tasks.jsonl").write_text("".join(f"{task.model_dump_json()}\n" for task in bare))
    loaded = load_tasks(f"jsonl:{tmp_path}/tasks.jsonl", held_out_fraction=0.2)
    recipe = recipe_of(*recipe_words("run"), "evaluation.limit=null", "tasks.held_out_fraction=0.2")
    (found,) = Overrides(bare).sets(recipe, lambda text: None)
    assert {t.id for t in found.held_out} == {t.id for t in loaded if t.split == "held-out"} != set()
    assert {t.id for t in found.train} == {t.id for t in loaded if t.split == "train"}
    with pytest.raises(UserError, match="has duplicates"):
        Overrides([*bare, bare[0]]).sets(recipe, lambda text: None)
    two = (
        "[{name: a, source: python-functions, levels: [1]}, {name: b, source: python-functions, levels: [2]}]"
    )
    several = recipe_of(f"tasks={two}")
    for given in (Overrides(bare), Overrides(environment=Noted), Overrides(rubric=WeightedRubric([]))):
        with pytest.raises(UserError, match="one task set; this one has 2"):
            given.sets(several, lambda text: None)


@pytest.mark.train(30)
def test_the_traceback_of_what_ended_a_run_is_kept_until_it_finishes(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    run = tmp_path / "run"

    def fails(line: dict[str, Any]) -> None:
        if line["step"] == 2:
            raise ZeroDivisionError("no such thing")

    before = signal.getsignal(signal.SIGUSR2)
    with pytest.raises(ZeroDivisionError):
        train(short(recipe_words("run")), **quiet(show=fails))
    assert signal.getsignal(signal.SIGUSR2) is before
    text = (run / "error.txt").read_text()
    assert "Traceback (most recent call last)" in text and "ZeroDivisionError: no such thing" in text
    assert "in fails" in text and "process 0 of 1" in text
    with ThreadPoolExecutor(1) as pool:  # as a notebook's server may: only the main thread handles signals
        pool.submit(resume, run, **quiet()).result()
    assert not (run / "error.txt").exists() and (run / "summary.json").is_file()
