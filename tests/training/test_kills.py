"""kill -9 at any moment inside a step, a save or an evaluation: what is resumed ends with the same bits."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks import ranks
from tests import next_edits, scale
from tests.killed_runs import NEVER, command, lived, rounds, with_engines

from .conftest import metrics, recipe
from .test_engines import add_engines
from .test_environments import CALLS, EXAMPLES
from .test_online import weights_of


def kill_all_over(
    folder: Path, begin: Callable[[Path], tuple[Any, ...]], go_on: Callable[[Path], tuple[Any, ...]],
    came_of: Callable[[Path], Any], moments: int, world: int = 1,
) -> None:  # fmt: skip
    """Kills runs at so many drawn moments, some of them again and again, and compares each with one that was not."""
    assert lived(folder / "counts", NEVER, *begin(folder / "whole"), world=world)
    whole, draw = came_of(folder / "whole"), random.Random(scale.seed())
    calls = [json.loads(Path(f"{folder}/counts.{rank}").read_text()) for rank in range(world)]
    assert all({"step", "evaluation"} <= one.keys() for one in calls) and "save" in calls[0], calls
    killed, run, number = Counter[str](), folder / "run-0", 0
    while killed.total() < moments or run.exists():
        who = draw.randrange(world)
        what = draw.choice(sorted(calls[who]))
        moment = (what, draw.randint(1, calls[who][what] // 2)) if killed.total() < moments else NEVER
        work = go_on(run) if (run / "recipe.yaml").is_file() else begin(run)
        if not lived(folder / "counts-again", moment, *work, world=world, who=who):
            killed[what] += 1
            continue
        assert came_of(run) == whole, (run, killed)
        number += 1
        run = folder / f"run-{number}"
    assert killed.total() == moments


FORMS: dict[str, dict[str, Any]] = {
    "one": {},
    "two": {"grpo__tasks_per_step": 5},
    "shards": {"grpo__tasks_per_step": 5, "launch__engine": "fsdp2", "policy__engine": "elsewhere"},
    "ahead": {"grpo__max_staleness": 1},
    "workspace": {"tasks__style": "chat", "grpo__refill": "false"},
}


@pytest.mark.soak(120)
@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_is_killed_at_any_moment_ends_with_the_same_bits(
    peaked_model: Path, tmp_path: Path, form: str
) -> None:
    (tmp_path / "calls.py").write_text(CALLS)
    desk = f"{{type: '{tmp_path}/calls.py:Calls', tools: '{EXAMPLES}/own_tools.py:Desk', turns: 2}}"
    more = [f"tasks.environment={desk}"] if form == "workspace" else []
    work = (with_engines, str(add_engines(tmp_path))) if form == "shards" else (command,)

    def begin(run: Path) -> tuple[Any, ...]:
        changes = {"optim__steps": 4, "run__save_every": 1, "evaluation__every": 2, **FORMS[form]}
        words = recipe(tmp_path, peaked_model, run.name, **changes)
        return *work, "train", "--plain", *words, *more, f"run.overwrite={str(run.exists()).lower()}"

    def go_on(run: Path) -> tuple[Any, ...]:
        return *work, "train", "--plain", "--resume", str(run)

    def came_of(run: Path) -> Any:
        lines = metrics(run)
        held_out = [{**line.pop("held_out", {}), "seconds": 0} for line in lines]
        return ranks.digest(run), ranks.groups(run), lines, held_out

    world = 2 if form in ("two", "shards") else 1
    kill_all_over(tmp_path, begin, go_on, came_of, scale.most(20, 3), world)


@pytest.mark.soak(90)
def test_rounds_that_are_killed_at_any_moment_end_with_the_same_bits(
    tiny_model: Path, tmp_path: Path
) -> None:
    edits = next_edits.built(tmp_path, "--newest-share", "0.4")

    def go_on(run: Path) -> tuple[Any, ...]:
        return rounds, str(edits), str(tiny_model), str(run)

    def came_of(run: Path) -> Any:
        return weights_of(run), metrics(run)

    kill_all_over(tmp_path, go_on, go_on, came_of, scale.most(20, 3))
