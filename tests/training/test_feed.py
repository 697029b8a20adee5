"""Groups from elsewhere train the model, and a checkpoint comes when it is asked for."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.scored import logps
from tests.waiting import wait_until
from tests.warm import strop

from strop.api import recipe as recipe_of
from strop.config.run_stages import RunStage
from strop.config.schema import Recipe
from strop.reports.run_folder import RunFolder
from strop.training.feed import Feed, StepGroups, TaskFeed
from strop.training.loop import Loop
from strop.training.ranks import Ranks
from strop.training.run import train
from strop.training.setup import RunParts, set_up
from strop_verify.core.rollout import Completion, Group, Rollout, Turn

from .conftest import metrics, weights

PROMPT, GOOD, BAD = [5, 17, 90], [11, 12, 13], [21, 22, 23]


class HandedIn(Feed):
    """Two rollouts a step that nobody here played: one that was right, one that was wrong."""

    def __init__(self, late: int = 0) -> None:
        self.late = late
        self.asked: list[int] = []

    def take(self, stage: RunStage, number: int) -> StepGroups:
        self.asked.append(number)
        rollouts = []
        for index, (ids, reward) in enumerate(((GOOD, 1.0), (BAD, 0.0))):
            said = Completion(
                token_ids=ids, logprobs=[-10.0] * 3, text="", finish_reason="eos",
                policy_version=max(0, number - 1 - self.late),
            )  # fmt: skip
            turn = Turn(prompt_ids=PROMPT, completion=said)
            rollouts.append(
                Rollout(task_id="chat", index=index, seed=0, prompt="", turns=[turn], reward=reward)
            )
        return StepGroups([Group(task_id="chat", step=number - 1, rollouts=rollouts)], [0])


@pytest.fixture
def parts(recipe_words: Callable[..., list[str]]) -> Iterator[tuple[Recipe, RunParts]]:
    recipe = recipe_of(*recipe_words("fed", optim__steps=2))
    with ExitStack() as stack:
        yield recipe, set_up(recipe, Ranks(), stack, lambda text: None)


def likelihoods(model: Any) -> tuple[float, float]:
    """Log-probabilities of the good and the bad completion."""
    good, bad = (float(logps(model, PROMPT + ids, len(PROMPT)).sum()) for ids in (GOOD, BAD))
    return good, bad


def trained(recipe: Recipe, parts: RunParts, feed: Feed) -> list[dict[str, Any]]:
    with RunFolder.create(recipe.run.folder, recipe="", versions={}) as run:
        loop = Loop(recipe, parts, run, None, feed)
        steps = [step.metrics for step in loop.steps(lambda number: None, lambda stage: None)]
        parts.backend.close()
    return steps


def test_the_loop_trains_on_groups_that_nobody_here_played(parts: tuple[Recipe, RunParts]) -> None:
    recipe, own = parts
    feed, before = HandedIn(), likelihoods(own.backend.model)
    first, second = trained(recipe, own, feed)
    assert feed.asked == [1, 2] and own.play.player.count.started == 0
    assert first["reward"] == second["reward"] == 0.5 and first["rollouts"] == 2
    assert first["grad_norm"] > 0 and second["grad_norm"] > 0
    assert (
        "seconds_update_idle" in first and "seconds_sampler_idle" not in first
    )  # whoever plays is elsewhere
    after = likelihoods(own.backend.model)
    assert after[0] > before[0] + 0.01 and after[1] < before[1] - 0.01, (before, after)
    assert (recipe.run.folder / "checkpoints" / "checkpoint-2" / "STROP_COMPLETE").is_file()


def test_groups_of_older_weights_than_the_recipe_allows_are_counted_and_not_learnt(
    parts: tuple[Recipe, RunParts],
) -> None:
    recipe, own = parts
    first, second = trained(recipe, own, HandedIn(late=1))
    assert "groups_too_old" not in first and first["groups_learnt"] == 1
    assert second["groups_too_old"] == 1 and second["groups_learnt"] == 0 and second["grad_norm"] == 0


@pytest.mark.parametrize("staleness", [0, 1])
def test_idle_seconds_of_both_sides_add_up(recipe_words: Callable[..., list[str]], staleness: int) -> None:
    recipe = recipe_of(*recipe_words("timed", optim__steps=3, grpo__max_staleness=staleness))
    with ExitStack() as stack:
        own = set_up(recipe, Ranks(), stack, lambda text: None)
        lines = trained(recipe, own, TaskFeed(recipe, own.play, own.sets))
    for line in lines:
        assert line["seconds_sampler_idle"] > 0 and line["seconds_update_idle"] > 0
        assert line["seconds_update"] + line["seconds_update_idle"] <= line["seconds"]
    played = sum(line["seconds"] - line["seconds_sampler_idle"] for line in lines)
    assert played == pytest.approx(sum(line["seconds_rollouts"] for line in lines))
    if staleness:
        assert lines[-1]["seconds_sampler_idle"] == lines[-1]["seconds"]  # nothing comes after it
    else:
        assert all(line["seconds_sampler_idle"] >= line["seconds_update"] for line in lines)
        assert all(line["seconds_update_idle"] >= line["seconds_rollouts"] for line in lines)


@pytest.mark.train(15)
def test_a_signal_while_the_model_loads_is_no_end(
    recipe_words: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-m", "strop.cli", "train", *recipe_words("early"), "--plain"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout and any("loading" in line for line in process.stdout)
        process.send_signal(signal.SIGUSR2)
        wait_until(lambda: [*(tmp_path / "early").glob("rollouts/step-*.zst")], process)
    finally:
        process.kill()
        process.communicate()

    def loads(*given: object) -> None:
        os.kill(os.getpid(), signal.SIGUSR2)
        raise ZeroDivisionError

    monkeypatch.setattr("strop.training.run.set_up", loads)
    with pytest.raises(ZeroDivisionError):
        train(recipe_of(*recipe_words("called")), say=print, show=print)


@pytest.mark.train(30)
def test_a_signal_has_a_checkpoint_saved_that_resumes_to_the_same_bits(
    recipe_words: Callable[..., list[str]], six_steps: Path, tmp_path: Path
) -> None:
    """Every step that save_every would save is six steps away."""
    run = tmp_path / "asked"
    words = recipe_words("asked", run__save_every=6)
    process = subprocess.Popen(
        [sys.executable, "-m", "strop.cli", "train", *words], stdout=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: [*run.glob("rollouts/step-*.zst")], process)
        process.send_signal(signal.SIGUSR2)
        wait_until(lambda: [*run.glob("checkpoints/*/STROP_COMPLETE")], process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    numbers = [int(path.parent.name.removeprefix("checkpoint-")) for path in run.glob("*/*/STROP_COMPLETE")]
    assert min(numbers) < 6, numbers
    for path in run.glob("checkpoints/checkpoint-6"):
        shutil.rmtree(path)  # a kill that came too late for what is shown here
    (run / "summary.json").unlink(missing_ok=True)
    done = strop("train", "--resume", str(run))
    assert done.returncode == 0 and f"from checkpoint-{min(numbers)}" in done.stdout, (
        done.stdout + done.stderr
    )

    assert weights(run) == weights(six_steps) and metrics(run) == metrics(six_steps)
