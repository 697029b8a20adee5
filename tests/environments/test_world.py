"""Plays in tool worlds: what the tools did is judged, in every form of calls; an expert, and baselines of no model."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.warm import strop

from strop.config.tasks import EnvironmentConfig
from strop.environments.registry import bind, find_environment
from strop.environments.toolbox import tools_of
from strop.environments.world import world_tools
from strop.evaluation.baselines import known_calls, random_calls
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tool_calls import CALL_FORMS, FormName, ToolCall
from strop.rollouts.dispatcher import Dispatcher
from strop.tasks.demos import read_demos
from strop.tasks.tool_worlds import WORLDS, generate, task_of
from strop.tasks.tool_worlds.world import replayed
from strop_verify.core.checks import WorldCheck
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task

pytestmark = pytest.mark.jail
FORMS: tuple[FormName, ...] = get_args(FormName)


def played(verifier: Any, task: Task, texts: Sequence[str], style: str = "chat", **options: Any) -> Rollout:
    left = list(texts)
    policy = ScriptedPolicy(lambda prompt, seed, again: left.pop(0) if left else "...")
    kind = find_environment(EnvironmentConfig(type="world", **options))
    dispatcher = Dispatcher(policy, verifier, bind(kind, style))
    (rollout,) = dispatcher.play([task], 1, SamplingParams(max_tokens=4000), seed=1)
    return rollout


def written(task: Task, calls: Sequence[Any], form: FormName) -> list[str]:
    tools = tools_of(world_tools(task.topic))
    return [CALL_FORMS[form].write(ToolCall(*call), tools) for call in calls]


@pytest.mark.parametrize("form", FORMS)
def test_what_the_tools_did_is_judged_in_every_form(form: FormName, verifier: Any) -> None:
    task = task_of("bank", random.Random(5))
    acts = known_calls(task, random.Random(0))
    texts = written(task, [("look", {}), *acts, ("finish", {})], form)
    rollout = played(verifier, task, texts, calls=form, turns=12)
    assert rollout.verdict is not None and rollout.verdict.passed, rollout
    said = [event.result for turn in rollout.turns for event in turn.events]
    assert said[0] == "there are accounts, rates" and said[-1] == "finished" and len(said) == len(texts)
    # The same without the last call, and with words in its place.
    rollout = played(
        verifier, task, [*texts[:-2], "The goal is met: all is paid.", texts[-1]], calls=form, turns=12
    )
    assert rollout.verdict is not None and rollout.verdict.outcome == "failed"
    # Calls that come after the end, and wrong ones, count for nothing.
    wrong = CALL_FORMS[form].write(
        ToolCall("pay", {"source": "moon", "target": "sun", "amount": 1}), tools_of(world_tools("bank"))
    )
    rollout = played(
        verifier,
        task,
        ["\n".join([wrong, *texts[:2]]), *texts[2:-1], f"{texts[-1]}\n{texts[-2]}"],
        calls=form,
        turns=12,
    )
    assert rollout.verdict is not None and rollout.verdict.passed
    assert "there is no 'moon' among the accounts" in rollout.turns[0].events[0].result


@pytest.mark.parametrize("style", ["chat", "continue"])
def test_the_prompt_tells_the_tools_and_nothing_of_the_check(style: str, verifier: Any) -> None:
    task = task_of("kitchen", random.Random(5))
    rollout = played(verifier, task, ["<finish></finish>"], style)
    text = ScriptedPolicy({}).tokenizer.decode(rollout.turns[0].prompt_ids)
    assert (
        "<buy>FOOD @@ PACKS</buy>  Buys packs" in text and task.statement in text and "after 8 turns" in text
    )
    goal = task.check.only(WorldCheck).goals[0]
    assert not any(path in text for path in goal) and rollout.verdict is not None
    assert rollout.verdict.outcome == "no answer" and rollout.stop_reason == "answered"


def test_a_play_does_to_its_world_what_the_judge_sees() -> None:
    """The tools of a play and those of the judge are one: they do the same at every call, the wrong ones too."""
    for number, name in enumerate(WORLDS):
        task, r = task_of(name, random.Random(number)), random.Random(number)
        box: Any = world_tools(name)(task, None)  # type: ignore[arg-type]
        world = WORLDS[name](task.check.only(WorldCheck).start)
        for call in [*random_calls(task, r), *known_calls(task, r), *random_calls(task, r)]:
            box.use(*call)
            list(replayed(world, [call]))
        assert box.state == world.state


@pytest.mark.parametrize("turns", [1, 4, 16])
def test_an_expert_solves_all_in_the_turns_that_there_are(turns: int, verifier: Any) -> None:
    for task in generate(len(WORLDS)):
        for seed in range(2):
            kind = find_environment(EnvironmentConfig(type="world", turns=turns))
            texts = list(bind(kind, "chat")(task).demonstrate(random.Random(seed)))  # type: ignore[attr-defined]
            most = max(text.count("</") for text in texts)
            assert turns == 1 or len(texts) <= turns
            if turns > 1 and most <= 8:
                rollout = played(verifier, task, texts, turns=turns)
                assert rollout.verdict is not None and rollout.verdict.passed, (task, texts)


def test_other_tasks_have_no_world(verifier: Any) -> None:
    with pytest.raises(UserError, match="has no world; play tasks of tool-worlds"):
        played(
            verifier,
            Task(
                statement="Add.",
                check=task_of("bank", random.Random(1)).check.model_copy(update={"world": "x"}),
            ),
            [],
        )


def test_baselines_and_demonstrations_of_the_command_line(tmp_path: Path) -> None:
    done = strop(
        "eval", "scripted:oracle", "scripted:random", "scripted:empty", "--tasks", "tool-worlds:60", "--environment",
        "world", "-n", "0", "-o", "out.json", f"run.dir={tmp_path}/run", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    models = json.loads((tmp_path / "out.json").read_text())["models"]
    rates = {name.partition(":")[2]: model["greedy"] for name, model in models.items()}
    assert rates["oracle"] == 1 and rates["random"] <= 0.05 and rates["empty"] == 0
    done = strop(
        "build",
        "demos",
        "tasks.source=tool-worlds:40",
        "tasks.environment=world",
        "-o",
        "demos.jsonl",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    demos = read_demos(tmp_path / "demos.jsonl")
    assert len(demos) >= 25 and f"{len(demos)} demonstrations of {len(demos)} tasks" in done.stdout
    done = strop(
        "play", "3", "--tasks", "tool-worlds:5", "-e", "world", "-m", "scripted:oracle", cwd=tmp_path
    )
    assert done.returncode == 0 and "passed" in done.stdout, done.stderr
    done = strop("eval", "scripted:random", "--tasks", "tool-worlds:4", f"run.dir={tmp_path}/other")
    assert done.returncode == 2 and "add --environment" in done.stderr
