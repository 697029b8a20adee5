"""A mistake in a user's own environment is one line: its name, task, method, and the line of its file."""

import re
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.rollouts.test_dispatcher import Counted, Slow, plays, script, task

import strop
import strop_verify.core.rollout
from strop.environments.registry import bind, find_environment
from strop.rollouts.dispatcher import MOST_ROUNDS, Dispatcher
from strop_verify.core.errors import UserError
from strop_verify.core.play import Call, Do, Done, Next, Opening, PlayLimits, Run, Say
from strop_verify.core.rollout import Completion, Message
from strop_verify.core.task import Task
from strop_verify.sandbox import Folder as JailedFolder
from strop_verify.sandbox import open_box
from strop_verify.sandbox.programs import Programs

USER = Message(role="user", content="again")
ENVIRONMENTS = """
import strop

class Base:
    def __init__(self, task, opening, read): self.task, self.opening, self.read = task, opening, read
    def begin(self): return self.opening
    def step(self, completion): return strop.Done(self.read(completion.text))

class RaisesStep(Base):
    def step(self, completion):
        return 1 / 0  # here

class RaisesBegin(Base):
    def begin(self):
        return self.missing  # here

class NoneStep(Base):
    def step(self, completion):  # here
        strop.Done("x")

class NoOpening(Base):
    def begin(self): return "text"  # here

class TextStep(Base):
    def step(self, completion): return "x"  # here

class SaysText(Base):
    def step(self, completion):
        return strop.Say("text")  # here

class SaysMessage(Base):
    def step(self, completion):
        return strop.Say(strop.Message(role="user", content="x"))  # here

class DoneNone(Base):
    def step(self, completion):
        return strop.Done(None)  # here

class DoneForReason(Base):
    def step(self, completion):
        return strop.Done("", "bored")  # here

class RunsText(Base):
    def step(self, completion):
        return strop.Do(strop.Run("ls -la"))  # here

class RunsForNoTime(Base):
    def step(self, completion):
        return strop.Do(strop.Run(("ls",), seconds=0))  # here

class DoesNothing(Base):
    def step(self, completion):
        return strop.Do(3)  # here

class OpensMessage(Base):
    def begin(self):
        return strop.Opening(messages=strop.Message(role="user", content="x"))  # here

class RaisesTool(Base):
    def step(self, completion): return strop.Do(strop.Call(self.tool))
    def tool(self):
        raise TimeoutError("my tool")  # here

class RaisesResult(Base):
    def step(self, completion): return strop.Do(strop.Call(len, "x"))
    def result(self, effect, result):
        return {}["x"]  # here

class Exits(Base):
    def step(self, completion):
        raise SystemExit(3)  # here

class NoFuture(Base):
    class Odd:
        def start(self, services): return 3
    def step(self, completion): return strop.Do(self.Odd())

class OneArgument(Base):
    def __init__(self, task): self.task = task  # here

class NoStep:
    def __init__(self, task, opening, read): self.opening = opening
    def begin(self): return self.opening

class Options(Base):
    def __init__(self, task, opening, read, *, tries: int = 2, name: str):
        super().__init__(task, opening, read)

number = 3
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(ENVIRONMENTS)
    return tmp_path / "own.py"


def play(environment: Any, **more: Any) -> str:
    """The one line that playing raises."""
    policy = strop.ScriptedPolicy(lambda prompt, seed, asked: "pass")
    tasks = strop.load_tasks("python-functions", limit=1)
    with pytest.raises(UserError) as caught:
        strop.play(policy, tasks, environment=environment, verifier=Slow(), **more)
    said = str(caught.value)
    assert "\n" not in said
    return said.replace(tasks[0].id, "TASK")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "RaisesStep",
            "environment RaisesStep, task TASK, step, turn 1: ZeroDivisionError: division by zero",
        ),
        ("RaisesBegin", "task TASK, begin: AttributeError: .*'missing'"),
        (
            "NoneStep",
            "task TASK, step, turn 1: it returned None, not strop.Say, strop.Do or strop.Done; .*return",
        ),
        ("NoOpening", "task TASK, begin, turn 0: it returned 'text', not strop.Opening"),
        ("TextStep", "it returned 'x', not strop.Say"),
        ("SaysText", "TypeError: Say takes a tuple of messages, such as .*, not 'text'"),
        ("SaysMessage", "TypeError: Say takes a tuple of messages, such as .*, not Message"),
        ("DoneNone", "TypeError: Done takes the answer as text, such as .*, not None"),
        ("DoneForReason", "ValueError: Done has no reason 'bored'; there are answered, no call, "),
        ("RunsText", "TypeError: Run takes a program and its arguments, such as .*, not 'ls -la'"),
        ("RunsForNoTime", "ValueError: Run needs time and memory, not seconds=0"),
        ("DoesNothing", "TypeError: Do takes effects, such as .*, not .3,."),
        ("OpensMessage", "TypeError: Opening takes a tuple of messages"),
        ("RaisesTool", "task TASK, effect Call, turn 1: TimeoutError: my tool"),
        ("RaisesResult", "task TASK, result, turn 1: KeyError: 'x'"),
        ("Exits", "task TASK, step, turn 1: SystemExit: 3"),
        ("OneArgument", "environment OneArgument must take .task, opening, read.: too many positional"),
    ],
)
def test_each_mistake_is_one_line(own: Path, name: str, said: str) -> None:
    found = play(f"{own}:{name}")
    assert re.search(said, found), found
    block = ENVIRONMENTS[: ENVIRONMENTS.index("# here", ENVIRONMENTS.index(f"class {name}("))]
    assert found.endswith(f"(own.py:{block.count(chr(10)) + 1})"), found


def test_what_cannot_be_made_is_said_before_anything_is_played(own: Path) -> None:
    assert "environment NoStep has no step (own.py:" in play(f"{own}:NoStep")
    assert "NoFuture" in (found := play(f"{own}:NoFuture")) and "not a Future" in found
    assert play(f"{own}:Nothing").startswith(f"tasks.environment: '{own}' has no 'Nothing'; it has Base, ")
    assert "there is no file 'gone.py'; paths start at the current directory" in play("gone.py:X")
    assert "did you mean 'single-turn'" in play("single-turns")
    assert "3 is not an environment" in play(f"{own}:number")
    assert "3 is not an environment; give a name, a class" in play(3)
    (own.parent / "broken.py").write_text("import strop\nclass X\n")
    assert (
        "does not load: SyntaxError" in (found := play(f"{own.parent}/broken.py:X"))
        and "(broken.py:2)" in found
    )


def options(own: Path, **given: Any) -> str:
    recipe = strop.recipe({"tasks": {"environment": {"type": f"{own}:Options", **given}}})
    try:
        find_environment(recipe.task_set.environment)
    except UserError as error:
        return str(error)
    return ""


def test_options_are_typed_by_their_annotations(own: Path) -> None:
    assert options(own, name="x", tries=3) == ""
    assert options(own, name="x", tries="many") == (
        "tasks.environment.tries: Input should be a valid integer, unable to parse string as an integer, got 'many'"
    )
    assert (
        options(own, name="x", trys=1)
        == "tasks.environment.trys: unknown option of Options; did you mean tries?"
    )
    assert options(own).startswith("tasks.environment.name: Field required")
    own.write_text(own.read_text().replace("name: str", "name: 'Elsewhere'"))
    assert options(own, name="x") == (
        "tasks.environment: the annotations of Options cannot be read: name 'Elsewhere' is not defined"
    )


class Forever:
    """Never done."""

    after: Next = Say((USER,))

    def __init__(self, task: Task) -> None:
        self.task = task

    def begin(self) -> Opening:
        return Opening(messages=(USER,))

    def step(self, completion: Completion) -> Next:
        return self.after

    def result(self, effect: Any, result: Any) -> Next:
        return self.after


def test_an_endless_environment_ends_at_its_limits() -> None:
    (rollout,) = plays(Dispatcher(Counted(script), Slow(), Forever), 1, 1)
    assert (len(rollout.turns), rollout.stop_reason) == (10, "max turns")
    dispatcher = Dispatcher(Counted(script), Slow(), Forever, limits=PlayLimits(turns=3))
    assert [len(r.turns) for r in plays(dispatcher, 2, 2)] == [3] * 4

    class Calls(Forever):
        after = Do(Call(len, "x"))

    (rollout,) = plays(Dispatcher(Counted(script), Slow(), Calls), 1, 1)
    assert rollout.stop_reason == "max turns" and len(rollout.turns[0].events) == MOST_ROUNDS

    class Small(Counted):
        context = 60

    policy = Small(script)
    (rollout,) = plays(Dispatcher(policy, Slow(), Forever, limits=PlayLimits(turns=99)), 1, 1, max_tokens=8)
    assert rollout.stop_reason == "context" and 1 < len(rollout.turns) < 10
    assert all(len(request.prompt) + request.params.max_tokens <= 60 for request in policy.requests)


def test_set_up_and_close_may_come_alone() -> None:
    seen: list[str] = []

    class OnlySetup(Forever):
        after = Done("x")

        def setup(self) -> None:
            seen.append("setup")

    class OnlyClose(Forever):
        after = Done("x")

        def close(self) -> None:
            seen.append("close")

    for kind in (OnlySetup, OnlyClose):
        plays(Dispatcher(Counted(script), Slow(), kind), 1, 1)
    assert seen == ["setup", "close"]


@pytest.mark.parametrize("how", ["step", "begin", "call"])
def test_a_slow_tool_holds_no_other_play_up(how: str) -> None:
    """The plays of other tasks end while one environment sleeps, whichever of its methods does so."""

    class Sleeps(Forever):
        def sleep(self, where: str) -> None:
            if self.task.id == "t000" and where == how:
                time.sleep(2)

        def begin(self) -> Opening:
            self.sleep("begin")
            return super().begin()

        def step(self, completion: Completion) -> Next:
            self.sleep("step")
            return Do(Call(self.sleep, "call"))

        def result(self, effect: Any, result: Any) -> Next:
            return Done("x")

    dispatcher = Dispatcher(Counted(script), Slow(), Sleeps, order="as-ready", limits=PlayLimits(grading=1))
    began, ends = time.monotonic(), {}
    for rollout in dispatcher.play(
        [task(n) for n in range(4)], 1, strop_verify.core.rollout.SamplingParams(), seed=1
    ):
        ends[rollout.task_id] = time.monotonic() - began
    assert ends.pop("t000") > 1.9 and max(ends.values()) < 1.0


def test_effects_side_by_side_are_recorded_with_their_turn() -> None:
    class Four(Forever):
        def step(self, completion: Completion) -> Next:
            return Do(*(Call(time.sleep, 0.3) for _ in range(3)), Call("é".__add__, "x" * 5000))

        def result(self, effect: Any, result: Any) -> Next:
            assert len(effect) == len(result) == 4 and result[:3] == (None,) * 3
            return Done(result[3][:3])

    began = time.monotonic()
    (rollout,) = plays(Dispatcher(Counted(script), Slow(), Four, order="as-ready"), 1, 1)
    assert time.monotonic() - began < 0.8 and rollout.answer == "éxx"
    *slept, added = rollout.turns[0].events
    assert [(e.name, e.asked, e.result, e.bytes) for e in slept] == [("Call", "sleep(0.3)", "None", 4)] * 3
    assert all(0.29 < e.seconds < 0.8 for e in slept) and added.seconds < 0.2
    assert len(added.result) == 4000 and added.bytes == 5002
    assert type(rollout).model_validate_json(rollout.model_dump_json()) == rollout


@pytest.mark.jail
def test_a_folder_lasts_as_long_as_its_play() -> None:
    class Folder(Forever):
        def setup(self, services: strop.Services) -> None:
            self.folder = services.folder
            self.folder.put(
                {"run.sh": f"#!/bin/sh\necho {self.task.id} >> log; cat log"}, executable=["run.sh"]
            )
            self.turn = 0

        def step(self, completion: Completion) -> Next:
            self.turn += 1
            if self.turn == 3:
                return Do(Call(lambda: (self.folder.read("log").decode(), sorted(self.folder.files()))))
            return Do(Run(("./run.sh",), lasting=True))

        def result(self, effect: Any, result: Any) -> Next:
            return Done(repr(result)) if self.turn == 3 else Say((USER,))

    found = plays(Dispatcher(Counted(script), Slow(), Folder), 2, 2)
    for rollout in found:
        assert rollout.answer == repr((f"{rollout.task_id}\n" * 2, ["log", "run.sh"]))
        assert [turn.events[0].result for turn in rollout.turns[:2]] == [
            f"status 0\n{rollout.task_id}\n" * 1,
            f"status 0\n{rollout.task_id}\n{rollout.task_id}\n",
        ]


@pytest.mark.jail
def test_plays_with_folders_are_no_more_than_the_machine_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("strop_verify.sandbox.programs", "strop.rollouts.dispatcher"):
        monkeypatch.setattr(f"{module}.MOST_FOLDERS", 3)
    monkeypatch.setattr("strop_verify.sandbox.programs.CLOSING_SECONDS", 2.0)

    class Holds(Forever):
        after = Done("x")

        def setup(self, services: strop.Services) -> None:
            services.folder.put({"x": ""})

    for limits in (PlayLimits(plays=1, setups=1), PlayLimits(setups=1)):
        assert len(plays(Dispatcher(Counted(script), Slow(), Holds, limits=limits), 12, 1)) == 12
    with closing(Programs(open_box, JailedFolder)) as programs:
        held = [programs.folder() for _ in range(3)]
        with pytest.raises(UserError, match="more than 3 plays hold a folder; lower play"):
            programs.folder()
        held.pop().close()
        programs.folder()


@pytest.mark.unit
def test_a_task_that_the_style_cannot_show_is_refused_where_its_prompt_is_looked_at() -> None:
    nameless = Task.model_validate({
        "statement": "Sort.", "check": {"kind": "pytest", "tests": ["t.py::t"], "files": {"t.py": "def t(): pass"}},
    })  # fmt: skip

    class Own:
        def __init__(self, task: Task, opening: Opening, read: Any) -> None:
            self.opening, self.read = opening, read

        def begin(self) -> Opening:
            return Opening(messages=(USER,))

        def step(self, completion: Completion) -> Done:
            return Done(self.read(completion.text))

    own: Any = bind(find_environment(Own), "continue")(nameless)
    assert own.begin().messages == (USER,) and own.read("```py\nx = 1\n```") == "x = 1"
    for look in (
        lambda: own.opening.text,
        lambda: bind(find_environment("single-turn"), "continue")(nameless),
    ):
        with pytest.raises(UserError, match="no signature to continue"):
            look()
