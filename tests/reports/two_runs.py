"""Two made runs that the pages about one rollout, a task and a comparison are tested with."""

from pathlib import Path
from typing import Any

from strop.reports.run_folder import RunFolder
from strop_verify.core.rollout import Rollout, Score
from strop_verify.core.verdict import Outcome, Verdict

from .made_runs import make_run, task_id

TASKS, STEPS, SIZE = 3, 4, 4


def make_two_runs(folder: Path) -> list[Path]:
    """Two runs with the same tasks. The first is played in two turns; its last step has a group without scores."""
    spoilt = Verdict(outcome=Outcome.ERROR, detail="the compiler is missing")
    shape: dict[str, Any] = {"steps": STEPS, "groups": 2, "size": SIZE, "tasks": TASKS, "tokens": 40}
    both = [
        make_run(folder / "first", **shape, turns=2, seed=1),
        make_run(folder / "second", **shape, seed=2, language="rust"),
    ]
    with RunFolder.resume(both[0]) as run:
        last = next(run.iter_groups(STEPS))
        unscored = {
            "verdict": spoilt,
            "scores": [Score(name="passed", value=None)],
            "reward": None,
            "advantage": None,
        }
        rollouts = [r.model_copy(update={**unscored, "task_id": task_id(99)}) for r in last.rollouts]
        run.write_rollouts(
            STEPS + 1, [last.model_copy(update={"task_id": task_id(99), "rollouts": rollouts})]
        )
    return both


def played(folder: Path, step: int) -> dict[str, Rollout]:
    """{row id: rollout} of a step as it is on disk."""
    groups = RunFolder.read(folder).iter_groups(step)
    return {f"t.{step}.{n}.{r.index}": r for n, group in enumerate(groups) for r in group.rollouts}


def all_played(folder: Path) -> dict[str, Rollout]:
    return {name: r for step in range(1, STEPS + 1) for name, r in played(folder, step).items()}


def show(page: Any, fragment: str, text: str) -> None:
    """Goes to another view of the page; waits until it shows the text."""
    page.evaluate("there => { location.hash = there }", fragment)
    page.wait_for_function("text => document.querySelector('main').innerText.includes(text)", arg=text)
