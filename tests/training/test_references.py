"""Tasks whose reference fails are not trained on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.warm import strop

from strop.config.load import load_recipe
from strop.environments.registry import played_by
from strop.policies.scripted import ScriptedPolicy
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.groups import MixedStream, TaskShare, fill_step
from strop.tasks import write_tasks
from strop.training.feed import DistributedRollouts, TriedStream
from strop.training.ranks import Ranks
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import TooManyErrors
from strop_verify.core.task import Task

if TYPE_CHECKING:
    from strop_verify.verification.pool.pool import VerifierPool


def add(number: int, operator: str = "+") -> Task:
    head = f"def add_{number}(a, b):"
    cases = [Case(args=[a, 3], expected=a + 3 + number) for a in range(3)]
    return Task(
        id=f"t{number}",
        statement=f"Return the sum of a, b and {number}.",
        signature=head,
        reference=f"{head}\n    return a {operator} b + {number}\n",
        check=CasesCheck(entry_point=f"add_{number}", cases=cases),
        split="train",
    )


def tried(tasks: list[Task], verifier: "VerifierPool") -> TriedStream:
    recipe = load_recipe([], ["tasks.style=continue"])
    player = Dispatcher(ScriptedPolicy(lambda *_: "    return 0"), verifier, played_by(recipe))
    rubric = WeightedRubric.from_names([("passed", 1.0)])
    stream = MixedStream({"": TaskShare(tasks, lambda step: 1.0)}, seed=0)
    return TriedStream(stream, DistributedRollouts(player, rubric, Ranks()), {task.id for task in tasks})


@pytest.mark.jail
def test_a_reference_is_judged_when_its_task_is_drawn_first(verifier: "VerifierPool") -> None:
    tasks = [add(n, "-" if n in (1, 4) else "+") for n in range(6)]
    stream, before = tried(tasks, verifier), verifier.stats()["submitted"]
    drawn = [stream.draw(4, step) for step in range(1, 5)]
    assert verifier.stats()["submitted"] - before == 6 + 2  # each once, those that fail once more
    assert all(sorted(task.id for task in step) == ["t0", "t2", "t3", "t5"] for step in drawn)
    assert [*stream.set_aside] == ["t1", "t4"] or [*stream.set_aside] == ["t4", "t1"]
    for why in stream.set_aside.values():
        assert why.startswith("its reference fails its own tests (failed: case 0: "), why
    again = tried(tasks, verifier)
    again.load(json.loads(json.dumps(stream.state())))
    assert again.set_aside == stream.set_aside and again.draw(4, 5) == stream.draw(4, 5)


@pytest.mark.jail
def test_a_set_of_which_no_reference_passes_ends_the_run(verifier: "VerifierPool") -> None:
    stream = tried([add(n, "-") for n in range(3)], verifier)
    with pytest.raises(TooManyErrors, match="no task is left to train on: each was set aside, such as t"):
        fill_step(lambda tasks, params, round: [], stream, load_recipe([], []), 1)


def test_a_run_names_the_tasks_that_it_leaves_out(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    tasks = [add(n, "-" if n == 7 else "+") for n in range(8)]
    write_tasks(tasks, tmp_path / "tasks.jsonl")
    words = recipe_words(
        "run", tasks__source=f"jsonl:{tmp_path}/tasks.jsonl", optim__steps=2, evaluation__before="false"
    )
    done = strop("train", *words, "evaluation.after=false", "tasks.limit=null")
    assert done.returncode == 0, done.stderr
    assert "task t7 is set aside: its reference fails its own tests (failed: case 0: " in done.stdout
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["tasks_set_aside"] == ["t7"]
