"""`tool-worlds`: every kind is solved by the calls that it knows, and by nothing less; what is said does not count."""

import inspect
import json
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.environments.toolbox import Toolbox, tools_of
from strop.environments.world import world_tools
from strop.evaluation.baselines import known_calls, random_calls
from strop.tasks.comparison import WorldToolchain
from strop.tasks.prompts import render
from strop.tasks.sources import load_tasks
from strop.tasks.tool_worlds import WORLDS, generate, load, task_of
from strop.tasks.tool_worlds.world import World, read_calls, replayed, use, write_call
from strop_verify.core.checks import WorldCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

NAMES = sorted(WORLDS)
FREE = {"notes": {"history", "version"}, "truck": {"fuel"}}


def judged(task: Task, calls: Any) -> Verdict:
    answer = calls if isinstance(calls, str) else "\n".join(map(write_call, calls))
    return WorldToolchain().judge([(task, answer)])[0]


def begun(task: Task) -> World:
    check = task.check.only(WorldCheck)
    return WORLDS[check.world](check.start)


@pytest.mark.parametrize("name", NAMES)
def test_the_known_calls_solve_it_and_nothing_less_does(name: str) -> None:
    for number in range(5):
        task, r = task_of(name, random.Random(number)), random.Random(number)
        assert task.topic == name and 1 <= task.level <= 3
        acts = known_calls(task, r)
        assert 2 <= len(acts) <= 7
        for calls in (task.reference, acts):
            verdict = judged(task, calls)
            assert verdict.passed and verdict.fraction == 1, verdict
        assert judged(task, "").outcome is Outcome.NO_ANSWER
        nothing = judged(task, [("look", {})])
        assert nothing.fraction == 0 and nothing.detail.startswith("not as asked: /")
        # No part of the calls is enough, and more that changes something that was not asked is too much.
        assert not any(judged(task, acts[:n]).passed for n in range(1, len(acts)))
        solved, free = begun(task), FREE.get(name, set())
        list(replayed(solved, acts))
        for _ in range(12):
            more, world = [*acts, *random_calls(task, r)], begun(task)
            list(replayed(world, more))
            assert judged(task, more).passed == (_pruned(world.state, free) == _pruned(solved.state, free))


def _pruned(state: Any, free: set[str]) -> Any:
    """Without what no goal of the kind speaks of."""
    return (
        {key: _pruned(one, free) for key, one in state.items() if key not in free}
        if isinstance(state, dict)
        else state
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_refused_call_changes_nothing_and_no_call_breaks_a_tool(name: str) -> None:
    r, refused, made = random.Random(name), 0, 0
    for number in range(5):
        task = task_of(name, random.Random(number))
        world, acts = begun(task), known_calls(task, r)
        for _ in range(8):
            calls = [*random_calls(task, r), *acts]
            for call in r.sample(calls, len(calls)):
                before = json.dumps(world.state)
                try:
                    assert isinstance(use(world, call), str)
                    made += 1
                except ValueError as error:
                    assert json.dumps(world.state) == before and len(str(error)) < 900
                    refused += 1
    assert refused and made


@pytest.mark.parametrize("name", NAMES)
def test_an_expert_says_no_name_that_was_not_said(name: str) -> None:
    """What is asked, or a tool, has named it before: who sees what a policy sees could have made the calls."""
    tools = tools_of(world_tools(name))
    for number in range(4):
        task = task_of(name, random.Random(number))
        world, said = begun(task), task.statement + " ".join(str(tool.schema()) for tool in tools.values())
        for call in read_calls(task.reference):
            for value in call[1].values():
                if isinstance(value, str) and name != "contacts":
                    assert value in said, (call, said)
            said += use(world, call)


def test_there_are_twenty_kinds_whose_rules_differ() -> None:
    assert len(WORLDS) >= 20
    tools = {
        name: [tool for tool in tools_of(world_tools(name)) if tool not in ("look", "finish")]
        for name in NAMES
    }
    assert all(len(names) >= 2 for names in tools.values())
    bodies = Counter(inspect.getsource(getattr(WORLDS[name], tool)) for name in NAMES for tool in tools[name])
    assert max(bodies.values()) == 1 and len(bodies) >= 50
    assert all(tool.says.endswith(".") for name in NAMES for tool in tools_of(world_tools(name)).values())


def test_no_part_of_a_state_has_a_name_that_means_something_else() -> None:
    taken = {*dir(Toolbox), "task", "services", "finished", "state"}
    for name in NAMES:
        parts = {*begun(task_of(name, random.Random(1))).state}
        assert parts.isdisjoint(taken | {*dir(WORLDS[name])}), name


def test_the_source() -> None:
    few = load_tasks("tool-worlds:45@3")
    assert few == list(generate(45, seed=3)) == list(generate(60, seed=3))[:45]
    assert len({task.topic for task in few}) == len(WORLDS) and few != list(generate(45, seed=4))
    other = {task.id for task in generate(45, seed=4)}
    assert not other & {task.id for task in few}
    assert Task.model_validate_json(few[0].model_dump_json()) == few[0]
    assert len(list(load(""))) == 600
    sides = Counter(task.split for task in load("300"))
    assert 0.1 < sides["held-out"] / sides.total() < 0.3
    for bad in ("0", "x", "40@", "9999999"):
        with pytest.raises(UserError, match="tool-worlds"):
            list(load(bad))


def test_any_of_several_ways_is_right() -> None:
    found = [task for task in generate(200) if len(task.check.only(WorldCheck).goals) > 1]
    assert {task.topic for task in found} == {"claims", "cinema"}
    for task in found:
        goals = task.check.only(WorldCheck).goals
        assert judged(task, task.reference).passed
        only_last = task.model_copy(update={"check": task.check.model_copy(update={"goals": goals[1:]})})
        assert not judged(only_last, task.reference).passed


def test_what_is_shown_tells_no_goal() -> None:
    """No prompt style shows one of these: its environment says what is asked, and nothing of the check."""
    task = task_of("bank", random.Random(2))
    with pytest.raises(UserError, match="--environment world"):
        render(task, "chat")


@pytest.mark.parametrize(
    "answer",
    ["The goal is met.", "{}", '{"name": "pay"}', '{"name": 1, "arguments": {}}', "[" * 100_000, "9" * 5000,
     "\n".join(['{"name": "look", "arguments": {}}'] * 257)],
)  # fmt: skip
def test_what_are_no_calls_is_no_answer(answer: str) -> None:
    task = task_of("bank", random.Random(2))
    verdict = judged(task, f"{task.reference}\n{answer}" if len(answer) < 100 else answer)
    assert verdict.outcome is Outcome.NO_ANSWER and verdict.detail


@given(st.sampled_from(NAMES), st.data())
def test_hostile_calls_leave_the_judge_standing(name: str, data: st.DataObject) -> None:
    values = (
        st.none() | st.integers() | st.floats() | st.text(max_size=9) | st.lists(st.integers(), max_size=2)
    )
    task, tools = task_of(name, random.Random(0)), {*tools_of(world_tools(name))} - {"finish"}
    tool = data.draw(st.sampled_from(sorted(tools | {"finish", "draw", "__init__", "_of", "state", "free"})))
    names = ["self", *(inspect.signature(getattr(WORLDS[name], tool)).parameters if tool in tools else [])]
    arguments = data.draw(st.dictionaries(st.sampled_from(names), values, max_size=4))
    assert judged(task, [(tool, arguments)]).outcome is Outcome.FAILED


@pytest.mark.parametrize("word", ["one", "things", "self", "values", "state", "", "/", "*", "\udc80"])
def test_any_word_may_be_a_name(word: str) -> None:
    files = begun(task_of("files", random.Random(0)))
    if word:
        assert use(files, ("make", {"folder": word})) and word in files.folders
    calendar = begun(task_of("calendar", random.Random(0)))
    room = next(iter(calendar.rooms))
    assert use(calendar, ("book", {"title": word, "hour": 16, "room": room})) and word in calendar.meetings
    assert not judged(
        task_of("calendar", random.Random(0)), [("book", {"title": word, "hour": 16, "room": room})]
    ).passed


def test_a_world_that_there_is_not_is_our_fault() -> None:
    task = task_of("bank", random.Random(2))
    task = task.model_copy(update={"check": task.check.model_copy(update={"world": "moon"})})
    with pytest.raises(VerificationError, match="moon"):
        judged(task, task.reference)
