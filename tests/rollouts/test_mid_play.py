"""What breaks in the middle of a play costs that play at most, and is never taken for the model's failure."""

import contextlib
import os
import signal
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from tests.processes import family
from tests.rollouts.test_dispatcher import Counted, Slow, TryAgain, plays, script, task
from tests.rollouts.test_holding import Once

from strop.config.algorithms import PerTurnAdvantage
from strop.policies.scripted import ScriptedPolicy
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.groups import play_groups
from strop.training.batch import Advantages
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.play import Next, PlayLimits, Say, Verify
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion, Message, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier


def solves(prompt: Sequence[int], seed: int, index: int) -> str:
    return "def f(x):\n    return x\nSTOP"


@pytest.mark.jail
def test_a_verifier_whose_processes_are_killed_in_mid_play_costs_nothing() -> None:
    before, killed = {*family()}, 0

    class Kills(TryAgain):
        def result(self, effect: Any, result: Verdict) -> Next:
            nonlocal killed
            if self.task.id in ("t001", "t003"):  # its second answer is judged by new processes
                for pid in {*family()} - before:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed += 1
            return Say((Message(role="user", content=result.outcome.value),))

    with open_verifier(workers=1, limits=Limits(cpu_seconds=5, wall_seconds=30)) as verifier:
        dispatcher = Dispatcher(Counted(solves), verifier, Kills)
        found = plays(dispatcher, 6, 1)
    assert killed and {r.stop_reason for r in found} <= {"answered", "infra"}
    for rollout in found:
        assert rollout.verdict is not None
        assert rollout.verdict.passed or rollout.verdict.outcome is Outcome.ERROR
        assert rollout.turns[0].verdict is not None and rollout.turns[0].verdict.passed
    assert sum(rollout.verdict.passed for rollout in found if rollout.verdict) >= 4
    assert dispatcher.count.started == dispatcher.count.finished == 6


class Dies(ScriptedPolicy):
    """Its worker dies over the second turn of one play."""

    raises: Exception = StropError("the engine's worker is gone")

    def submit(self, request: Request) -> "Future[Completion]":
        if "t001" in self.tokenizer.decode(request.prompt) and "failed" in self.tokenizer.decode(
            request.prompt
        ):
            future: Future[Completion] = Future()
            future.set_exception(self.raises)
            return future
        return super().submit(request)


def test_an_engine_whose_worker_dies_ends_that_play_alone() -> None:
    found = plays(Dispatcher(Dies(script), Slow(), TryAgain), 3, 1)
    assert [r.stop_reason for r in found] == ["answered", "infra", "answered"]
    assert found[1].verdict is not None and found[1].verdict.outcome is Outcome.ERROR
    assert found[1].verdict.detail == "the play ended: infra (the engine's worker is gone)"
    Dies.raises = UserError("the key is not valid")
    try:
        with pytest.raises(UserError):
            plays(Dispatcher(Dies(script), Slow(), TryAgain), 3, 1)
    finally:
        Dies.raises = StropError("the engine's worker is gone")


class Now:
    """Judges at once."""

    def submit(self, task: Task, answer: str) -> "Future[Verdict]":
        future: Future[Verdict] = Future()
        future.set_result(Verdict(outcome=Outcome.FAILED))
        return future

    def close(self) -> None:
        pass


class Stateless(ScriptedPolicy):
    """Remembers no prompt."""

    def submit(self, request: Request) -> "Future[Completion]":
        self._asked.clear()
        return super().submit(request)


@pytest.mark.soak(30)
def test_one_hundred_thousand_queued_tasks_take_no_memory() -> None:
    dispatcher = Dispatcher(Stateless(script), Now(), Once, limits=PlayLimits(plays=64, grading=64))
    resident: list[int] = []
    played = dispatcher.play((task(n) for n in range(100_000)), 1, SamplingParams(), seed=1)
    for seen, _ in enumerate(played, start=1):
        if seen % 10_000 == 0:
            resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    assert len(resident) == 10 and resident[-1] - resident[0] < 8 << 20
    assert dispatcher.count.started == dispatcher.count.finished == 100_000


def test_what_was_judged_after_a_turn_is_written_with_it() -> None:
    (rollout,) = plays(Dispatcher(Counted(script), Slow(), TryAgain), 1, 1)
    first, second = rollout.turns
    assert first.verdict is not None and first.verdict.detail.startswith("seen ") and second.verdict is None
    assert first.answer.startswith("answer ") and first.reward is None and second.answer == ""
    assert isinstance(TryAgain(task(0)).step(first.completion).effects[0], Verify)  # type: ignore[union-attr]
    assert type(rollout).model_validate_json(rollout.model_dump_json()) == rollout


def test_turns_are_rewarded_by_their_own_verdicts_where_that_is_asked_for() -> None:
    class Better(Slow):
        """Passes every second answer."""

        def _judge(self, answer: str, wait: float) -> Verdict:
            return Verdict(outcome=Outcome.PASSED if self.asked > 6 else Outcome.FAILED)

    rubric = WeightedRubric.from_names([("passed", 1.0), ("answered", 0.5)])
    dispatcher = Dispatcher(Counted(script), Better(), TryAgain)
    tasks = [task(n) for n in range(3)]
    plain = play_groups(dispatcher, rubric, tasks, 2, SamplingParams(), seed=1, step=0)
    assert {turn.reward for g in plain for r in g.rollouts for turn in r.turns} == {None}
    again = Dispatcher(Counted(script), Better(), TryAgain)
    (group, *_) = play_groups(again, rubric, tasks, 2, SamplingParams(), seed=1, step=0, by_turn=True)
    for rollout in group.rollouts:
        assert [turn.reward for turn in rollout.turns] == [0.5, None] and rollout.reward == 1.5
        assert [score.name for score in rollout.turns[0].scores] == ["passed", "answered"]
    spread = [
        r.model_copy(update={"turns": [r.turns[0].model_copy(update={"reward": n / 2}), r.turns[1]]})
        for n, r in enumerate(group.rollouts)
    ]
    (found,) = Advantages(PerTurnAdvantage(discount=0.0)).of([group.model_copy(update={"rollouts": spread})])
    assert [[turn.advantage for turn in r.turns] for r in found.rollouts] == [[-0.25, 0.0], [0.25, 0.0]]
