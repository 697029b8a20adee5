"""Environments that hold something, programs as effects, and what becomes of plays without an answer."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ClassVar

import pytest
from tests.processes import family
from tests.rollouts.test_dispatcher import Counted, Slow, TryAgain, plays, script, task
from tests.waiting import wait_until

from strop.rollouts.admission import Order
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.groups import MOST_FAULTS, MixedStream, TaskShare, scored
from strop.rollouts.step_metrics import step_metrics
from strop.training.batch import sample_of
from strop.training.loop import ErrorRate
from strop_verify.core.errors import TooManyErrors
from strop_verify.core.play import STOPS, Do, Done, Next, Opening, PlayLimits, Ran, Run, Say
from strop_verify.core.rollout import Completion, Group, Message, Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.verifier import error_verdict


class Once:
    """One turn."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def begin(self) -> Opening:
        return Opening(messages=(Message(role="user", content=f"Solve {self.task.id}."),), stop=("STOP",))

    def step(self, completion: Completion) -> Next:
        return Done(completion.text)

    def result(self, effect: Any, result: Any) -> Next:
        raise NotImplementedError


class Log:
    """What environments did, and how many held something at the same time."""

    def __init__(self) -> None:
        self.lock, self.open, self.most, self.opened, self.closed = threading.Lock(), 0, 0, 0, 0

    def kind(self, setup: Callable[[str], None], close: Callable[[str], None] = lambda _: None) -> type[Once]:
        log = self

        class Held(Once):
            def setup(self) -> None:
                with log.lock:
                    log.open, log.opened = log.open + 1, log.opened + 1
                    log.most = max(log.most, log.open)
                setup(self.task.id)

            def close(self) -> None:
                with log.lock:
                    log.open, log.closed = log.open - 1, log.closed + 1
                close(self.task.id)

        return Held


def nothing(_: str) -> None:
    """A set-up that takes no time."""


@pytest.mark.parametrize("order", ["deterministic", "as-ready"])
def test_every_environment_is_set_up_before_its_play_and_closed_once(order: Order) -> None:
    log = Log()
    limits = PlayLimits(plays=3, setups=2, grading=4)
    kind = log.kind(lambda name: time.sleep(0.002 * (int(name[1:]) % 3)))
    dispatcher = Dispatcher(Counted(script), Slow(), kind, limits=limits, order=order)
    assert {r.stop_reason for r in plays(dispatcher, 20)} == {"answered"}
    assert (log.opened, log.closed, log.open) == (40, 40, 0)
    assert log.most <= 3 + 2 + 3  # those that close no longer take a place


def test_a_set_up_that_fails_or_hangs_ends_its_play_by_our_fault_and_is_closed() -> None:
    log, gate = Log(), threading.Event()

    def setup(name: str) -> None:
        if name == "t000":
            raise FileNotFoundError("no repository")
        if name == "t001":
            gate.wait(60)

    dispatcher = Dispatcher(Counted(script), Slow(), log.kind(setup), limits=PlayLimits(setup=0.5, close=0.2))
    found = plays(dispatcher, 3, 1)
    assert [r.stop_reason for r in found] == ["infra", "infra", "answered"]
    details = [r.verdict.detail for r in found[:2] if r.verdict]
    assert "the set-up failed: FileNotFoundError: no repository" in details[0]
    assert "no set-up in 0.5 s" in details[1]
    assert log.open == 1  # the one that hangs is closed when it comes back
    gate.set()
    wait_until(lambda: log.open == 0)


def test_an_environment_that_does_not_close_holds_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    log, gate = Log(), threading.Event()
    kind = log.kind(nothing, lambda name: gate.wait(60) if name == "t000" else 1 // 0)
    dispatcher = Dispatcher(Counted(script), Slow(), kind, limits=PlayLimits(close=0.3))
    assert len(plays(dispatcher, 2, 1)) == 2
    gate.set()
    assert "it took more than 0.3 s" in caplog.text and "ZeroDivisionError" in caplog.text


def test_all_are_closed_when_the_caller_stops() -> None:
    log = Log()
    limits = PlayLimits(plays=4, setups=3, grading=4)
    dispatcher = Dispatcher(Counted(script), Slow((0.05,), 2), log.kind(nothing), limits=limits)
    rollouts = dispatcher.play([task(n) for n in range(30)], 1, SamplingParams(), seed=1)
    next(rollouts)
    rollouts.close()
    assert log.opened == log.closed and log.opened < 30
    count = dispatcher.count
    assert count.started == count.finished + count.cancelled


@pytest.mark.parametrize("order", ["deterministic", "as-ready"])
def test_a_tool_that_never_answers_ends_its_own_play(order: Order) -> None:
    class Silent(Slow):
        def submit(self, task: Task, answer: str) -> "Future[Verdict]":
            return Future() if task.id == "t001" else super().submit(task, answer)

    dispatcher = Dispatcher(Counted(script), Silent(), TryAgain, limits=PlayLimits(seconds=2), order=order)
    assert [r.stop_reason for r in plays(dispatcher, 3, 1)] == ["answered", "deadline", "answered"]


class Shell(Once):
    """The first turn's text is a shell script; the second turn sees what it printed."""

    command = "echo $0 in $(ls)"

    def step(self, completion: Completion) -> Next:
        if hasattr(self, "ran"):
            return Done(f"{self.ran.output}{self.ran.status}{self.ran.expired}")
        return Do(Run(("/bin/sh", "-c", self.command), {"note.txt": "x"}, seconds=2.0))

    def result(self, effect: Any, result: Ran) -> Next:
        self.ran = result
        return Say((Message(role="user", content=result.output),))


@pytest.mark.jail
def test_a_program_runs_in_the_jail_with_its_files() -> None:
    found = plays(Dispatcher(Counted(script), Slow(), Shell), 3, 2)
    assert {r.answer for r in found} == {"/bin/sh in note.txt\n0"}
    assert all(len(r.turns) == 2 and r.stop_reason == "answered" for r in found)


@pytest.mark.jail
@pytest.mark.parametrize(
    ("run", "cause"),
    [
        (Run(("no-such-program", "x")), "No such file"),
        (Run(("./note.txt",), {"note.txt": "x"}), "Permission denied"),
        (Run(("echo", "a\0b")), "null"),
        (Run(("echo", "\ud800")), "surrogates"),
        (Run(("cat",), stdin="\ud800"), "surrogates"),
        (Run(("cat",), {"../x": ""}), "leaves the work directory"),
        (Run(("cat",), {"x\0": ""}), "leaves the work directory"),
        (Run(("cat",), {"x": "\ud800"}), "surrogates"),
        (Run(("cat",), {"n" * 300: ""}), "name too long"),
        (Run(("echo", "x" * (1 << 20))), "Argument list too long"),
        (Run(()), "argv is empty"),
    ],
)
def test_what_a_policy_asks_for_in_vain_is_told_to_it(run: Run, cause: str) -> None:
    """A play that ended as *infra* would be left out, so a policy could drop its own failure."""

    class Asks(Shell):
        def step(self, completion: Completion) -> Next:
            return Done("told") if hasattr(self, "ran") else Do(run)

        def result(self, effect: Any, result: Ran) -> Next:
            assert result.status == 127 and cause in result.errors and not result.output, result
            return super().result(effect, result)

    found = plays(Dispatcher(Counted(script), Slow(), Asks), 2, 1)
    assert [(r.stop_reason, r.answer) for r in found] == [("answered", "told")] * 2


def test_an_engine_that_breaks_leaves_nothing_open() -> None:
    log = Log()

    class Breaks(Counted):
        def work(self, seconds: float) -> None:
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        plays(Dispatcher(Breaks(script), Slow(), log.kind(nothing)), 3, 1)
    assert log.opened == log.closed >= 1


@pytest.mark.jail
def test_a_program_that_is_killed_costs_its_turn_and_a_jail_that_is_killed_ends_the_play() -> None:
    class Killed(Shell):
        command = "kill -9 $$"

    assert {r.answer for r in plays(Dispatcher(Counted(script), Slow(), Killed), 2, 1)} == {"-9"}

    class Sleeps(Shell):
        command = "sleep 5; echo slept"

        def __init__(self, task: Task) -> None:
            super().__init__(task)
            self.command = "sleep 60" if task.id == "t000" else "echo quick"

    before = {*family("")}
    done = threading.Event()

    def kill() -> None:
        def sleeper() -> list[int]:
            return [pid for pid in family("") if pid not in before and _is_sleep(pid)]

        wait_until(lambda: bool(sleeper()))
        for pid in {*family("")} - before:  # the jail, its supervisor and the program
            if not _is_sleep(pid):
                _kill(pid)
        done.set()

    killer = threading.Thread(target=kill)
    killer.start()
    found = plays(Dispatcher(Counted(script), Slow(), Sleeps), 1, 1)
    killer.join()
    assert done.is_set() and [r.stop_reason for r in found] == ["infra"]
    assert found[0].verdict is not None and found[0].verdict.outcome is Outcome.ERROR
    wait_until(lambda: {*family("")} <= before)
    assert plays(Dispatcher(Counted(script), Slow(), Shell), 1, 1)[0].stop_reason == "answered"


def _is_sleep(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().startswith(b"sleep")
    except OSError:
        return False


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Chatty(Once):
    """Its first two turns call no tool, and say so; then it runs out of turns."""

    turns = 0

    def step(self, completion: Completion) -> Next:
        self.turns += 1
        if self.turns <= 2:
            return Done("call a tool", "no call")
        return Done("", "max turns")


@pytest.mark.parametrize(
    ("no_call", "turns", "reason", "left_out"),
    [
        ("end", 1, "no call", ""),
        ("mask", 1, "no call", "loss"),
        ("drop", 1, "no call", "scores"),
        ("feedback", 3, "max turns", ""),
    ],
)
def test_the_recipe_decides_what_becomes_of_a_play_without_an_answer(
    no_call: Any, turns: int, reason: str, left_out: str
) -> None:
    limits = PlayLimits(stops={**STOPS, "no call": no_call})
    found = plays(Dispatcher(Counted(script), Slow(), Chatty, limits=limits), 2, 2)
    for rollout in found:
        assert (len(rollout.turns), rollout.stop_reason, rollout.left_out) == (turns, reason, left_out)
        assert rollout.verdict is not None and rollout.verdict.outcome is Outcome.NO_ANSWER
        rewarded = rewards_of(rollout)
        assert (rewarded.reward is None) is (left_out == "scores")
        sample = sample_of(rewarded.model_copy(update={"advantage": 1.0}), mask_truncated=False)
        assert any(sample.mask) is (left_out == "")
    metrics = step_metrics([Group(task_id="t000", step=0, rollouts=found)], [])
    assert metrics["stops"] == {reason: 1.0}
    assert Rollout.model_validate_json(found[0].model_dump_json()) == found[0]


def test_feedback_has_an_end() -> None:
    limits = PlayLimits(stops={**STOPS, "no call": "feedback"}, feedback=1)
    (found,) = plays(Dispatcher(Counted(script), Slow(), Chatty, limits=limits), 1, 1)
    assert (len(found.turns), found.stop_reason, found.left_out) == (2, "no call", "")


def rewards_of(rollout: Rollout) -> Rollout:
    from strop.rewards.rubric import WeightedRubric

    (found,) = scored(WeightedRubric.from_names([("passed", 1.0)]), [(task(0), rollout)])
    return found


def group(task_id: str, verdict: Verdict) -> Group:
    played = [Rollout(task_id=task_id, index=n, seed=n, prompt="", turns=[], verdict=verdict) for n in (0, 1)]
    return Group(task_id=task_id, step=0, rollouts=played)


def test_a_task_that_fails_by_our_fault_is_set_aside() -> None:
    share = TaskShare([task(n) for n in range(3)], lambda step: 1.0)
    stream, again = MixedStream({"": share}, 1), MixedStream({"": share}, 1)
    broken, fine = error_verdict("the grader broke"), Verdict(outcome=Outcome.FAILED)
    for verdict in (broken, broken, fine, broken, broken):
        stream.played(group("t001", verdict))
    assert stream.set_aside == {} and MOST_FAULTS == 3
    late = group("t000", broken)
    late = late.model_copy(
        update={"rollouts": [r.model_copy(update={"stop_reason": "deadline"}) for r in late.rollouts]}
    )
    for _ in range(3):
        stream.played(late, compares=False)
    assert ErrorRate(0.0).count([late]) == 0.0
    with pytest.raises(TooManyErrors, match="the grader broke"):
        ErrorRate(0.5).count([group("t000", broken)])
    stream.played(group("t001", broken))
    assert [*stream.set_aside] == ["t001"]
    again.load(stream.state())
    for one in (stream, again):
        assert [sorted(t.id for t in one.draw(3, 1)) for _ in range(4)] == [["t000", "t002"]] * 4
    for other in ("t000", "t002"):
        for _ in range(3):
            stream.played(group(other, broken), compares=False)
    assert stream.draw(3, 1) == []


def test_a_step_without_a_task_is_said() -> None:
    from strop.config.load import load_recipe
    from strop.rollouts.groups import fill_step

    class Empty:
        set_aside: ClassVar = {"t001": "its reference fails"}

        def draw(self, count: int, step: int) -> list[Task]:
            return []

        def played(self, group: Group, *, compares: bool) -> None:
            raise AssertionError

    recipe = load_recipe([], [])
    with pytest.raises(TooManyErrors, match=r"no task is left to train on: .* t001: its reference fails"):
        fill_step(lambda tasks, params, round: [], Empty(), recipe, 1)
